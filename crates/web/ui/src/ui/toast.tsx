import { createSignal, For, type JSX } from 'solid-js';
import { Problem } from '../api/http';
import { known } from '../language';

const SHOWN_MS = 6000;
interface Toast {
  id: number;
  text: string;
  failed: boolean;
}
const [toasts, setToasts] = createSignal<Toast[]>([]);
let last = 0;

export function say(text: string, failed = false): void {
  const toast = { id: ++last, text, failed };
  setToasts((all) => [...all, toast]);
  setTimeout(() => setToasts((all) => all.filter((one) => one !== toast)), failed ? 2 * SHOWN_MS : SHOWN_MS);
}

/** A problem in a few words of the page's language; the title stands for programs. */
export const headOf = ({ code, title }: Problem): string => (code && known(`problem.${code}`)) ?? title;

/** The reason in the words of the server, without the name of the command and its code. */
export const reasonOf = ({ detail }: Problem): string => detail.replace(/^Command '\w+' rejected with code '\w+': /, '');

export const textOf = (error: unknown): string =>
  error instanceof Problem ? `${headOf(error)}: ${reasonOf(error)}` : error instanceof Error ? error.message : String(error);

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      <For each={toasts()}>
        {(toast) => (
          <div class="toast" classList={{ failed: toast.failed }}>
            {toast.text}
          </div>
        )}
      </For>
    </div>
  );
}
