import { createMemo, type JSX, Show } from 'solid-js';
import { t } from '../language';
import { type Hindrance, hindrance, isOn, link, setLive } from './state';

/** Switches on and off that pages follow what happens, and says whether they do. */
export function LiveSwitch(): JSX.Element {
  const state = () => (!isOn() ? 'paused' : link() === 'away' ? 'away' : link() === 'none' ? 'noStore' : 'live');
  return (
    <button
      class="plain live"
      classList={{ off: state() !== 'live' }}
      aria-pressed={isOn()}
      title={isOn() ? t('live.follows') : t('live.stands')}
      onClick={() => setLive(!isOn())}
    >
      <svg width="8" height="8" viewBox="0 0 8 8" aria-hidden="true" fill="currentColor">
        <Show when={state() === 'live'} fallback={<path d="M0 0h3v8H0zM5 0h3v8H5z" />}>
          <circle cx="4" cy="4" r="4" />
        </Show>
      </svg>{' '}
      {t(`live.${state()}`)}
    </button>
  );
}

/** The hindrance in plain words, below the bar. */
export function Hindered(): JSX.Element {
  const kind = createMemo((): Hindrance | undefined => (link() === 'away' ? 'serverAway' : link() === 'none' ? 'none' : hindrance()));
  return (
    <div role="status" aria-live="polite">
      <Show when={kind()}>{(one) => <p class="notice">{t(`live.hindrance.${one()}`)}</p>}</Show>
    </div>
  );
}
