// The rows of an operations log: of everything, of one instance, or of one task.
import { A } from '@solidjs/router';
import type { UseQueryResult } from '@tanstack/solid-query';
import { createSignal, For, type JSX, Show } from 'solid-js';
import { searchAuditLogs, searchUserTaskAuditLogs } from '../api/generated/operations';
import type { AuditLogFilter, AuditLogResult, AuditLogSearchQueryResult } from '../api/generated/types';
import { known, t } from '../language';
import { useRead } from '../query';
import { mayUse } from '../session';
import { Dialog, innerWordOf, State, wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';
import { exactText } from '../ui/times';

const SORTS = ['timestamp', 'operationType', 'entityKey', 'actorId', 'result', 'processInstanceKey'] as const;

const actorOf = (row: AuditLogResult): string =>
  row.actorId === null ? wordOf(row.actorType ?? 'UNKNOWN') : row.actorType === 'CLIENT' ? t('ui.log.client', { id: row.actorId }) : row.actorId;
const operationOf = (row: AuditLogResult): string =>
  t('ui.log.entry', { operation: wordOf(row.operationType), entity: innerWordOf(row.batchOperationType ?? row.entityType) });
/** The name of a field; one without a message is told as the API has it. */
const fieldOf = (name: string): string => known(`ui.field.${name}`) ?? wordOf(name.replace(/[A-Z]/g, (letter) => `_${letter}`));

/** All that is known of one operation. */
function Entry(props: { of: AuditLogResult }): JSX.Element {
  return (
    <table>
      <tbody>
        <For each={Object.entries(props.of).filter(([, value]) => value !== null && value !== '')}>
          {([name, value]) => (
            <tr>
              <th scope="row">{fieldOf(name)}</th>
              <td>{name === 'timestamp' ? exactText(String(value)) : String(value)}</td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  );
}

function Instance(props: { of: string | null }): JSX.Element {
  return (
    <Show when={props.of} fallback="–">
      {(key) => (
        <Show when={mayUse('operate')} fallback={<span class="key">{key()}</span>}>
          <A class="key" href={`/operate/processes/${key()}/operations-log`}>
            {key()}
          </A>
        </Show>
      )}
    </Show>
  );
}

/** A table of operations: when, of which thing, by whom, and whether they worked; all of one is behind "Details". */
function LogTable(props: { query: UseQueryResult<AuditLogSearchQueryResult, Error>; isOfOne: boolean }): JSX.Element {
  const [shown, setShown] = createSignal<AuditLogResult>();
  const instance = (): Column<AuditLogResult> => ({ head: t('ui.log.instance'), cell: (row) => <Instance of={row.processInstanceKey} />, sort: 'processInstanceKey' });
  const columns = (): Column<AuditLogResult>[] => [
    { head: t('ui.log.when'), cell: (row) => <Time of={row.timestamp} />, sort: 'timestamp' },
    { head: t('ui.log.operation'), cell: operationOf, sort: 'operationType' },
    { head: t('ui.log.of'), cell: (row) => row.entityDescription || <span class="key">{row.entityKey || '–'}</span>, sort: 'entityKey' },
    ...(props.isOfOne ? [] : [instance()]),
    { head: t('ui.log.by'), cell: actorOf, sort: 'actorId' },
    { head: t('ui.log.result'), cell: (row) => <State of={row.result === 'FAIL' ? 'FAILED' : 'COMPLETED'} word={row.result === 'FAIL' ? t('ui.log.refused') : t('ui.log.done')} />, sort: 'result' },
    {
      head: t('ui.log.details'),
      cell: (row) => (
        <button class="plain" aria-label={t('ui.log.showOf', { key: row.auditLogKey })} onClick={() => setShown(row)}>
          {t('ui.show')}
        </button>
      ),
    },
  ];
  return (
    <>
      <Table label={t('page.Operations log')} query={props.query} columns={columns()} usual="timestamp:desc" empty={t('ui.log.empty')} />
      <Show when={shown()}>
        {(row) => (
          <Dialog title={operationOf(row())} onClose={() => setShown(undefined)}>
            <Entry of={row()} />
          </Dialog>
        )}
      </Show>
    </>
  );
}

const usePlaceOfLog = () => usePlace(SORTS, { field: 'timestamp', order: 'DESC' });

/** Operations by a filter; `isOfOne` leaves out the instance, which is the same in all rows. */
export function Log(props: { filter: AuditLogFilter; isOfOne?: boolean }): JSX.Element {
  const { sort, page } = usePlaceOfLog();
  const found = useRead(searchAuditLogs, () => ({ body: { filter: props.filter, sort: sort(), page: page() }, live: true }));
  return <LogTable query={found} isOfOne={props.isOfOne ?? false} />;
}

export function LogOfTask(props: { taskKey: string }): JSX.Element {
  const { sort, page } = usePlaceOfLog();
  const found = useRead(searchUserTaskAuditLogs, () => ({ path: { userTaskKey: props.taskKey }, body: { sort: sort(), page: page() }, live: true, keep: false }));
  return <LogTable query={found} isOfOne />;
}
