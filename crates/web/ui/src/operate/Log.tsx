import { A, useSearchParams } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import { searchAuditLogs } from '../api/generated/operations';
import type { AuditLogFilter, AuditLogResult } from '../api/generated/types';
import { language, t } from '../language';
import { useRead } from '../query';
import { Entry } from '../ui/AuditLog';
import { between, moment, OPERATIONS, RESULTS } from '../ui/logFilter';
import { Dialog, Field, State, wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';
import { exactText } from '../ui/times';
import { Views } from '../views/Views';

const SORTS = ['timestamp', 'operationType', 'entityType', 'actorId', 'result', 'processInstanceKey'] as const;
const ENTITIES = ['BATCH', 'DECISION', 'INCIDENT', 'JOB', 'PROCESS_INSTANCE', 'RESOURCE', 'USER_TASK', 'VARIABLE', 'AUTHORIZATION', 'CLIENT', 'GROUP', 'MAPPING_RULE', 'ROLE', 'TENANT', 'USER'] as const;

/** The operation in words: English goes on with small letters. */
function what(row: AuditLogResult): string {
  const entity = wordOf(row.batchOperationType ?? row.entityType);
  return t('lists.log.what', { operation: wordOf(row.operationType), entity: language() === 'en' ? entity.toLowerCase() : entity });
}

const knownColumns = (): Column<AuditLogResult>[] => [
  { head: t('lists.when'), cell: (row) => <Time of={row.timestamp} />, sort: 'timestamp' },
  { head: t('lists.what'), cell: what, sort: 'operationType' },
  { head: t('lists.log.result'), cell: (row) => <State of={row.result === 'FAIL' ? 'FAILED' : 'SUCCESS'} />, sort: 'result' },
  { head: t('lists.log.who'), cell: (row) => row.actorId ?? wordOf(row.actorType ?? 'UNKNOWN'), sort: 'actorId' },
  { head: t('lists.log.of'), cell: (row) => row.entityDescription || <span class="key">{row.entityKey}</span> },
  {
    head: t('lists.instance'),
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
  const columns = (): Column<AuditLogResult>[] => [
    ...knownColumns(),
    {
      head: t('lists.details'),
      cell: (row) => (
        <button class="plain" aria-label={t('lists.log.detailsOf', { key: row.auditLogKey })} onClick={() => setShown(row)}>
          {t('lists.details')}
        </button>
      ),
    },
  ];
  return (
    <>
      <Table label={t('page.Operations log')} query={found} columns={columns()} usual="timestamp:desc" empty={t('lists.log.noMatch')} />
      <Show when={shown()}>
        {(row) => (
          <Dialog title={t('lists.log.operation')} onClose={() => setShown(undefined)}>
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
        <option value="">{t('lists.all')}</option>
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
      <div class="row">
        <h1>{t('page.Operations log')}</h1>
        <span class="spacer" />
        <Views page="operate/operations-log" />
      </div>
      <div class="row" role="search" aria-label={t('lists.filter')}>
        {choice(t('lists.log.operation'), 'operationType', OPERATIONS)}
        {choice(t('lists.log.kind'), 'entityType', ENTITIES)}
        {choice(t('lists.log.result'), 'result', RESULTS)}
        <Field label={t('lists.log.who')}>
          <input type="search" value={query.actor ?? ''} onChange={(event) => set('actor', event.currentTarget.value.trim())} />
        </Field>
        <Field label={t('lists.log.instanceKey')}>
          <input type="search" value={query.processInstance ?? ''} onChange={(event) => set('processInstance', event.currentTarget.value.trim())} />
        </Field>
        {date(t('lists.log.from'), 'from')}
        {date(t('lists.log.to'), 'to')}
      </div>
      <LogTable filter={filter()} />
    </main>
  );
}
