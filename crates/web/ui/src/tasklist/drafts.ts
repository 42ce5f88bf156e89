// Text typed into a task and not sent yet, kept in the browser for the user who typed it.
import { own } from '../base';
import { user } from '../session';

const PREFIX = `${own('baton.draft')}.`;
/** Drafts of one browser: the oldest go first. */
const DRAFTS_MAX = 100;

interface Draft {
  at: number;
  text: string;
}
const nameOf = (taskKey: string): string => `${PREFIX}${user()?.username ?? ''}.${taskKey}`;

export function readDraft(taskKey: string): string | undefined {
  const stored = localStorage.getItem(nameOf(taskKey));
  try {
    return stored === null ? undefined : (JSON.parse(stored) as Draft).text;
  } catch {
    return undefined;
  }
}

export const dropDraft = (taskKey: string): void => localStorage.removeItem(nameOf(taskKey));

/** Keeps a draft; false if the browser has no room for it. */
export function keepDraft(taskKey: string, text: string): boolean {
  const others = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX) && name !== nameOf(taskKey));
  if (others.length >= DRAFTS_MAX) {
    const age = (name: string) => (JSON.parse(localStorage.getItem(name) ?? '{"at":0}') as Draft).at;
    others.sort((a, b) => age(a) - age(b));
    for (const name of others.slice(0, others.length - DRAFTS_MAX + 1)) localStorage.removeItem(name);
  }
  try {
    localStorage.setItem(nameOf(taskKey), JSON.stringify({ at: Date.now(), text } satisfies Draft));
    return true;
  } catch {
    return false;
  }
}
