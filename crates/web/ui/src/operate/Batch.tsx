import { A, useParams } from '@solidjs/router';
import { For, type JSX, Show } from 'solid-js';
import { cancelBatchOperation, getBatchOperation, resumeBatchOperation, searchBatchOperationItems, suspendBatchOperation } from '../api/generated/operations';
import type { BatchOperationItemResponse } from '../api/generated/types';
import { call, Problem } from '../api/http';
import { refresh, useRead } from '../query';
import { number } from '../ui/numbers';
import { Action, Failure, State, wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';

const SORTS = ['itemKey', 'processInstanceKey', 'state'] as const;
const COLUMNS: Column<BatchOperationItemResponse>[] = [
  { head: 'State', cell: (row) => <State of={row.state} />, sort: 'state' },
  {
    head: 'Process instance',
    cell: (row) => (
      <A class="key" href={`/operate/processes/${row.processInstanceKey}`}>
        {row.processInstanceKey}
      </A>
    ),
    sort: 'processInstanceKey',
  },
  { head: 'Reason', cell: (row) => row.errorMessage ?? '–' },
  { head: 'When', cell: (row) => <Time of={row.processedDate} /> },
];

/** A batch operation while it works and after: how far it is, and why items failed. */
export default function Batch(): JSX.Element {
  const key = () => decodeURIComponent(useParams<{ key: string }>().key);
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
        <h1>There is no such batch operation</h1>
        <p>
          No batch operation that you may see has the key <code>{key().slice(0, 100)}</code>.
        </p>
      </Show>
      <Show when={!isMissing() && !found.data && found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data}>
        {(one) => (
          <>
            <div class="row">
              <State of={one().state} />
              <h1>{wordOf(one().batchOperationType)}</h1>
              <span class="key">{one().batchOperationKey}</span>
              <span class="muted">
                by {one().actorId ?? 'nobody in particular'}, started <Time of={one().startDate} />
              </span>
              <span class="spacer" />
              <Show when={isOpen()}>
                <Action do={act(suspendBatchOperation)}>Suspend</Action>
                <Action class="danger" do={act(cancelBatchOperation)}>
                  Cancel
                </Action>
              </Show>
              <Show when={one().state === 'SUSPENDED'}>
                <Action do={act(resumeBatchOperation)}>Resume</Action>
              </Show>
            </div>
            <p role="status">
              <progress value={one().operationsCompletedCount + one().operationsFailedCount} max={Math.max(one().operationsTotalCount, 1)} aria-label="Progress" /> {number(one().operationsCompletedCount)} done,{' '}
              {number(one().operationsFailedCount)} failed, {number(one().operationsTotalCount)} in all
            </p>
            <For each={one().errors}>{(error) => <p class="failure">{`Partition ${error.partitionId}: ${error.message}`}</p>}</For>
            <Table label="Items" query={items} columns={COLUMNS} usual="itemKey:asc" empty="There are no items yet, or nothing matched." />
          </>
        )}
      </Show>
    </main>
  );
}
