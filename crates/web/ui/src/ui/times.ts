// Moments and lengths of time as texts.
import { createSignal } from 'solid-js';
import { locale } from '../language';

/** Moments as how long ago they were, or as clocks here or in UTC show them. */
export type Times = 'relative' | 'local' | 'utc';
export const TIMES: readonly Times[] = ['relative', 'local', 'utc'];
const STORED = 'baton.times';

const [times, set] = createSignal<Times>(TIMES.find((one) => one === globalThis.localStorage?.getItem(STORED)) ?? 'relative');
export { times };

export function setTimes(chosen: Times): void {
  set(chosen);
  localStorage.setItem(STORED, chosen);
}

/** A formatter of the language; it is made once, which takes longer than to use it a hundred times. */
export function formatter<Format>(make: (locale: string) => Format): () => Format {
  let of: string | undefined;
  let made: Format;
  return () => {
    if (of !== locale()) {
      of = locale();
      made = make(of);
    }
    return made;
  };
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];
const relative = formatter((of) => new Intl.RelativeTimeFormat(of, { numeric: 'auto', style: 'short' }));

export function relativeText(moment: string, at = Date.now()): string {
  const seconds = Math.round((Date.parse(moment) - at) / 1000);
  const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return relative().format(Math.trunc(seconds / size), unit);
}

const EXACT = { dateStyle: 'medium', timeStyle: 'medium' } as const;
const local = formatter((of) => new Intl.DateTimeFormat(of, EXACT));
const utc = formatter((of) => new Intl.DateTimeFormat(of, { ...EXACT, timeZone: 'UTC' }));

export const exactText = (moment: string): string => (times() === 'utc' ? `${utc().format(new Date(moment))} UTC` : local().format(new Date(moment)));

const UNITS: [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];
const tenths = formatter((of) => new Intl.NumberFormat(of, { minimumFractionDigits: 1, maximumFractionDigits: 1 }));

/** A length of time by its two largest units: `2 h 5 min`. */
export function durationText(ms: number): string {
  const at = UNITS.findIndex(([, size]) => ms >= size);
  if (at < 0) return `${Math.max(0, Math.round(ms))} ms`;
  const [unit, size] = UNITS[at]!;
  const next = UNITS[at + 1];
  const rest = next ? Math.floor((ms % size) / next[1]) : 0;
  return next ? `${Math.floor(ms / size)} ${unit}${rest > 0 ? ` ${rest} ${next[0]}` : ''}` : `${tenths().format(ms / size)} ${unit}`;
}
