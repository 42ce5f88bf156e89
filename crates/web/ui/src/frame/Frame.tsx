import { useLocation, useNavigate } from '@solidjs/router';
import { createEffect, createSignal, ErrorBoundary, For, type JSX, on, onCleanup, onMount, Show } from 'solid-js';
import { at, within } from '../base';
import { onSessionEnd } from '../api/http';
import { loadParts, t } from '../language';
import { Hindered, LiveSwitch } from '../live/Live';
import { boot, mayUse, setRelogin } from '../session';
import { Dialog, Failure } from '../ui/parts';
import { Toasts } from '../ui/toast';
import { AREAS } from './areas';
import { LoginOverPage } from './Login';
import { Palette } from './Palette';
import { capsOf, isTyping, KEYS, pressKey } from './keys';
import { subject } from './title';
import { UserMenu } from './UserMenu';

/** A page that could not be drawn, until one goes elsewhere. Parts of a page that the server has no more mean that it is newer. */
function Broken(props: { of: unknown; reset: () => void }): JSX.Element {
  const place = useLocation();
  createEffect(on(() => place.pathname, () => props.reset(), { defer: true }));
  const isOutdated = () => props.of instanceof Error && /dynamically imported module|module script failed|preload CSS/i.test(props.of.message);
  return (
    <main class="page">
      <Show when={isOutdated()} fallback={<Failure of={props.of} again={props.reset} />}>
        <div class="failure" role="alert">
          <strong>{t('frame.newer')}</strong>
          <p>{t('frame.newer.text')}</p>
          <button class="primary" onClick={() => location.reload()}>
            {t('frame.newer.reload')}
          </button>
        </div>
      </Show>
    </main>
  );
}

/** So long after a page has opened it loads what it may need later. */
const LATER_MS = 3000;

/** Login over the page: all requests that were refused wait for the one. */
let waiting: Promise<void> | undefined;
const askForLogin = (): Promise<void> => {
  const words = loadParts('login').catch(() => undefined);
  waiting ??= words.then(() => new Promise<void>((done) => setRelogin({ done }))).finally(() => {
    waiting = undefined;
  });
  return waiting;
};

/** Leads past the bar to the page, for who goes by keyboard; nobody else sees it. */
function SkipLink(): JSX.Element {
  const skip = (event: MouseEvent) => {
    event.preventDefault();
    const main = document.querySelector('main');
    if (!main) return;
    main.tabIndex = -1;
    main.addEventListener('blur', () => main.removeAttribute('tabindex'), { once: true });
    main.focus();
  };
  return (
    <a class="skip" href="#content" onClick={skip}>
      {t('frame.skip')}
    </a>
  );
}

/** The bar with the areas, the pages of the area, search and the menu of the user. */
export function Frame(props: { children?: JSX.Element }): JSX.Element {
  const place = useLocation();
  const navigate = useNavigate();
  const [searching, setSearching] = createSignal(false);
  const [helping, setHelping] = createSignal(false);
  const path = () => within(place.pathname);
  const area = () => AREAS.find(({ area }) => path().split('/')[1] === area);
  const isCurrent = (href: string) => {
    const wanted = href.split('?')[0]!;
    if (wanted === '/tasklist') return /^\/tasklist(\/\d+.*)?$/.test(path());
    return wanted === path() || (wanted.split('/').length > 2 && path().startsWith(`${wanted}/`));
  };
  onMount(() => onSessionEnd(askForLogin));
  // The words of the login are there when the session ends, whatever has become of the server by then.
  const later = setTimeout(() => void loadParts('login').catch(() => undefined), LATER_MS);
  onCleanup(() => clearTimeout(later));
  // Where pages do not fit side by side, the present one is in sight.
  let pages: HTMLElement | undefined;
  createEffect(on(path, () => requestAnimationFrame(() => {
    const active = pages?.querySelector<HTMLElement>('.active');
    if (pages && active && pages.scrollWidth > pages.clientWidth) pages.scrollLeft = active.offsetLeft - pages.clientWidth / 2;
  })));
  createEffect(() => {
    const page = area()?.pages.find(({ href }) => isCurrent(href));
    const name = subject() ?? (page ? t(`page.${page.label}`) : area() ? t(`area.${area()!.area}`) : undefined);
    document.title = name ? `${name} – ${boot()?.title}` : (boot()?.title ?? '');
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      setSearching(true);
    } else if (event.key === '?' && !isTyping(event)) setHelping(true);
    else if (pressKey(event, navigate)) event.preventDefault();
  };
  document.addEventListener('keydown', onKeyDown);
  onCleanup(() => document.removeEventListener('keydown', onKeyDown));
  return (
    <>
      <SkipLink />
      <header class="bar">
        <span class="product">{boot()?.title}</span>
        <nav aria-label={t('frame.areas')}>
          <For each={AREAS.filter(({ area }) => mayUse(area))}>
            {(one) => (
              <a href={at(one.href)} class={area() === one ? 'active' : ''} aria-current={area() === one ? 'true' : undefined}>
                {t(`area.${one.area}`)}
              </a>
            )}
          </For>
        </nav>
        <span class="spacer" />
        <LiveSwitch />
        <button onClick={() => setSearching(true)} aria-keyshortcuts="Control+K">
          {t('frame.search')} <kbd class="muted wide-only">{capsOf('Ctrl K')}</kbd>
        </button>
        <UserMenu />
      </header>
      <Show when={area()}>
        {(current) => (
          <nav ref={pages} class="sub" aria-label={t('frame.pagesOf', { area: t(`area.${current().area}`) })}>
            <For each={current().pages}>
              {(page) => (
                <a href={at(page.href)} class={isCurrent(page.href) ? 'active' : ''} aria-current={isCurrent(page.href) ? 'page' : undefined}>
                  {t(`page.${page.label}`)}
                </a>
              )}
            </For>
          </nav>
        )}
      </Show>
      <Hindered />
      <ErrorBoundary
        fallback={(error, reset) => (
          <Broken of={error} reset={reset} />
        )}
      >
        {/* No Suspense: a page that asks something new must stay where it is, with its dialogs. */}
        {props.children}
      </ErrorBoundary>
      <Show when={searching()}>
        <Palette onClose={() => setSearching(false)} />
      </Show>
      <Show when={helping()}>
        <Dialog title={t('frame.keys')} onClose={() => setHelping(false)}>
          <table>
            <tbody>
              <For each={KEYS}>
                {([key, meaning]) => (
                  <tr>
                    <td>
                      <kbd>{capsOf(key)}</kbd>
                    </td>
                    <td>{t(meaning)}</td>
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
