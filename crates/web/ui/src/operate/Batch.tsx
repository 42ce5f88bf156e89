import { A, useParams } from '@solidjs/router';
import { For, type JSX, Show } from 'solid-js';
import { cancelBatchOperation, getBatchOperation, resumeBatchOperation, searchBatchOperationItems, suspendBatchOperation } from '../api/generated/operations';
import type { BatchOperationItemResponse } from '../api/generated/types';
import { call, Problem } from '../api/http';
import { t } from '../language';
import { refresh, useRead } from '../query';
import { need } from '../rights';
import { number } from '../ui/numbers';
import { Action, Failure, State, wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';
import { BatchState } from './BatchState';

const SORTS = ['itemKey', 'processInstanceKey', 'state'] as const;
const columns = (): Column<BatchOperationItemResponse>[] => [
  { head: t('lists.state'), cell: (row) => <State of={row.state} />, sort: 'state' },
  {
    head: t('lists.processInstance'),
    cell: (row) => (
      <A class="key" href={`/operate/processes/${row.processInstanceKey}`}>
        {row.processInstanceKey}
      </A>
    ),
    sort: 'processInstanceKey',
  },
  { head: t('lists.batch.reason'), cell: (row) => row.errorMessage ?? '–' },
  { head: t('lists.when'), cell: (row) => <Time of={row.processedDate} /> },
];

const MAY_CHANGE = need('BATCH', 'UPDATE');

/** A batch operation while it works and after: how far it is, and why items failed. */
export default function Batch(): JSX.Element {
  const params = useParams<{ key: string }>();
  const key = () => decodeURIComponent(params.key);
  const { sort, page } = usePlace(SORTS, { field: 'itemKey', order: 'ASC' });
  const found = useRead(getBatchOperation, () => ({ path: { batchOperationKey: key() }, live: true }));
  const items = useRead(searchBatchOperationItems, () => ({ body: { filter: { batchOperationKey: key() }, sort: sort(), page: page() }, live: true }));
  const isOpen = () => ['CREATED', 'ACTIVE'].includes(found.data?.state ?? '');
  const act = (operation: typeof cancelBatchOperation | typeof suspendBatchOperation | typeof resumeBatchOperation) => async () => {
    await call(operation as typeof cancelBatchOperation, { path: { batchOperationKey: key() } });
    await refresh();
  };
  const isMissing = () => found.error instanceof Problem && found.error.status === 404;
  return (
    <main class="page">
      <Show when={isMissing()}>
        <h1>{t('lists.batch.missing')}</h1>
        <p>{t('lists.batch.missing.text', { key: key().slice(0, 100) })}</p>
      </Show>
      <Show when={!isMissing() && !found.data && found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data}>
        {(one) => (
          <>
            <div class="row">
              <BatchState of={one()} />
              <h1>{wordOf(one().batchOperationType)}</h1>
              <span class="key">{one().batchOperationKey}</span>
              <span class="muted">
                {t('lists.batch.startedBy', { actor: one().actorId ?? t('lists.batch.nobody') })} <Time of={one().startDate} />
              </span>
              <span class="spacer" />
              <Show when={isOpen()}>
                <Action needs={MAY_CHANGE} do={act(suspendBatchOperation)}>
                  {t('lists.suspend')}
                </Action>
              </Show>
              <Show when={one().state === 'SUSPENDED'}>
                <Action needs={MAY_CHANGE} do={act(resumeBatchOperation)}>
                  {t('lists.resume')}
                </Action>
              </Show>
              <Show when={isOpen() || one().state === 'SUSPENDED'}>
                <Action class="danger" needs={MAY_CHANGE} do={act(cancelBatchOperation)}>
                  {t('lists.cancel')}
                </Action>
              </Show>
            </div>
            <p role="status">
              <progress value={one().operationsCompletedCount + one().operationsFailedCount} max={Math.max(one().operationsTotalCount, 1)} aria-label={t('lists.batch.progress')} />{' '}
              {t('lists.batch.counts', { done: number(one().operationsCompletedCount), failed: number(one().operationsFailedCount), all: number(one().operationsTotalCount) })}
            </p>
            <For each={one().errors}>{(error) => <p class="failure">{t('lists.batch.partition', { partition: error.partitionId, error: error.message })}</p>}</For>
            <Table label={t('lists.batch.items')} query={items} columns={columns()} usual="itemKey:asc" empty={t('lists.batch.noItems')} />
          </>
        )}
      </Show>
    </main>
  );
}
