import { A } from '@solidjs/router';
import type { JSX } from 'solid-js';
import { searchBatchOperations } from '../api/generated/operations';
import type { BatchOperationResponse } from '../api/generated/types';
import { t } from '../language';
import { useRead } from '../query';
import { number } from '../ui/numbers';
import { wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';
import { Views } from '../views/Views';
import { BatchState } from './BatchState';

const SORTS = ['operationType', 'state', 'startDate', 'endDate', 'actorId'] as const;
const columns = (): Column<BatchOperationResponse>[] => [
  { head: t('lists.state'), cell: (row) => <BatchState of={row} />, sort: 'state' },
  { head: t('lists.what'), cell: (row) => <A href={`/operate/batch-operations/${encodeURIComponent(row.batchOperationKey)}`}>{wordOf(row.batchOperationType)}</A>, sort: 'operationType' },
  { head: t('lists.batch.done'), cell: (row) => number(row.operationsCompletedCount), class: 'number' },
  { head: t('lists.batch.failed'), cell: (row) => number(row.operationsFailedCount), class: 'number' },
  { head: t('lists.batch.inAll'), cell: (row) => number(row.operationsTotalCount), class: 'number' },
  { head: t('lists.by'), cell: (row) => row.actorId ?? '–', sort: 'actorId' },
  { head: t('lists.started'), cell: (row) => <Time of={row.startDate} />, sort: 'startDate' },
  { head: t('lists.ended'), cell: (row) => <Time of={row.endDate} />, sort: 'endDate' },
  { head: t('lists.key'), cell: (row) => <span class="key">{row.batchOperationKey}</span> },
];

/** Batch operations: changes of many instances at once. */
export default function Batches(): JSX.Element {
  const { sort, page } = usePlace(SORTS, { field: 'startDate', order: 'DESC' });
  const found = useRead(searchBatchOperations, () => ({ body: { sort: sort(), page: page() }, live: true }));
  return (
    <main class="page">
      <div class="row">
        <h1>{t('page.Batch operations')}</h1>
        <span class="spacer" />
        <Views page="operate/batch-operations" />
      </div>
      <Table label={t('page.Batch operations')} query={found} columns={columns()} usual="startDate:desc" empty={t('lists.batch.none')} />
    </main>
  );
}
