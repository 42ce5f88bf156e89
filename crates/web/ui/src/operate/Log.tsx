import { A, useSearchParams } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import { searchAuditLogs } from '../api/generated/operations';
import type { AuditLogFilter, AuditLogResult } from '../api/generated/types';
import { useRead } from '../query';
import { Entry } from '../ui/AuditLog';
import { between, moment, OPERATIONS, RESULTS } from '../ui/logFilter';
import { Dialog, Field, State, wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { exactText, Time } from '../ui/time';

const SORTS = ['timestamp', 'operationType', 'entityType', 'actorId', 'result', 'processInstanceKey'] as const;
const ENTITIES = ['BATCH', 'DECISION', 'INCIDENT', 'JOB', 'PROCESS_INSTANCE', 'RESOURCE', 'USER_TASK', 'VARIABLE', 'AUTHORIZATION', 'CLIENT', 'GROUP', 'MAPPING_RULE', 'ROLE', 'TENANT', 'USER'] as const;

const COLUMNS: Column<AuditLogResult>[] = [
  { head: 'When', cell: (row) => <Time of={row.timestamp} />, sort: 'timestamp' },
  { head: 'What', cell: (row) => `${wordOf(row.operationType)} ${wordOf(row.batchOperationType ?? row.entityType).toLowerCase()}`, sort: 'operationType' },
  { head: 'Result', cell: (row) => <State of={row.result === 'FAIL' ? 'FAILED' : 'SUCCESS'} />, sort: 'result' },
  { head: 'Who', cell: (row) => row.actorId ?? wordOf(row.actorType ?? 'UNKNOWN'), sort: 'actorId' },
  { head: 'Of', cell: (row) => row.entityDescription || <span class="key">{row.entityKey}</span> },
  {
    head: 'Instance',
    cell: (row) => (
      <Show when={row.processInstanceKey} fallback="–">
        {(key) => (
          <A class="key" href={`/operate/processes/${key()}/operations-log`}>
            {key()}
          </A>
        )}
      </Show>
    ),
    sort: 'processInstanceKey',
  },
];

/** Operations that somebody has asked for, and who. */
export function LogTable(props: { filter: AuditLogFilter }): JSX.Element {
  const { sort, page } = usePlace(SORTS, { field: 'timestamp', order: 'DESC' });
  const [shown, setShown] = createSignal<AuditLogResult>();
  const found = useRead(searchAuditLogs, () => ({ body: { filter: props.filter, sort: sort(), page: page() }, live: true }));
  const columns: Column<AuditLogResult>[] = [...COLUMNS, { head: 'Details', cell: (row) => <button class="plain" aria-label={`Details of ${row.auditLogKey}`} onClick={() => setShown(row)}>Details</button> }];
  return (
    <>
      <Table label="Operations log" query={found} columns={columns} usual="timestamp:desc" empty="No operation matches." />
      <Show when={shown()}>
        {(row) => (
          <Dialog title="Operation" onClose={() => setShown(undefined)}>
            <Entry of={row()} text={(name, value) => (name === 'timestamp' ? exactText(value) : value)} />
          </Dialog>
        )}
      </Show>
    </>
  );
}

const known = <Value extends string>(all: readonly Value[], text: string | undefined) => all.find((one) => one === text);

/** The operations log: filters and table, all in the URL. */
export default function Log(): JSX.Element {
  const [query, setQuery] = useSearchParams<{ operationType: string; entityType: string; result: string; actor: string; processInstance: string; from: string; to: string }>();
  const set = (name: string, value: string) => setQuery({ [name]: value || null, after: null, before: null });
  const filter = (): AuditLogFilter => {
    const [operationType, entityType, result] = [known(OPERATIONS, query.operationType), known(ENTITIES, query.entityType), known(RESULTS, query.result)];
    return {
      ...(operationType ? { operationType } : {}),
      ...(entityType ? { entityType } : {}),
      ...(result ? { result } : {}),
      ...(query.actor ? { actorId: query.actor } : {}),
      ...(query.processInstance && /^\d{1,19}$/.test(query.processInstance) ? { processInstanceKey: query.processInstance } : {}),
      ...between(query.from, query.to),
    };
  };
  const choice = (label: string, name: 'operationType' | 'entityType' | 'result', all: readonly string[]) => (
    <Field label={label}>
      <select onChange={(event) => set(name, event.currentTarget.value)}>
        <option value="">all</option>
        <For each={all}>
          {(one) => (
            <option value={one} selected={query[name] === one}>
              {wordOf(one)}
            </option>
          )}
        </For>
      </select>
    </Field>
  );
  const local = (text: string | undefined) => {
    const found = moment(text);
    return found ? new Date(Date.parse(found) - new Date(found).getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : '';
  };
  const date = (label: string, name: 'from' | 'to') => (
    <Field label={label}>
      <input type="datetime-local" value={local(query[name])} onChange={(event) => set(name, moment(event.currentTarget.value) ?? '')} />
    </Field>
  );
  return (
    <main class="page">
      <h1>Operations log</h1>
      <div class="row" role="search" aria-label="Filter">
        {choice('Operation', 'operationType', OPERATIONS)}
        {choice('Kind', 'entityType', ENTITIES)}
        {choice('Result', 'result', RESULTS)}
        <Field label="Who">
          <input type="search" value={query.actor ?? ''} onChange={(event) => set('actor', event.currentTarget.value.trim())} />
        </Field>
        <Field label="Key of the instance">
          <input type="search" value={query.processInstance ?? ''} onChange={(event) => set('processInstance', event.currentTarget.value.trim())} />
        </Field>
        {date('From', 'from')}
        {date('To', 'to')}
      </div>
      <LogTable filter={filter()} />
    </main>
  );
}
