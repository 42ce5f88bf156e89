// The rows of an operations log: of everything, or of one task.
import { A } from '@solidjs/router';
import type { UseQueryResult } from '@tanstack/solid-query';
import { createSignal, For, type JSX, Show } from 'solid-js';
import type { AuditLogResult, AuditLogSearchQueryResult } from '../api/generated/types';
import { known, t } from '../language';
import { mayUse } from '../session';
import { Dialog, innerWordOf, State, wordOf } from './parts';
import { type Column, Table } from './Table';
import { Time } from './time';

const actorOf = (row: AuditLogResult): string =>
  row.actorId === null ? wordOf(row.actorType ?? 'UNKNOWN') : row.actorType === 'CLIENT' ? t('ui.log.client', { id: row.actorId }) : row.actorId;
/** The name of a field; one without a message is told as the API has it. */
const fieldOf = (name: string): string => known(`ui.field.${name}`) ?? wordOf(name.replace(/[A-Z]/g, (letter) => `_${letter}`));

/** All that is known of one operation; `text` shows a value otherwise than as it is. */
export function Entry(props: { of: AuditLogResult; text?: (name: string, value: string) => string }): JSX.Element {
  return (
    <table>
      <tbody>
        <For each={Object.entries(props.of).filter(([, value]) => value !== null && value !== '')}>
          {([name, value]) => (
            <tr>
              <th scope="row">{fieldOf(name)}</th>
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
  const columns = (): Column<AuditLogResult>[] => [
    { head: t('ui.log.when'), cell: (row) => <Time of={row.timestamp} />, sort: 'timestamp' },
    { head: t('ui.log.operation'), cell: (row) => wordOf(row.operationType), sort: 'operationType' },
    { head: t('ui.log.of'), cell: (row) => wordOf(row.entityType), sort: 'entityType' },
    {
      head: t('ui.log.key'),
      cell: (row) => (
        <Show when={mayUse('operate') && row.processInstanceKey && row.entityKey === row.processInstanceKey} fallback={<span class="key">{row.entityKey || '–'}</span>}>
          <A href={`/operate/processes/${row.processInstanceKey}`}>{row.entityKey}</A>
        </Show>
      ),
      sort: 'entityKey',
    },
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
      <Table label={t('page.Operations log')} query={props.query} columns={columns()} usual={props.usual} empty={t('ui.log.empty')} />
      <Show when={shown()}>
        {(row) => (
          <Dialog title={t('ui.log.entry', { operation: wordOf(row().operationType), entity: innerWordOf(row().entityType) })} onClose={() => setShown(undefined)}>
            <Entry of={row()} />
          </Dialog>
        )}
      </Show>
    </>
  );
}
