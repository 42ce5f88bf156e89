import { createEffect, createSignal, createUniqueId, For, type JSX, onCleanup, Show } from 'solid-js';
import { t } from '../language';
import { number } from './numbers';

const PAUSE_MS = 150;

export interface Choice {
  value: string;
  label?: string;
}

/** Some of what matches, and how many there are. */
export interface Choices {
  choices: Choice[];
  total: number;
  /** Whether there are more than the total says. */
  isAtLeast?: boolean;
}

export type Find = (text: string, signal: AbortSignal) => Promise<Choices>;

/** A text with suggestions that the server finds. It says how many are not shown; any other text may be written, too. */
export function Picker(props: { name: string; label: string; find: Find; required?: boolean | undefined; value?: string | undefined; onInput?: (text: string) => void }): JSX.Element {
  const id = createUniqueId();
  const [text, setText] = createSignal(props.value ?? '');
  const [open, setOpen] = createSignal(false);
  const [at, setAt] = createSignal(-1);
  const [found, setFound] = createSignal<Choices>();
  const [failed, setFailed] = createSignal<string>();
  const shown = () => (open() ? (found()?.choices ?? []) : []);
  let input!: HTMLInputElement;

  createEffect(() => {
    if (!open()) return;
    const wanted = text().trim();
    const stop = new AbortController();
    const timer = setTimeout(() => {
      props.find(wanted, stop.signal).then(
        (hits) => {
          setFailed(undefined);
          setFound(hits);
          setAt(-1);
        },
        (error: unknown) => !stop.signal.aborted && setFailed(error instanceof Error ? error.message : String(error)),
      );
    }, PAUSE_MS);
    onCleanup(() => {
      clearTimeout(timer);
      stop.abort();
    });
  });
  const write = (value: string) => {
    setText(value);
    props.onInput?.(value);
  };
  const choose = (choice: Choice | undefined) => {
    if (!choice) return;
    input.value = choice.value;
    write(choice.value);
    setOpen(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      if (!open()) setOpen(true);
      else setAt((at) => (at + step + shown().length) % Math.max(shown().length, 1));
    } else if (event.key === 'Enter' && at() >= 0 && shown().length > 0) {
      event.preventDefault();
      choose(shown()[at()]);
    } else if (event.key === 'Escape' && open()) {
      // The list closes, the dialog around it stays.
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    }
  };
  const rest = () => {
    const hits = found();
    if (!hits) return t('frame.looking');
    if (hits.choices.length === 0) return t('ui.picker.nothing');
    if (hits.choices.length === hits.total && !hits.isAtLeast) return '';
    return t('ui.picker.rest', { count: hits.choices.length, total: hits.isAtLeast ? t('part.atLeast', { count: number(hits.total) }) : number(hits.total) });
  };
  return (
    <div class="picker">
      <input
        ref={(one) => {
          input = one;
          one.defaultValue = props.value ?? '';
        }}
        name={props.name}
        required={props.required}
        autocomplete="off"
        spellcheck={false}
        role="combobox"
        aria-label={props.label}
        aria-expanded={open()}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={at() >= 0 ? `${id}-${at()}` : undefined}
        onInput={(event) => {
          write(event.currentTarget.value);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <Show when={open()}>
        <div class="choices">
          <ul role="listbox" id={id} aria-label={t('ui.picker.suggestions', { label: props.label })}>
            <For each={shown()}>
              {(choice, index) => (
                <li id={`${id}-${index()}`} role="option" aria-selected={index() === at()} onPointerDown={(event) => (event.preventDefault(), choose(choice))}>
                  {choice.value} <Show when={choice.label && choice.label !== choice.value}>{<span class="muted">{choice.label}</span>}</Show>
                </li>
              )}
            </For>
          </ul>
          <small class="muted" role="status">
            {failed() ?? rest()}
          </small>
        </div>
      </Show>
    </div>
  );
}
