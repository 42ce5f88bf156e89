import { type Key, known } from '../language';

/** Messages about keys: none of them has values. */
type KeyMeaning = Extract<Key, `key.${string}`>;

/** Keys and what they do, as `?` lists them. */
export const KEYS: readonly (readonly [string, KeyMeaning])[] = [
  ['Ctrl K', 'key.search'],
  ['?', 'key.help'],
  ['g o, g t, g a', 'key.areas'],
  ['/', 'key.filter'],
  ['j k', 'key.rows'],
  ['Enter', 'key.open'],
  ['[ ]', 'key.tabs'],
  ['a', 'key.claim'],
  ['Ctrl Enter', 'key.complete'],
  ['↑ ↓ Home End', 'key.tree'],
  ['← →', 'key.treeOpen'],
  ['Escape', 'key.escape'],
];

/** Keys as they are written on a keyboard of the language. */
export const capsOf = (keys: string): string => keys.split(' ').map((one) => known(`frame.cap.${one}`) ?? one).join(' ');

const AREA_OF: Record<string, string> = { o: '/operate', t: '/tasklist', a: '/admin' };
/** How long `g` waits for the letter of an area. */
const SECOND_KEY_MS = 1500;
let went = 0;

/** Fields that letters are not written into. */
const WITHOUT_TEXT = new Set(['button', 'checkbox', 'file', 'image', 'radio', 'range', 'reset', 'submit']);

/** Whether a key is text that somebody writes. */
export function isTyping(event: KeyboardEvent): boolean {
  // The first of the path is inside of an editor that has a tree of its own.
  const [target] = event.composedPath();
  if (target instanceof HTMLInputElement && WITHOUT_TEXT.has(target.type)) return false;
  return target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
}

const isShown = (one: HTMLElement): boolean => one.offsetParent !== null;
const all = (selector: string): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(selector)].filter(isShown);

/** Focuses the link of the next or the previous row; of a list of tasks, or of a table. */
function moveRow(step: 1 | -1): void {
  const links = all('.list > .task > a, tbody tr').map((one) => (one.tagName === 'A' ? one : one.querySelector<HTMLElement>('a, button'))).filter((one) => one !== null);
  const at = links.findIndex((one) => one.closest('.task, tr')?.contains(document.activeElement));
  links[at < 0 ? (step > 0 ? 0 : links.length - 1) : (at + step + links.length) % links.length]?.focus();
}

function moveTab(step: 1 | -1): void {
  const tabs = all('[role=tab]');
  const at = tabs.findIndex((one) => one.getAttribute('aria-selected') === 'true');
  if (at >= 0) tabs[(at + step + tabs.length) % tabs.length]?.click();
}

/** Does what a key says, if nobody writes and no dialog is open. Buttons with `data-key` have keys of their own. */
export function pressKey(event: KeyboardEvent, go: (path: string) => void): boolean {
  if (document.querySelector('dialog[open]')) return false;
  if (event.ctrlKey && event.key === 'Enter') {
    all('button[data-key=complete]:not(:disabled)')[0]?.click();
    return true;
  }
  if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return false;
  const isSecond = Date.now() - went < SECOND_KEY_MS;
  went = 0;
  const area = isSecond ? AREA_OF[event.key] : undefined;
  if (area) go(area);
  else if (event.key === 'g') went = Date.now();
  else if (event.key === '/') all('main input[type=search], main select, main input:not([type=checkbox])')[0]?.focus();
  else if (event.key === 'j' || event.key === 'k') moveRow(event.key === 'j' ? 1 : -1);
  else if (event.key === '[' || event.key === ']') moveTab(event.key === ']' ? 1 : -1);
  else if (event.key === 'a') all('button[data-key=claim]:not(:disabled)')[0]?.click();
  else return false;
  return true;
}
