import { useNavigate } from '@solidjs/router';
import { createEffect, createSignal, For, type JSX, lazy, onCleanup, Show } from 'solid-js';
import { t } from '../language';
import { mayUse } from '../session';
import { Dialog } from '../ui/parts';
import { type Area, AREAS } from './areas';
import { type Hit, lookUp } from './lookup';

const Sent = lazy(() => import('../views/Sent'));
const PAUSE_MS = 200;

const areaOf = (href: string): Area => AREAS.find(({ area }) => href.startsWith(`/${area}/`))!.area;

/** Pages, and whatever a key, business ID or name belongs to. */
export function Palette(props: { onClose: () => void }): JSX.Element {
  const navigate = useNavigate();
  const [text, setText] = createSignal('');
  const [found, setFound] = createSignal<{ of: string; hits: Hit[] }>({ of: '', hits: [] });
  const [at, setAt] = createSignal(0);
  const [isTaking, setTaking] = createSignal(false);
  const pages = (): Hit[] =>
    AREAS.filter(({ area }) => mayUse(area))
      .flatMap(({ area, pages }) => pages.map((page) => ({ label: t(`page.${page.label}`), detail: t(`area.${area}`), href: page.href })))
      .filter(({ label }) => label.toLowerCase().includes(text().trim().toLowerCase()));
  const hits = () => (found().of === text().trim() ? [...found().hits, ...pages()] : pages());
  /** Enter was pressed before anything was found. */
  let isAwaited = false;
  const isLooking = () => text().trim() !== '' && found().of !== text().trim();

  createEffect(() => {
    const wanted = text().trim();
    setAt(0);
    isAwaited = false;
    if (wanted === '') return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      void lookUp(wanted, stop.signal).then((all) => {
        if (stop.signal.aborted) return;
        const hits = all.filter(({ href }) => mayUse(areaOf(href)));
        setFound({ of: wanted, hits });
        if (isAwaited) go(hits[0]);
      });
    }, PAUSE_MS);
    onCleanup(() => {
      clearTimeout(timer);
      stop.abort();
    });
  });

  const go = (hit: Hit | undefined) => {
    if (!hit) return;
    setText('');
    props.onClose();
    navigate(hit.href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((at) => (at + step + hits().length) % Math.max(hits().length, 1));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (hits().length > 0) go(hits()[at()]);
      else isAwaited = isLooking();
    }
  };
  return (
    <Dialog title={t('frame.search')} onClose={props.onClose}>
      <div class="palette" style={{ 'margin-top': '0' }}>
        <input
          autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-hits"
          aria-activedescendant={hits().length > 0 ? `palette-${at()}` : undefined}
          aria-label={t('frame.searchFor')}
          placeholder={t('frame.searchFor')}
          value={text()}
          ref={(input) => Object.defineProperty(input, 'defaultValue', { get: () => input.value })}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <ul id="palette-hits" role="listbox" aria-label={t('frame.found')}>
          <For each={hits()}>
            {(hit, index) => (
              <li id={`palette-${index()}`} role="option" aria-selected={index() === at()} onClick={() => go(hit)}>
                {hit.label} <span class="muted">{hit.detail}</span>
              </li>
            )}
          </For>
        </ul>
        <p class="muted" role="status">
          <Show when={isLooking()} fallback={hits().length === 0 ? t('frame.foundNothing') : ''}>
            {t('frame.looking')}
          </Show>
        </p>
        <button class="plain" onClick={() => setTaking(true)}>
          {t('part.sent')}
        </button>
        <Show when={isTaking()}>
          <Sent onClose={() => setTaking(false)} />
        </Show>
      </div>
    </Dialog>
  );
}
