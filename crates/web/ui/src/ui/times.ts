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

/** A moment of a field or an address as the API takes it; of other texts none. */
export const momentOf = (text: string | null | undefined): string | undefined => (text && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : undefined);

/** A moment as a field of the type `datetime-local` has it. */
export function localText(moment: string | undefined): string {
  if (!moment) return '';
  const date = new Date(moment);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const UNITS: [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];
const whole = formatter((of) => new Intl.NumberFormat(of, { maximumFractionDigits: 0 }));
const tenths = formatter((of) => new Intl.NumberFormat(of, { minimumFractionDigits: 1, maximumFractionDigits: 1 }));

/** A length of time by its two largest units, `2 h 5 min`; tenths of a second below ten. */
export function durationText(ms: number): string {
  const at = UNITS.findIndex(([, size]) => ms >= size);
  if (at < 0) return `${Math.max(0, Math.round(ms))} ms`;
  const [unit, size] = UNITS[at]!;
  const below = UNITS[at + 1];
  if (!below) return `${(ms < 10_000 ? tenths : whole)().format(ms / size)} ${unit}`;
  const rest = Math.floor((ms % size) / below[1]);
  return `${Math.floor(ms / size)} ${unit}${rest > 0 ? ` ${rest} ${below[0]}` : ''}`;
}
