/** Keys and what they do, as `?` lists them. */
export const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'search for a key, an ID or a page'],
  ['?', 'this list'],
  ['↑ ↓ Home End', 'move in a tree'],
  ['← →', 'close and open a row of a tree'],
  ['Enter', 'choose the row of a tree'],
  ['Escape', 'close a dialog'],
];

/** Whether a key is text that somebody writes. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target;
  return target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
}
