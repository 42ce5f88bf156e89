import { useNavigate, useSearchParams } from '@solidjs/router';
import { createSignal, type JSX, Match, onCleanup, Show, Switch } from 'solid-js';
import { at } from '../base';
import { t } from '../language';
import { boot, hasSessionAgain, isSignedIn, issuerPath, passwordRule, relogin, safeNext, setRelogin, setUp, signIn } from '../session';
import { Action, Dialog, Failure, Field } from '../ui/parts';
import { Language } from './UserMenu';

const isAtIssuer = () => boot()?.signIn === 'REDIRECT';
const takesTokens = () => boot()?.authentication === 'oidc';

/** A form that begins a session by what is typed; what was typed stays if it is refused. */
function SessionForm(props: { begin: (text: (name: string) => string) => Promise<void>; done: () => void; button: string; children: JSX.Element }): JSX.Element {
  const [failure, setFailure] = createSignal<unknown>();
  const [busy, setBusy] = createSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy()) return;
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setFailure(undefined);
    try {
      await props.begin((name) => String(form.get(name) ?? ''));
      if (!isSignedIn()) throw new Error(t(location.protocol === 'http:' ? 'login.plainHttp' : 'login.noCookies'));
      props.done();
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="stack" method="post" action={at('/login')} onSubmit={submit}>
      {props.children}
      <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
      <button class="primary" type="submit" disabled={busy()} aria-busy={busy()}>
        {props.button}
      </button>
    </form>
  );
}

/** `isNew`: the password is one from now on, by its rule. */
function Passwords(props: { isNew?: boolean }): JSX.Element {
  return (
    <>
      <Field label={t('login.userName')}>
        <input name="username" autocomplete="username" required autofocus maxLength={256} />
      </Field>
      <Field label={t('login.password')} hint={props.isNew ? passwordRule() : ''}>
        <input name="password" type="password" autocomplete={props.isNew ? 'new-password' : 'current-password'} minLength={props.isNew ? boot()?.passwordLengthMin : undefined} required />
      </Field>
    </>
  );
}

/** Name and password, or a token where an issuer makes them. */
function LoginForm(props: { done: () => void }): JSX.Element {
  return (
    <SessionForm
      begin={(text) => signIn({ username: text('username'), password: text('password'), token: text('token').trim() })}
      done={props.done}
      button={t('login.signIn')}
    >
      <Show when={takesTokens()} fallback={<Passwords />}>
        <Field label={t('login.token')} hint={t('login.tokenHint')}>
          <textarea name="token" rows={4} required autofocus={!isAtIssuer()} spellcheck={false} />
        </Field>
      </Show>
    </SessionForm>
  );
}

/** The first administrator of a server that has none yet. */
function SetUpForm(props: { done: () => void }): JSX.Element {
  return (
    <>
      <h2>{t('login.first')}</h2>
      <SessionForm
        begin={(text) => setUp({ username: text('username').trim(), password: text('password'), name: text('username').trim(), email: '' })}
        done={props.done}
        button={t('login.first.button')}
      >
        <Passwords isNew />
      </SessionForm>
    </>
  );
}

const REASONS = ['denied', 'expired', 'refused', 'unavailable'] as const;

export function LoginPage(): JSX.Element {
  const [query] = useSearchParams<{ next?: string; error?: string }>();
  const navigate = useNavigate();
  const next = () => safeNext(query.next);
  const leave = () => navigate(next(), { replace: true });
  const reason = () => (query.error ? (REASONS.find((one) => one === query.error) ?? 'refused') : undefined);
  return (
    <main class="login stack">
      <div class="row">
        <h1>{boot()?.title}</h1>
        <span class="spacer" />
        <Language label={t('frame.language')} />
      </div>
      <Show when={reason()}>{(why) => <Failure of={new Error(t(`login.error.${why()}`))} />}</Show>
      <Switch fallback={<LoginForm done={leave} />}>
        <Match when={boot()?.authentication === 'none'}>
          <p>{t('login.nobody')}</p>
          <button class="primary" onClick={leave}>
            {t('login.continue')}
          </button>
        </Match>
        <Match when={isAtIssuer()}>
          <a class="button primary" href={issuerPath(next())} rel="external">
            {t('login.atIssuer')}
          </a>
          <details>
            <summary>{t('login.orToken')}</summary>
            <LoginForm done={leave} />
          </details>
        </Match>
        <Match when={boot()?.setUp}>
          <SetUpForm done={leave} />
        </Match>
      </Switch>
    </main>
  );
}

/** The issuer asks in a tab of its own, so that this page stays as it is. */
function IssuerInTab(props: { done: () => void }): JSX.Element {
  const goOn = async () => {
    if (!(await hasSessionAgain())) throw new Error(t('login.notYet'));
    props.done();
  };
  const onFocus = () => void goOn().catch(() => undefined);
  addEventListener('focus', onFocus);
  onCleanup(() => removeEventListener('focus', onFocus));
  return (
    <>
      <p>{t('login.otherTab')}</p>
      <div class="actions">
        <a class="button" href={issuerPath('/')} target="_blank" rel="external noopener">
          {t('login.atIssuer')}
        </a>
        <Action class="primary" do={goOn}>
          {t('login.goOnHere')}
        </Action>
      </div>
    </>
  );
}

/** The login over a page whose session has ended: nothing on the page is lost. */
export function LoginOverPage(): JSX.Element {
  return (
    <Show when={relogin()}>
      {(waiting) => {
        const goOn = () => {
          const { done } = waiting();
          setRelogin(undefined);
          done();
        };
        return (
          <Dialog title={t('login.ended')} onClose={() => location.assign(at('/login'))}>
            <Show
              when={isAtIssuer()}
              fallback={
                <>
                  <p>{t('login.goOn')}</p>
                  <LoginForm done={goOn} />
                </>
              }
            >
              <IssuerInTab done={goOn} />
            </Show>
          </Dialog>
        );
      }}
    </Show>
  );
}
