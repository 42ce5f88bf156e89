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
