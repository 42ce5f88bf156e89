// The title of the browser's window: the thing that a page is about, else the page.
import { type Accessor, createEffect, createSignal, onCleanup } from 'solid-js';

const [subject, setSubject] = createSignal<string>();
export { subject };

/** Names the window after a thing as long as its page is there. */
export function useTitle(of: Accessor<string | undefined>): void {
  createEffect(() => setSubject(of()));
  onCleanup(() => setSubject(undefined));
}
