// Small parts that many pages have.
import { type Accessor, createContext, createMemo, createSignal, createUniqueId, type JSX, onCleanup, onMount, Show, untrack, useContext } from 'solid-js';
import { Problem } from '../api/http';
import { t } from '../language';
import { refresh } from '../query';
import type { Needs } from '../rights';
import { intoSight } from './fit';
import { NOTHING_MISSING, Reason, useMay } from './May';
import { headOf, reasonOf, say, textOf } from './toast';
import { innerWordOf, wordOf } from './words';

/** A state by shape, word and colour. */
export function State(props: { of: string; incident?: boolean | undefined; word?: string }): JSX.Element {
  const kind = () => (props.incident ? 'incident' : kindOf(props.of));
  const word = () => (props.incident && props.of === 'ACTIVE' ? wordOf('INCIDENT') : wordOf(props.of));
  return (
    <span class={`state ${kind()}`}>
      <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true" fill="currentColor">
        {kind() === 'incident' ? (
          <path d="M5 0 10 9.5H0z" />
        ) : kind() === 'active' ? (
          <circle cx="5" cy="5" r="4.5" />
        ) : kind() === 'waiting' ? (
          <path d="M5 0 10 5 5 10 0 5z" />
        ) : (
          <rect x="1" y="1" width="8" height="8" fill="none" stroke="currentColor" stroke-width="1.5" />
        )}
      </svg>
      {props.word ?? word()}
    </span>
  );
}

const ACTIVE = new Set(['ACTIVE', 'CREATED', 'EVALUATED']);
const WAITING = new Set(['SUSPENDED', 'PENDING', 'RETRIES_UPDATED', 'TIMED_OUT', 'ASSIGNING', 'COMPLETING', 'UPDATING', 'CREATING']);
const BAD = new Set(['FAILED', 'ERROR_THROWN', 'PARTIALLY_COMPLETED']);
const kindOf = (state: string): string =>
  ACTIVE.has(state) ? 'active' : WAITING.has(state) ? 'waiting' : BAD.has(state) ? 'incident' : 'ended';

export { innerWordOf, wordOf };

export function Failure(props: { of: unknown; again?: (() => void) | undefined }): JSX.Element {
  return (
    <div class="failure" role="alert">
      <strong>{props.of instanceof Problem ? headOf(props.of) : t('part.failed')}</strong>
      <p>{props.of instanceof Problem ? reasonOf(props.of) : textOf(props.of)}</p>
      <Show when={props.again}>{(again) => <button onClick={() => again()()}>{t('part.again')}</button>}</Show>
    </div>
  );
}

export function Copy(props: { text: string; label?: string }): JSX.Element {
  const copy = () =>
    navigator.clipboard.writeText(props.text).then(
      () => say(t('part.copied')),
      (error: unknown) => say(textOf(error), true),
    );
  return (
    <button class="plain" title={t('part.copy')} aria-label={t('part.copyOf', { what: props.label ?? props.text })} onClick={copy}>
      <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" fill="none" stroke="currentColor">
        <rect x="3.5" y="3.5" width="8" height="8" rx="1" />
        <path d="M8.5 1.5v-1h-8v8h1" />
      </svg>
    </button>
  );
}

export function Field(props: { label: string; children: JSX.Element; hint?: string }): JSX.Element {
  return (
    <label class="field">
      <span>{props.label}</span>
      {props.children}
      <Show when={props.hint}>
        <small class="muted">{props.hint}</small>
      </Show>
    </label>
  );
}

/** Dialogs that are open, one over the other. */
const [dialogs, setDialogs] = createSignal(0);

/** What is shown, as it was when a dialog was opened over it: a row that others change keeps the dialog that stands in it,
 * and what was typed there. */
export function held<Shown extends object>(shown: Accessor<Shown>): Accessor<Shown> {
  const below = untrack(dialogs);
  return createMemo((before?: Shown) => (before && dialogs() > below ? before : shown()));
}

/** Tells a failure, or with `undefined` that there is none any more. A dialog covers what is told elsewhere. */
const Told = createContext((error: unknown) => {
  if (error !== undefined) say(textOf(error), true);
});

/** A modal dialog, open as long as it is there. Escape and the backdrop ask `onClose`. Failures of its actions are told in it. */
export function Dialog(props: { title: string; onClose: () => void; children: JSX.Element; wide?: boolean }): JSX.Element {
  let dialog!: HTMLDialogElement;
  const id = createUniqueId();
  const before = document.activeElement;
  const [failure, setFailure] = createSignal<unknown>();
  onMount(() => {
    // Initial values have not been typed. Some fields have said already that they never count as typed.
    for (const one of dialog.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input:not([type=checkbox], [type=radio]), textarea')) {
      if (!Object.hasOwn(one, 'defaultValue')) one.defaultValue = one.value;
    }
    dialog.showModal();
    setDialogs((open) => open + 1);
    onCleanup(() => setDialogs((open) => open - 1));
  });
  const isTyped = () =>
    [...dialog.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input:not([type=checkbox]), textarea')].some(
      (one) => one.value !== one.defaultValue,
    );
  const close = () => {
    if (isTyped() && !confirm(t('part.discard'))) return;
    props.onClose();
    if (before instanceof HTMLElement) before.focus();
  };
  return (
    <dialog
      ref={dialog}
      class={props.wide ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <div class="row">
        <h2 id={id}>{props.title}</h2>
        <span class="spacer" />
        <button class="plain" aria-label={t('part.close')} onClick={close}>
          ✕
        </button>
      </div>
      <Told.Provider value={setFailure}>{props.children}</Told.Provider>
      <Show when={failure()}>
        {(error) => (
          <div ref={intoSight}>
            <Failure of={error()} />
          </div>
        )}
      </Show>
    </dialog>
  );
}

/** A button whose work is done once at a time; it tells a failure, and is busy until the work's own reads are back. */
export function Action(props: {
  /** The action; a promise keeps it busy. */
  do: () => unknown;
  /** Rights that it takes, from the beginning on. Without them it does nothing but say which one is missing. */
  needs?: Needs;
  children: JSX.Element;
  class?: string;
  type?: 'button' | 'submit';
  disabled?: boolean;
  title?: string;
  /** The name by which a key presses it. */
  key?: 'claim' | 'complete';
  /** The name for who can't see where the button stands. */
  label?: string;
  /** Whether what it switches is on. */
  pressed?: boolean;
}): JSX.Element {
  const [busy, setBusy] = createSignal(false);
  const missing = props.needs ? useMay(() => props.needs) : NOTHING_MISSING;
  const id = createUniqueId();
  const tell = useContext(Told);
  const run = async (event: MouseEvent) => {
    if (busy()) return;
    // A right that was missing may have come since.
    if (missing() !== undefined) {
      event.preventDefault();
      const reason = await missing.again();
      if (reason !== undefined) {
        tell(reason);
        return;
      }
    }
    tell(undefined);
    try {
      const work = props.do();
      if (!(work instanceof Promise)) return;
      setBusy(true);
      await work;
    } catch (error) {
      tell(error);
      // Another user may have been faster: the page shows the present state.
      if (error instanceof Problem && (error.status === 404 || error.status === 409)) await refresh();
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button
        type={props.type ?? 'button'}
        class={props.class}
        title={missing() ?? props.title}
        aria-label={props.label}
        aria-pressed={props.pressed}
        data-key={props.key}
        disabled={busy() || props.disabled}
        aria-disabled={missing() ? 'true' : undefined}
        aria-describedby={missing() ? id : undefined}
        aria-busy={busy()}
        onClick={run}
      >
        {props.children}
      </button>
      <Reason id={id} missing={missing()} />
    </>
  );
}
