import { replaceEqualDeep } from '@tanstack/solid-query';
import { createSignal } from 'solid-js';
import type { ProblemCode } from '../api/generated/problems';

/**
 * `live`: hints come. `starting`: not yet. `timed`: hints are not to be had here, so pages ask by time. `away`: the server
 * does not answer. `none`: there is no secondary storage.
 */
export type Link = 'starting' | 'live' | 'timed' | 'away' | 'none';
export const [link, setLink] = createSignal<Link>('starting');
/** Whether reads of what changes may begin: the place is known from which changes are told, or can't be waited for. */
export const [isPlaced, setPlaced] = createSignal(false);

/** The hint, by its place, that reads follow which begin now. */
let hint: string | undefined;
export const followed = (): string | undefined => hint;
/** Begins reads behind a hint: the server answers them from what the store shows, as later changes are told later. */
export function follow(next: string | undefined, begin: () => void): void {
  hint = next;
  try {
    begin();
  } finally {
    hint = undefined;
  }
}

/** A reason why pages do not show the latest, or actions are refused, as the server told it last. */
export type Hindrance = 'behind' | 'busy' | 'storeAway' | 'diskFull' | 'serverAway' | 'none';
const [hindrance, setHindrance] = createSignal<Hindrance>();
export { hindrance };

/** An answer, as far as it tells of the state of the server and of its store. */
export interface Told {
  /** When it was asked for, in ms of the page. */
  askedAt: number;
  isSearch: boolean;
  isCommand: boolean;
  /** 0: there was no answer. */
  status: number;
  /** The code of a problem; nothing if somebody before the server answered. */
  code: ProblemCode | undefined;
  /** How far a search was behind, if it was. */
  lag: string | null;
}

/** The hindrance that an answer tells of, if any. */
export function hindranceOf({ isSearch, status, code, lag }: Told): Hindrance | undefined {
  if (status === 0) return 'serverAway';
  if (isSearch && status < 400 && lag !== null) return 'behind';
  switch (code) {
    case 'NO_SECONDARY_STORAGE':
      return 'none';
    case 'STORAGE_BEHIND':
    case 'STORAGE_TOO_SLOW':
      return isSearch ? 'behind' : undefined;
    case 'DISK_FULL':
      return 'diskFull';
    case 'STORAGE_UNAVAILABLE':
      return 'storeAway';
    case 'RESOURCE_EXHAUSTED':
      return 'busy';
    case 'UNAVAILABLE':
      return 'serverAway';
    case undefined:
      // A proxy says that the server is away.
      return status === 503 ? 'serverAway' : undefined;
    default:
      return undefined;
  }
}

/** A hindrance stands for this long at least, so that it can be read. */
const SHOWN_MS = 2000;
let toldAt = 0;
let end: ReturnType<typeof setTimeout> | undefined;

/** Whether an answer shows that a hindrance is over. Questions from before it was told show nothing. */
function isOver(kind: Hindrance, { askedAt, isSearch, isCommand, status }: Told): boolean {
  if (status >= 500 || kind === 'none' || askedAt < toldAt) return false;
  if (kind === 'diskFull') return isCommand && status < 400;
  return kind === 'serverAway' || isSearch;
}

/** Remembers the hindrance that an answer tells of, until another shows that it is over. */
export function note(told: Told): void {
  const found = hindranceOf(told);
  const kind = hindrance();
  const now = performance.now();
  if (found) {
    clearTimeout(end);
    end = undefined;
    toldAt = now;
    setHindrance(found);
  } else if (kind && isOver(kind, told)) {
    end ??= setTimeout(() => {
      end = undefined;
      setHindrance(undefined);
    }, toldAt + SHOWN_MS - now);
  }
}

const KEY = 'baton.live';
const [isOn, setOn] = createSignal(globalThis.localStorage?.getItem(KEY) !== 'off');
export { isOn };
export function setLive(on: boolean): void {
  setOn(on);
  if (on) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, 'off');
}

/** How often a page that is looked at asks again where no hints come. */
const TIMED_MS = 5000;
/** Where hints come, but not of this, an answer that stays the same is asked for less and less often. */
const SLOWEST_MS = 40_000;

interface Asked {
  state: { data: unknown; dataUpdatedAt: number };
}
const paces = new WeakMap<Asked, { data: unknown; at: number; ms: number }>();

/** The pause after each answer to a read that no hint tells of: it doubles while the answer stays the same. */
export function slowing(read: Asked): number {
  const { data, dataUpdatedAt: at } = read.state;
  const last = paces.get(read);
  if (last?.at === at) return last.ms;
  // Each answer is an object of its own, however equal it is.
  const ms = last && replaceEqualDeep(last.data, data) === last.data ? Math.min(last.ms * 2, SLOWEST_MS) : TIMED_MS;
  paces.set(read, { data, at, ms });
  return ms;
}

/** How often a read asks again by itself. `hasTopics`: hints could tell of it. */
export function interval(hasTopics: boolean): number | false | typeof slowing {
  if (!isOn() || (hasTopics && link() !== 'timed')) return false;
  return link() === 'timed' ? TIMED_MS : slowing;
}
