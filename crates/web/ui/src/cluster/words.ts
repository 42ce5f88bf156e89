// The state of the server, in words.
import { count, locale, t } from '../language';
import { number } from '../ui/numbers';

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const STEP = 1024;

/** A size as people read it. */
export function bytesText(bytes: number): string {
  if (bytes < STEP) return count(Math.round(bytes), 'admin.disk.bytes.one', 'admin.disk.bytes.other');
  let [value, at] = [bytes / STEP, 0];
  while (value >= STEP && at < UNITS.length - 1) {
    value /= STEP;
    at += 1;
  }
  const digits = value >= 100 ? 0 : 1;
  return `${new Intl.NumberFormat(locale(), { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false }).format(value)} ${UNITS[at]}`;
}

export interface Disk {
  freeBytes: number;
  totalBytes: number;
  reservedBytes: number;
}

export function diskWords({ freeBytes, totalBytes, reservedBytes }: Disk): string {
  const values = { free: bytesText(freeBytes), total: bytesText(totalBytes), reserve: bytesText(reservedBytes) };
  return t(freeBytes <= reservedBytes ? 'admin.disk.full' : 'admin.disk.room', values);
}

type Fields = Record<string, unknown>;
const numberOf = (fields: Fields, name: string): number | undefined => (typeof fields[name] === 'number' ? (fields[name] as number) : undefined);

/** Flow control of a partition: what it lets in, and whether it holds anything back. */
export function flowWords(of: unknown): string[] {
  const fields = (of ?? {}) as Fields;
  const words: string[] = [];
  const [inFlight, limit] = [numberOf(fields, 'inFlight'), numberOf(fields, 'limit')];
  if (inFlight !== undefined && limit !== undefined) {
    words.push(inFlight >= limit ? t('admin.flow.full', { limit: number(limit) }) : t('admin.flow.taken', { count: number(inFlight), limit: number(limit) }));
  }
  const waiting = numberOf(fields, 'waiting');
  if (waiting) words.push(count(waiting, 'admin.flow.waiting.one', 'admin.flow.waiting.other'));
  const rejected = numberOf(fields, 'rejected');
  words.push(rejected ? count(rejected, 'admin.flow.rejected.one', 'admin.flow.rejected.other') : t('admin.flow.noneRejected'));
  const rate = (fields['writeRateLimit'] ?? {}) as Fields;
  const current = numberOf(rate, 'currentLimit');
  if (rate['enabled'] === true) words.push(current === undefined ? t('admin.flow.limited') : t('admin.flow.limit', { count: number(current) }));
  const throttling = (rate['throttling'] ?? {}) as Fields;
  const backlog = numberOf(throttling, 'acceptableBacklog');
  if (throttling['enabled'] === true) words.push(t('admin.flow.throttled', { count: backlog === undefined ? t('admin.flow.tooMany') : number(backlog) }));
  return words;
}

export function backlogWords(records: number, seconds: number): string {
  if (records === 0) return t('admin.exporters.upToDate');
  const age = seconds < 1 ? t('admin.exporters.age.moment') : seconds < 120 ? `${Math.round(seconds)} s` : seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
  return count(records, 'admin.exporters.behind.one', 'admin.exporters.behind.other', { age });
}
