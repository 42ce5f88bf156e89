import type { SearchQueryPageResponse } from '../api/generated/types';

const format = new Intl.NumberFormat('en');
export const number = (value: number): string => format.format(value);

/** How many a search has found; it says so where the server has stopped counting. */
export const total = (page: SearchQueryPageResponse | undefined): string =>
  page ? `${page.hasMoreTotalItems ? 'at least ' : ''}${number(page.totalItems)}` : '…';
