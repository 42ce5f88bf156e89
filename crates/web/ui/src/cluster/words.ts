// The state of the server, in words.

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const STEP = 1024;

/** A size as people read it. */
export function bytesText(bytes: number): string {
  let [value, at] = [bytes, 0];
  while (value >= STEP && at < UNITS.length - 1) {
    value /= STEP;
    at += 1;
  }
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[at]}`;
}

export interface Disk {
  freeBytes: number;
  totalBytes: number;
  reservedBytes: number;
}

export function diskWords({ freeBytes, totalBytes, reservedBytes }: Disk): string {
  const room = `${bytesText(freeBytes)} of ${bytesText(totalBytes)} are free`;
  if (freeBytes <= reservedBytes) return `${room}. That is less than the reserve of ${bytesText(reservedBytes)}: new work is refused until there is more.`;
  return `${room}; new work is refused when less than ${bytesText(reservedBytes)} are left.`;
}

type Fields = Record<string, unknown>;
const numberOf = (fields: Fields, name: string): number | undefined => (typeof fields[name] === 'number' ? (fields[name] as number) : undefined);

/** Flow control of a partition: what it lets in, and whether it holds anything back. */
export function flowWords(of: unknown): string[] {
  const fields = (of ?? {}) as Fields;
  const words: string[] = [];
  const [inFlight, limit] = [numberOf(fields, 'inFlight'), numberOf(fields, 'limit')];
  if (inFlight !== undefined && limit !== undefined) {
    words.push(inFlight >= limit ? `All ${limit} places for requests are taken: more are refused until some are done.` : `${inFlight} of ${limit} places for requests are taken.`);
  }
  const waiting = numberOf(fields, 'waiting');
  if (waiting) words.push(`${waiting} requests wait for a place.`);
  const rejected = numberOf(fields, 'rejected');
  words.push(rejected ? `${rejected} requests were refused since the start.` : 'No request was refused since the start.');
  const rate = (fields['writeRateLimit'] ?? {}) as Fields;
  const current = numberOf(rate, 'currentLimit');
  if (rate['enabled'] === true) words.push(current === undefined ? 'Writing has a limit.' : `At most ${current} records are written per second.`);
  const throttling = (rate['throttling'] ?? {}) as Fields;
  if (throttling['enabled'] === true) words.push(`Writing slows down when exporters are more than ${numberOf(throttling, 'acceptableBacklog') ?? 'too many'} records behind.`);
  return words;
}

export function backlogWords(records: number, seconds: number): string {
  if (records === 0) return 'has everything';
  const age = seconds < 1 ? 'less than a second' : seconds < 120 ? `${Math.round(seconds)} s` : seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
  return `${records.toLocaleString('en')} records behind, ${age}`;
}
