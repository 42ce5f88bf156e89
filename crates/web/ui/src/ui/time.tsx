import { createSignal, type JSX } from 'solid-js';
import { locale } from '../language';

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];
const TICK_MS = 15_000;

const [now, setNow] = createSignal(Date.now());
setInterval(() => document.visibilityState === 'visible' && setNow(Date.now()), TICK_MS);

export function relativeText(moment: string, at = Date.now()): string {
  const seconds = Math.round((Date.parse(moment) - at) / 1000);
  const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return new Intl.RelativeTimeFormat(locale(), { numeric: 'auto', style: 'short' }).format(Math.trunc(seconds / size), unit);
}

export const exactText = (moment: string): string => new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(moment));

const UNITS: [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

/** A length of time by its two largest units: `2 h 5 min`. */
export function durationText(ms: number): string {
  const at = UNITS.findIndex(([, size]) => ms >= size);
  if (at < 0) return `${Math.max(0, Math.round(ms))} ms`;
  const [unit, size] = UNITS[at]!;
  const next = UNITS[at + 1];
  const rest = next ? Math.floor((ms % size) / next[1]) : 0;
  return next ? `${Math.floor(ms / size)} ${unit}${rest > 0 ? ` ${rest} ${next[0]}` : ''}` : `${new Intl.NumberFormat(locale(), { minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(ms / size)} ${unit}`;
}

/** A moment, relative to now, with the exact one in its title. */
export function Time(props: { of: string | null | undefined }): JSX.Element {
  return (
    <>
      {props.of ? (
        <time dateTime={props.of} title={exactText(props.of)}>
          {relativeText(props.of, Math.max(now(), Date.now() - TICK_MS))}
        </time>
      ) : (
        '–'
      )}
    </>
  );
}
