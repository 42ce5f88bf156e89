import { useNavigate, useSearchParams } from '@solidjs/router';
import { createSignal, type JSX, Show } from 'solid-js';
import { boot, isSignedIn, relogin, safeNext, setRelogin, signIn } from '../session';
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
        when={boot()?.authentication === 'oidc'}
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

export function LoginPage(): JSX.Element {
  const [query] = useSearchParams<{ next?: string }>();
  const navigate = useNavigate();
  const leave = () => navigate(safeNext(query.next), { replace: true });
  return (
    <main class="login stack">
      <h1>{boot()?.title}</h1>
      <Show when={boot()?.authentication === 'none'} fallback={<LoginForm done={leave} />}>
        <p>This server asks nobody for a login.</p>
        <button class="primary" onClick={leave}>
          Continue
        </button>
      </Show>
    </main>
  );
}

/** The login over a page whose session has ended: nothing on the page is lost. */
export function LoginOverPage(): JSX.Element {
  return (
    <Show when={relogin()}>
      {(waiting) => (
        <Dialog title="Your session has ended" onClose={() => location.assign('/login')}>
          <p>Sign in again to go on where you were.</p>
          <LoginForm
            done={() => {
              const { done } = waiting();
              setRelogin(undefined);
              done();
            }}
          />
        </Dialog>
      )}
    </Show>
  );
}
