import type { SearchQueryPageResponse } from '../api/generated/types';

const format = new Intl.NumberFormat('en');
export const number = (value: number): string => format.format(value);

/** How many a search has found; it says so where the server has stopped counting. */
export const total = (page: SearchQueryPageResponse | undefined): string =>
  page ? `${page.hasMoreTotalItems ? 'at least ' : ''}${number(page.totalItems)}` : '…';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const STEP = 1024;

/** `1.5 MiB` */
export function bytes(count: number): string {
  let value = count;
  let at = 0;
  for (; value >= STEP && at < UNITS.length - 1; at += 1) value /= STEP;
  return `${number(Math.round(value * 10) / 10)} ${UNITS[at]}`;
}
