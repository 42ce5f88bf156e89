import { useLocation } from '@solidjs/router';
import { createEffect, createSignal, ErrorBoundary, For, type JSX, onCleanup, onMount, Show } from 'solid-js';
import { onSessionEnd } from '../api/http';
import { Hindered, LiveSwitch } from '../live/Live';
import { boot, mayUse, setRelogin, signOut, user } from '../session';
import { Action, Dialog, Failure } from '../ui/parts';
import { Toasts } from '../ui/toast';
import { AREAS } from './areas';
import { LoginOverPage } from './Login';
import { Palette } from './Palette';
import { isTyping, KEYS } from './keys';
import { setTheme, theme, THEMES, type Theme } from './theme';

/** Login over the page: all requests that were refused wait for the one. */
let waiting: Promise<void> | undefined;
const askForLogin = (): Promise<void> => {
  waiting ??= new Promise<void>((done) => setRelogin({ done })).finally(() => {
    waiting = undefined;
  });
  return waiting;
};

/** The bar with the areas, the pages of the area, search, theme and user. */
export function Frame(props: { children?: JSX.Element }): JSX.Element {
  const place = useLocation();
  const [searching, setSearching] = createSignal(false);
  const [helping, setHelping] = createSignal(false);
  const area = () => AREAS.find(({ area }) => place.pathname.split('/')[1] === area);
  const isCurrent = (href: string) => {
    const path = href.split('?')[0]!;
    if (path === '/tasklist') return /^\/tasklist(\/\d+)?$/.test(place.pathname);
    return path === place.pathname || (path.split('/').length > 2 && place.pathname.startsWith(`${path}/`));
  };
  onMount(() => onSessionEnd(askForLogin));
  createEffect(() => {
    const name = area()?.pages.find(({ href }) => isCurrent(href))?.label ?? area()?.label;
    document.title = name ? `${name} – ${boot()?.title}` : (boot()?.title ?? '');
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      setSearching(true);
    } else if (event.key === '?' && !isTyping(event)) setHelping(true);
  };
  document.addEventListener('keydown', onKeyDown);
  onCleanup(() => document.removeEventListener('keydown', onKeyDown));
  return (
    <>
      <header class="bar">
        <span class="product">{boot()?.title}</span>
        <nav aria-label="Areas">
          <For each={AREAS.filter(({ area }) => mayUse(area))}>
            {(one) => (
              <a href={one.href} class={area() === one ? 'active' : ''} aria-current={area() === one ? 'true' : undefined}>
                {one.label}
              </a>
            )}
          </For>
        </nav>
        <span class="spacer" />
        <LiveSwitch />
        <button onClick={() => setSearching(true)} aria-keyshortcuts="Control+K">
          Search <kbd class="muted">Ctrl K</kbd>
        </button>
        <select aria-label="Theme" value={theme()} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
          <For each={THEMES}>{(one) => <option value={one}>{one}</option>}</For>
        </select>
        <Show when={user()}>
          {(who) => (
            <>
              <span title={who().email ?? undefined}>{who().displayName || who().username}</span>
              <Action do={signOut}>Sign out</Action>
            </>
          )}
        </Show>
      </header>
      <Show when={area()}>
        {(current) => (
          <nav class="sub" aria-label={`Pages of ${current().label}`}>
            <For each={current().pages}>
              {(page) => (
                <a href={page.href} class={isCurrent(page.href) ? 'active' : ''} aria-current={isCurrent(page.href) ? 'page' : undefined}>
                  {page.label}
                </a>
              )}
            </For>
          </nav>
        )}
      </Show>
      <Hindered />
      <ErrorBoundary
        fallback={(error, reset) => (
          <main class="page">
            <Failure of={error} again={reset} />
          </main>
        )}
      >
        {/* No Suspense: a page that asks something new must stay where it is, with its dialogs. */}
        {props.children}
      </ErrorBoundary>
      <Show when={searching()}>
        <Palette onClose={() => setSearching(false)} />
      </Show>
      <Show when={helping()}>
        <Dialog title="Keys" onClose={() => setHelping(false)}>
          <table>
            <tbody>
              <For each={KEYS}>
                {([key, meaning]) => (
                  <tr>
                    <td>
                      <kbd>{key}</kbd>
                    </td>
                    <td>{meaning}</td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </Dialog>
      </Show>
      <LoginOverPage />
      <Toasts />
    </>
  );
}
