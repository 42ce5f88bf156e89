import { useNavigate, useSearchParams } from '@solidjs/router';
import { createSignal, type JSX, Match, onCleanup, Show, Switch } from 'solid-js';
import { boot, isSignedIn, relogin, safeNext, setRelogin, setUp, signIn, signInPath, whoAmI } from '../session';
import { Dialog, Failure, Field } from '../ui/parts';

/** Name and password, or a token where an issuer makes them. */
function LoginForm(props: { done: () => void }): JSX.Element {
  const [failure, setFailure] = createSignal<unknown>();
  const [busy, setBusy] = createSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? '');
    setBusy(true);
    setFailure(undefined);
    try {
      await signIn({ username: text('username'), password: text('password'), token: text('token').trim() });
      if (!isSignedIn()) throw new Error('The browser keeps no cookies of this site.');
      props.done();
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="stack" method="post" action="/login" onSubmit={submit}>
      <Show
        when={boot()?.signIn === 'TOKEN'}
        fallback={
          <>
            <Field label="User name">
              <input name="username" autocomplete="username" required autofocus maxLength={256} />
            </Field>
            <Field label="Password">
              <input name="password" type="password" autocomplete="current-password" required />
            </Field>
          </>
        }
      >
        <Field label="Access token" hint="This server takes tokens of an issuer (OpenID Connect).">
          <textarea name="token" rows={4} required autofocus spellcheck={false} />
        </Field>
      </Show>
      <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
      <button class="primary" type="submit" disabled={busy()}>
        Sign in
      </button>
    </form>
  );
}

/** The first administrator, while there is none. */
function SetUpForm(props: { done: () => void }): JSX.Element {
  const [failure, setFailure] = createSignal<unknown>();
  const [busy, setBusy] = createSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? '');
    setBusy(true);
    setFailure(undefined);
    try {
      if (text('password') !== text('again')) throw new Error('The passwords differ.');
      await setUp(text('name'), text('username'), text('password'));
      props.done();
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="stack" onSubmit={submit}>
      <p>Nobody administers this server yet. Whoever is created here may do everything.</p>
      <Field label="User name">
        <input name="username" autocomplete="username" required autofocus maxLength={256} />
      </Field>
      <Field label="Name">
        <input name="name" autocomplete="name" required maxLength={256} />
      </Field>
      <Field label="Password">
        <input name="password" type="password" autocomplete="new-password" required />
      </Field>
      <Field label="Password again">
        <input name="again" type="password" autocomplete="new-password" required />
      </Field>
      <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
      <button class="primary" type="submit" disabled={busy()}>
        Create the first administrator
      </button>
    </form>
  );
}

/** Why nobody was signed in at the issuer, by the names that the server gives. */
const REASONS: Record<string, string> = {
  denied: 'The issuer did not sign you in.',
  expired: 'The login took too long, or began in another window. Try again.',
  refused: 'The issuer’s answer is not accepted here. An operator finds the reason in the log of the server.',
  unavailable: 'The issuer cannot be reached at the moment. Try again later.',
};

export function LoginPage(): JSX.Element {
  const [query] = useSearchParams<{ next?: string; error?: string }>();
  const navigate = useNavigate();
  const leave = () => navigate(safeNext(query.next), { replace: true });
  return (
    <main class="login stack">
      <h1>{boot()?.title}</h1>
      <Switch fallback={<LoginForm done={leave} />}>
        <Match when={boot()?.signIn === 'NONE'}>
          <p>This server asks nobody for a login.</p>
          <button class="primary" onClick={leave}>
            Continue
          </button>
        </Match>
        <Match when={boot()?.signIn === 'REDIRECT' && isSignedIn()}>
          <p>You are signed in. If you came from another window, close this one.</p>
          <button class="primary" onClick={leave}>
            Continue
          </button>
        </Match>
        <Match when={boot()?.signIn === 'REDIRECT'}>
          <Show when={query.error && (REASONS[query.error] ?? REASONS.refused)}>
            {(reason) => (
              <p role="alert" class="failure">
                {reason()}
              </p>
            )}
          </Show>
          <button class="primary" onClick={() => location.assign(signInPath(safeNext(query.next)))}>
            Sign in
          </button>
        </Match>
        <Match when={boot()?.setUp}>
          <SetUpForm done={leave} />
        </Match>
      </Switch>
    </main>
  );
}

/** The login at the issuer in a window of its own; back here, it is looked whether it went well. */
function LoginElsewhere(props: { done: () => void }): JSX.Element {
  const look = async () => {
    await whoAmI();
    if (isSignedIn()) props.done();
  };
  const onFocus = () => void look();
  window.addEventListener('focus', onFocus);
  onCleanup(() => window.removeEventListener('focus', onFocus));
  return (
    <button class="primary" onClick={() => window.open(signInPath('/login'), '_blank')}>
      Sign in in another window
    </button>
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
          <Dialog title="Your session has ended" onClose={() => location.assign('/login')}>
            <p>Sign in again to go on where you were.</p>
            <Show when={boot()?.signIn === 'REDIRECT'} fallback={<LoginForm done={goOn} />}>
              <LoginElsewhere done={goOn} />
            </Show>
          </Dialog>
        );
      }}
    </Show>
  );
}
