// The rows of an operations log: of everything, or of one task.
import { A } from '@solidjs/router';
import type { UseQueryResult } from '@tanstack/solid-query';
import { createSignal, For, type JSX, Show } from 'solid-js';
import type { AuditLogResult, AuditLogSearchQueryResult } from '../api/generated/types';
import { Dialog, State, wordOf } from './parts';
import { type Column, Table } from './Table';
import { Time } from './time';

const actorOf = (row: AuditLogResult): string => (row.actorId === null ? wordOf(row.actorType ?? 'UNKNOWN') : `${row.actorId}${row.actorType === 'CLIENT' ? ' (client)' : ''}`);

/** All that is known of one operation; `text` shows a value otherwise than as it is. */
export function Entry(props: { of: AuditLogResult; text?: (name: string, value: string) => string }): JSX.Element {
  return (
    <table>
      <tbody>
        <For each={Object.entries(props.of).filter(([, value]) => value !== null && value !== '')}>
          {([name, value]) => (
            <tr>
              <th scope="row">{wordOf(name.replace(/[A-Z]/g, (letter) => `_${letter}`))}</th>
              <td>{props.text ? props.text(name, String(value)) : String(value)}</td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  );
}

/** A table of what was done, by whom, to what, and whether it worked; all that is known of one is behind "Details". */
export function AuditLog(props: { query: UseQueryResult<AuditLogSearchQueryResult, Error>; usual: string }): JSX.Element {
  const [shown, setShown] = createSignal<AuditLogResult>();
  const columns: Column<AuditLogResult>[] = [
    { head: 'When', cell: (row) => <Time of={row.timestamp} />, sort: 'timestamp' },
    { head: 'Operation', cell: (row) => wordOf(row.operationType), sort: 'operationType' },
    { head: 'Of', cell: (row) => wordOf(row.entityType), sort: 'entityType' },
    {
      head: 'Key or ID',
      cell: (row) => (
        <Show when={row.processInstanceKey && row.entityKey === row.processInstanceKey} fallback={<span class="key">{row.entityKey || '–'}</span>}>
          <A href={`/operate/processes/${row.processInstanceKey}`}>{row.entityKey}</A>
        </Show>
      ),
      sort: 'entityKey',
    },
    { head: 'By', cell: actorOf, sort: 'actorId' },
    { head: 'Result', cell: (row) => <State of={row.result === 'FAIL' ? 'FAILED' : 'COMPLETED'} word={row.result === 'FAIL' ? 'Refused' : 'Done'} />, sort: 'result' },
    {
      head: 'Details',
      cell: (row) => (
        <button class="plain" aria-label={`Show details of ${row.auditLogKey}`} onClick={() => setShown(row)}>
          Show
        </button>
      ),
    },
  ];
  return (
    <>
      <Table label="Operations log" query={props.query} columns={columns} usual={props.usual} empty="Nothing was done, or nothing that you may see." />
      <Show when={shown()}>
        {(row) => (
          <Dialog title={`${wordOf(row().operationType)} ${wordOf(row().entityType).toLowerCase()}`} onClose={() => setShown(undefined)}>
            <Entry of={row()} />
          </Dialog>
        )}
      </Show>
    </>
  );
}
