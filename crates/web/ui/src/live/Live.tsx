import { createMemo, type JSX, Show } from 'solid-js';
import { type Hindrance, hindrance, isOn, link, setLive } from './state';

/** Switches on and off that pages follow what happens, and says whether they do. */
export function LiveSwitch(): JSX.Element {
  const word = () => (!isOn() ? 'Paused' : link() === 'away' ? 'Not connected' : link() === 'none' ? 'No store' : 'Live');
  return (
    <button
      class="plain live"
      classList={{ off: word() !== 'Live' }}
      aria-pressed={isOn()}
      title={isOn() ? 'Pages follow what happens. Press to stop that.' : 'Pages show what was so when they were read. Press to follow what happens.'}
      onClick={() => setLive(!isOn())}
    >
      <svg width="8" height="8" viewBox="0 0 8 8" aria-hidden="true" fill="currentColor">
        <Show when={word() === 'Live'} fallback={<path d="M0 0h3v8H0zM5 0h3v8H5z" />}>
          <circle cx="4" cy="4" r="4" />
        </Show>
      </svg>{' '}
      {word()}
    </button>
  );
}

const WORDS: Record<Hindrance, string> = {
  behind: 'The store is behind: it does not show the latest yet. Pages go on by themselves as it catches up.',
  busy: 'The server has more to do than it takes on at once. Requests are tried again, with pauses.',
  storeAway: 'The store does not answer. Instances go on, but lists and searches have to wait until it is back; they are tried again by themselves.',
  diskFull: 'The server takes no new work: its disk is full but for a reserve. Everything can still be looked at; free some space for the rest.',
  serverAway: 'The server cannot be reached. The page shows the last that is known, and tries again by itself.',
  none: 'This server keeps no secondary storage, so nothing can be searched or listed. Deploying, starting and messages work; secondary_storage.kind turns it on.',
};

/** The hindrance in plain words, below the bar. */
export function Hindered(): JSX.Element {
  const kind = createMemo((): Hindrance | undefined => (link() === 'away' ? 'serverAway' : link() === 'none' ? 'none' : hindrance()));
  return (
    <div role="status" aria-live="polite">
      <Show when={kind()}>{(one) => <p class="notice">{WORDS[one()]}</p>}</Show>
    </div>
  );
}
