import type { BatonCount, SearchQueryPageResponse } from '../api/generated/types';
import { t } from '../language';
import { formatter } from './times';

const plain = formatter((of) => new Intl.NumberFormat(of));
export const number = (value: number): string => plain().format(value);

/** How many a search has found; it says so where the server has stopped counting. */
export const total = (page: Pick<SearchQueryPageResponse, 'totalItems' | 'hasMoreTotalItems'> | undefined): string =>
  page ? (page.hasMoreTotalItems ? t('part.atLeast', { count: number(page.totalItems) }) : number(page.totalItems)) : '…';

/** The same of an answer that counts further. */
export const counted = (answer: BatonCount | undefined): string =>
  total(answer && { totalItems: answer.count, hasMoreTotalItems: !answer.isExact });

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const STEP = 1024;

/** `1.5 MiB` */
export function bytes(count: number): string {
  let value = count;
  let at = 0;
  for (; value >= STEP && at < UNITS.length - 1; at += 1) value /= STEP;
  return `${number(Math.round(value * 10) / 10)} ${UNITS[at]}`;
}
