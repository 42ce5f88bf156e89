// A table of one page of a search, with orders in its head and a pager below. All of its state is in the URL.
import { useSearchParams } from '@solidjs/router';
import type { UseQueryResult } from '@tanstack/solid-query';
import { createMemo, For, type JSX, Show } from 'solid-js';
import type { SearchQueryPageResponse } from '../api/generated/types';
import { t } from '../language';
import { CopyList } from '../views/CopyAs';
import { fit } from './fit';
import { total } from './numbers';
import { Failure, held } from './parts';

export const PAGE_SIZE = 50;

export interface Column<Row> {
  head: string;
  cell: (row: Row) => JSX.Element;
  /** The field of the API to order by. */
  sort?: string;
  class?: string;
}

interface Found<Row> {
  items: Row[];
  page: SearchQueryPageResponse;
}

interface Place {
  after?: string;
  before?: string;
  sort?: string;
}

/** Page and order of a search as the URL has them: `sort=field:asc`, and the cursor of the page. */
export function usePlace<Field extends string>(fields: readonly Field[], usual: { field: Field; order: 'ASC' | 'DESC' }) {
  const [query] = useSearchParams<{ after: string; before: string; sort: string }>();
  const sort = () => {
    const [field, order] = (query.sort ?? '').split(':');
    const known = fields.find((one) => one === field);
    return [known ? { field: known, order: order === 'desc' ? ('DESC' as const) : ('ASC' as const) } : usual];
  };
  const page = () =>
    query.after
      ? { after: query.after, limit: PAGE_SIZE }
      : query.before
        ? { before: query.before, limit: PAGE_SIZE }
        : { limit: PAGE_SIZE };
  return { sort, page };
}

export function Table<Row>(props: {
  label: string;
  query: UseQueryResult<Found<Row>, Error>;
  columns: Column<Row>[];
  empty: JSX.Element;
  /** The order that holds when the URL names none, as `field:desc`. */
  usual?: string;
  /** Rows that are chosen, on this page and others. */
  chosen?: readonly Row[] | undefined;
  select?: { isChosen: (row: Row) => boolean; toggle: (row: Row) => void; all: (rows: Row[]) => void; name: (row: Row) => string };
}): JSX.Element {
  const [place, setPlace] = useSearchParams<Place & Record<string, string>>();
  const rows = held(() => props.query.data?.items ?? []);
  // Once for all rows: the heads are made anew when the language changes.
  const columns = createMemo(() => props.columns);
  const sorted = () => (place.sort ?? props.usual ?? '').split(':');
  const order = (field: string) =>
    setPlace({ sort: `${field}:${sorted()[0] === field && sorted()[1] !== 'desc' ? 'desc' : 'asc'}`, after: null, before: null });
  const direction = (field: string | undefined) =>
    field !== undefined && sorted()[0] === field ? (sorted()[1] === 'desc' ? 'descending' : 'ascending') : undefined;
  // The row that was ticked last, and whether Shift was held at the click that a change follows.
  let last: number | undefined;
  let isRange = false;
  /** Ticks a row, and with Shift all rows from the last one on as this one. */
  const tick = (select: NonNullable<typeof props.select>, at: number) => {
    const wanted = !select.isChosen(rows()[at]!);
    const [from, to] = isRange && last !== undefined && last < rows().length ? [Math.min(last, at), Math.max(last, at)] : [at, at];
    for (const row of rows().slice(from, to + 1)) if (select.isChosen(row) !== wanted) select.toggle(row);
    last = at;
  };
  const areAllChosen = () => rows().length > 0 && rows().every((row) => props.select?.isChosen(row));
  return (
    <div class="table" classList={{ stale: props.query.isPlaceholderData }}>
      <Show when={props.query.error}>{(error) => <Failure of={error()} again={() => void props.query.refetch()} />}</Show>
      <Show when={props.query.data} fallback={<Show when={!props.query.error}><p class="empty">{t('part.loading')}</p></Show>}>
        <Show when={rows().length > 0} fallback={<div class="empty">{props.empty}</div>}>
          <div ref={fit} class="scroll" tabindex="0" role="region" aria-label={props.label}>
            <table aria-label={props.label}>
              <thead>
                <tr>
                  <Show when={props.select}>
                    {(select) => (
                      <th scope="col">
                        <input type="checkbox" aria-label={t('ui.table.all')} checked={areAllChosen()} onChange={() => select().all(areAllChosen() ? [] : rows())} />
                      </th>
                    )}
                  </Show>
                  <For each={columns()}>
                    {(column) => (
                      <th scope="col" class={column.class} aria-sort={direction(column.sort)}>
                        <Show when={column.sort} fallback={column.head}>
                          {(field) => (
                            <button class="plain" onClick={() => order(field())}>
                              {column.head} {direction(field()) === 'ascending' ? '↑' : direction(field()) ? '↓' : ''}
                            </button>
                          )}
                        </Show>
                      </th>
                    )}
                  </For>
                </tr>
              </thead>
              <tbody>
                <For each={rows()}>
                  {(row, at) => (
                    <tr>
                      <Show when={props.select}>
                        {(select) => (
                          <td>
                            <input type="checkbox" aria-label={t('ui.table.choose', { name: select().name(row) })} checked={select().isChosen(row)} onMouseDown={(event) => event.shiftKey && event.preventDefault()} onClick={(event) => (isRange = event.shiftKey)} onChange={() => tick(select(), at())} />
                          </td>
                        )}
                      </Show>
                      <For each={columns()}>{(column) => <td class={column.class}>{column.cell(row)}</td>}</For>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
          </div>
        </Show>
        <Pager page={props.query.data?.page} count={rows().length}>
          <CopyList of={props.query} chosen={props.chosen} />
        </Pager>
      </Show>
    </div>
  );
}

/** Ways to the next and the previous page of a search. */
export function Pager(props: { page: SearchQueryPageResponse | undefined; count: number; children?: JSX.Element }): JSX.Element {
  const [place, setPlace] = useSearchParams<{ after: string; before: string }>();
  const isFirst = () => !place.after && !place.before;
  const hasMore = () => props.count === PAGE_SIZE && (props.page?.hasMoreTotalItems || !isFirst() || (props.page?.totalItems ?? 0) > props.count);
  return (
    <div class="row" style={{ 'padding-top': '8px' }}>
      <span class="muted" role="status">
        {t('ui.table.total', { count: total(props.page) })}
      </span>
      <span class="spacer" />
      {props.children}
      <Show when={!isFirst() || hasMore()}>
        <button disabled={isFirst()} onClick={() => setPlace({ after: null, before: null })}>
          {t('ui.table.first')}
        </button>
        <button disabled={isFirst() || !props.page?.startCursor} onClick={() => setPlace({ before: props.page?.startCursor, after: null })}>
          {t('ui.table.previous')}
        </button>
        <button disabled={!hasMore() || !props.page?.endCursor} onClick={() => setPlace({ after: props.page?.endCursor, before: null })}>
          {t('ui.table.next')}
        </button>
      </Show>
    </div>
  );
}
