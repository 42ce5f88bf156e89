import type { BatonCount, SearchQueryPageResponse } from '../api/generated/types';
import { count, type Key, t } from '../language';
import { formatter } from './times';

const plain = formatter((of) => new Intl.NumberFormat(of));
export const number = (value: number): string => plain().format(value);

/** How many a search has found; it says so where the server has stopped counting. */
export const total = (page: Pick<SearchQueryPageResponse, 'totalItems' | 'hasMoreTotalItems'> | undefined): string =>
  page ? (page.hasMoreTotalItems ? t('part.atLeast', { count: number(page.totalItems) }) : number(page.totalItems)) : '…';

type Words<Other extends Key> = [one: Key, other: Other, values?: Parameters<typeof count<Key, Other>>[3]];

/** The same in the message for one or for any other number. */
export const totalOf = <Other extends Key>(page: Parameters<typeof total>[0], ...[one, other, values]: Words<Other>): string =>
  count(page?.totalItems ?? 0, one, other, { ...values, count: total(page) } as NonNullable<typeof values>);

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
