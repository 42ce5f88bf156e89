// The language of the pages: chosen, or as the browser asks for. A file in messages/ is a language; the folder beside it
// has what it says in the parts of the application that pages load when they need them.
import { createSignal } from 'solid-js';
import type { Key, Values } from './catalogue';
import { en } from './en';

export type { Key } from './catalogue';

const STORED = 'baton.language';
type Messages = Readonly<Record<string, string>>;
const FILES = import.meta.glob<{ default: Messages }>('./messages/*.ts');
const ENGLISH_PARTS = import.meta.glob<{ default: Messages }>('./areas/*.ts');
const PARTS = import.meta.glob<{ default: Messages }>('./messages/*/*.ts');
const codeOf = (path: string): string => /([\w-]+)\.ts$/.exec(path)![1]!;
/** Codes of the languages that there are. */
export const LANGUAGES: readonly string[] = ['en', ...Object.keys(FILES).map(codeOf)].sort();

export type Part = 'admin' | 'change' | 'history' | 'instance' | 'lists' | 'log' | 'login' | 'models' | 'overview' | 'problems' | 'tasks' | 'words';

/** Texts follow a change of the language. A part that comes makes none anew: what is typed beside them would be lost. */
let messages: Messages = en;
/** Parts that a page has asked for. */
const parts = new Set<Part>();
const [language, setLanguage] = createSignal('en');
const [chosen, setChosen] = createSignal<string>('system');
export { chosen, language };

/** The name of a language in itself. */
export const nameOf = (code: string): string => new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code;

/** The first of the browser's languages that is there. */
const ofBrowser = (): string => navigator.languages.map((one) => one.split('-')[0]!).find((one) => LANGUAGES.includes(one)) ?? 'en';

const partOf = (code: string, part: Part): Promise<{ default: Messages }> => (PARTS[`./messages/${code}/${part}.ts`] ?? ENGLISH_PARTS[`./areas/${part}.ts`]!)();

/** Loads the messages of parts, before a page that shows them. */
export async function loadParts(...wanted: Part[]): Promise<void> {
  const missing = wanted.filter((part) => !parts.has(part));
  if (missing.length === 0) return;
  const code = language();
  const loaded = await Promise.all(missing.map((part) => partOf(code, part)));
  for (const part of missing) parts.add(part);
  // Another language was chosen meanwhile.
  if (code !== language()) await load(language());
  else messages = Object.assign({}, messages, ...loaded.map((one) => one.default)) as Messages;
}

/** A component that comes with its messages. */
export const withParts = async <Page,>(loaded: Promise<Page>, ...wanted: Part[]): Promise<Page> => (await Promise.all([loaded, loadParts(...wanted)]))[0];

async function load(code: string): Promise<void> {
  const file = FILES[`./messages/${code}.ts`];
  let loaded: { default: Messages }[] = [];
  // A page may ask for another part meanwhile.
  for (let count = -1; count !== parts.size; ) {
    count = parts.size;
    const wanted = code === 'en' ? [...parts] : [...parts, 'words' as const];
    loaded = await Promise.all([file ? file() : { default: en }, ...wanted.map((part) => partOf(code, part))]);
  }
  messages = Object.assign({}, ...loaded.map((one) => one.default)) as Messages;
  setLanguage(code);
  document.documentElement.lang = code;
}

/** Before anything is shown: the language that was chosen here, or the browser's. */
export async function applyLanguage(): Promise<void> {
  const stored = localStorage.getItem(STORED);
  setChosen(stored && LANGUAGES.includes(stored) ? stored : 'system');
  await load(chosen() === 'system' ? ofBrowser() : chosen());
}

export async function chooseLanguage(code: string): Promise<void> {
  setChosen(code);
  if (code === 'system') localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, code);
  await load(code === 'system' ? ofBrowser() : code);
}

/** Whether it is a locale: browsers tell what the system names, such as `en-US@posix`, too. */
function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length > 0;
  } catch {
    return false;
  }
}

/** The locale for numbers and dates: the browser's region, if it speaks the language. */
export const locale = (): string => navigator.languages.find((one) => one.split('-')[0] === language() && isLocale(one)) ?? language();

function messagesNow(): Messages {
  language();
  return messages;
}

function textOf(key: Key): string {
  const text = messagesNow()[key];
  if (text === undefined) console.error(`the page has not loaded the part of the message ${key}`);
  return text ?? key;
}

/** The message of a key that is made of what the server tells, if there is one. */
export const known = (key: string): string | undefined => messagesNow()[key];

const filled = (text: string, values: Record<string, unknown>): string => text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));

/** A message with its values, as text. */
export function t<K extends Key>(key: K, ...[values]: [keyof Values<K>] extends [never] ? [] : [Values<K>]): string {
  const text = textOf(key);
  return values ? filled(text, values) : text;
}

/** One of two messages by a number, as the language counts; with other values, or the number as it is to be told. */
export function count<One extends Key, Other extends Key>(value: number, one: One, other: Other, values: Partial<Values<Other>> = {}): string {
  const key = new Intl.PluralRules(language()).select(value) === 'one' ? one : other;
  return filled(textOf(key), { count: new Intl.NumberFormat(locale()).format(value), ...values });
}
