import { A } from '@solidjs/router';
import type { JSX } from 'solid-js';
import { searchBatchOperations } from '../api/generated/operations';
import type { BatchOperationResponse } from '../api/generated/types';
import { useRead } from '../query';
import { number } from '../ui/numbers';
import { State, wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';

const SORTS = ['operationType', 'state', 'startDate', 'endDate', 'actorId'] as const;
const COLUMNS: Column<BatchOperationResponse>[] = [
  { head: 'State', cell: (row) => <State of={row.state} />, sort: 'state' },
  { head: 'What', cell: (row) => <A href={`/operate/batch-operations/${encodeURIComponent(row.batchOperationKey)}`}>{wordOf(row.batchOperationType)}</A>, sort: 'operationType' },
  { head: 'Done', cell: (row) => number(row.operationsCompletedCount), class: 'number' },
  { head: 'Failed', cell: (row) => number(row.operationsFailedCount), class: 'number' },
  { head: 'In all', cell: (row) => number(row.operationsTotalCount), class: 'number' },
  { head: 'By', cell: (row) => row.actorId ?? '–', sort: 'actorId' },
  { head: 'Started', cell: (row) => <Time of={row.startDate} />, sort: 'startDate' },
  { head: 'Ended', cell: (row) => <Time of={row.endDate} />, sort: 'endDate' },
  { head: 'Key', cell: (row) => <span class="key">{row.batchOperationKey}</span> },
];

/** Batch operations: changes of many instances at once. */
export default function Batches(): JSX.Element {
  const { sort, page } = usePlace(SORTS, { field: 'startDate', order: 'DESC' });
  const found = useRead(searchBatchOperations, () => ({ body: { sort: sort(), page: page() }, live: true }));
  return (
    <main class="page">
      <h1>Batch operations</h1>
      <Table label="Batch operations" query={found} columns={COLUMNS} usual="startDate:desc" empty="There are no batch operations." />
    </main>
  );
}
