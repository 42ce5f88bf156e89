import type { BatonFigures } from '../api/generated/types';
import { number } from '../ui/numbers';
import { durationText } from '../ui/times';

/** Figures of elements, of all instances, or of an hour. */
export type Parts = BatonFigures & { wait: BatonFigures | null; work: BatonFigures | null };

/** Figures that heat and bars may show, by their names in the URL; messages have their words. */
const MEASURES = {
  totalMs: (parts) => parts.totalMs,
  p95Ms: (parts) => parts.p95Ms,
  p50Ms: (parts) => parts.p50Ms,
  maxMs: (parts) => parts.maxMs,
  count: (parts) => parts.count,
  waitMs: (parts) => parts.wait?.p95Ms,
  workMs: (parts) => parts.work?.p95Ms,
} as const satisfies Record<string, (parts: Parts) => number | undefined>;

export type Measure = keyof typeof MEASURES;
export const MEASURE_NAMES = Object.keys(MEASURES) as Measure[];

export const isMeasure = (text: string | undefined): text is Measure => text !== undefined && Object.hasOwn(MEASURES, text);

/** A value; nothing where there is none. */
export const valueOf = (parts: Parts, measure: Measure): number | undefined => MEASURES[measure](parts);

/** A value in words. */
export function valueText(parts: Parts, measure: Measure): string {
  const value = valueOf(parts, measure);
  if (value === undefined) return '–';
  return measure === 'count' ? number(value) : durationText(value);
}

const HOUR_MS = 3_600_000;

/** Each hour from the first to the last one, with its figures where there are any. */
export function everyHour<T extends { time: string }>(hours: readonly T[]): { time: number; told: T | undefined }[] {
  const [first, last] = [hours[0], hours.at(-1)];
  if (!first || !last) return [];
  const byTime = new Map(hours.map((one) => [Date.parse(one.time), one]));
  const [begin, end] = [Date.parse(first.time), Date.parse(last.time)];
  return Array.from({ length: (end - begin) / HOUR_MS + 1 }, (_, at) => begin + at * HOUR_MS).map((time) => ({ time, told: byTime.get(time) }));
}
