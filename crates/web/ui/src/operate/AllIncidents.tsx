import { A, useSearchParams } from '@solidjs/router';
import { createSignal, For, type JSX, lazy, Show } from 'solid-js';
import {
  getProcessDefinitionInstanceStatistics,
  getProcessInstanceStatisticsByDefinition,
  getProcessInstanceStatisticsByError,
  searchIncidents,
} from '../api/generated/operations';
import type { IncidentFilter, IncidentProcessInstanceStatisticsByErrorResult, IncidentResult } from '../api/generated/types';
import { count, t } from '../language';
import { refresh, useRead } from '../query';
import { ofAnyProcess, ofBatch } from '../rights';
import { number, total } from '../ui/numbers';
import { Action, Failure, Field, wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';
import { Views } from '../views/Views';
import { BulkDialog } from './Bulk';
import { useIncidentWork } from './IncidentMenu';
import { Retrying } from './Retrying';

const ResolveAllDialog = lazy(() => import('./act/ResolveAllDialog'));

const SORTS = ['creationTime', 'errorType', 'errorMessage', 'processDefinitionId', 'elementId', 'processInstanceKey'] as const;
const SHOWN = 20;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Ages by name: from so long ago, until so long ago. */
const AGES = {
  hour: { from: HOUR_MS, to: 0 },
  day: { from: DAY_MS, to: HOUR_MS },
  week: { from: 7 * DAY_MS, to: DAY_MS },
  older: { from: undefined, to: 7 * DAY_MS },
} as const;
type Age = keyof typeof AGES;
const TYPES = ['JOB_NO_RETRIES', 'UNHANDLED_ERROR_EVENT', 'IO_MAPPING_ERROR', 'CONDITION_ERROR', 'EXTRACT_VALUE_ERROR', 'CALLED_ELEMENT_ERROR', 'CALLED_DECISION_ERROR', 'DECISION_EVALUATION_ERROR', 'FORM_NOT_FOUND', 'MESSAGE_SIZE_EXCEEDED', 'RESOURCE_NOT_FOUND', 'EXECUTION_LISTENER_NO_RETRIES', 'TASK_LISTENER_NO_RETRIES', 'AD_HOC_SUB_PROCESS_NO_RETRIES', 'SECRET_RESOLUTION_ERROR', 'UNKNOWN'] as const;

/** Limits of an age, to the minute: a filter that changes with each millisecond would be asked for again and again. */
function between(age: Age): { $gt?: string; $lte: string } {
  const minute = Math.ceil(Date.now() / 60_000) * 60_000;
  const { from, to } = AGES[age];
  return { ...(from === undefined ? {} : { $gt: new Date(minute - from).toISOString() }), $lte: new Date(minute - to).toISOString() };
}

/** All open incidents: by error, by process, by age, and one by one. */
export default function AllIncidents(): JSX.Element {
  const [query, setQuery] = useSearchParams<{ process: string; errorType: string; message: string; age: string }>();
  const { sort, page } = usePlace(SORTS, { field: 'creationTime', order: 'DESC' });
  const set = (name: string, value: string | undefined) => setQuery({ [name]: value || null, after: null, before: null });
  const age = () => (Object.keys(AGES) as Age[]).find((one) => one === query.age);
  const type = () => TYPES.find((one) => one === query.errorType);
  const filter = (): IncidentFilter => ({
    state: 'ACTIVE',
    ...(query.process ? { processDefinitionId: query.process } : {}),
    ...(type() ? { errorType: type()! } : {}),
    ...(query.message ? { errorMessage: { $like: `*${query.message.replace(/[\\*?]/g, '\\$&')}*` } } : {}),
    ...(age() ? { creationTime: between(age()!) } : {}),
  });
  const found = useRead(searchIncidents, () => ({ body: { filter: filter(), sort: sort(), page: page() }, live: true }));
  const work = useIncidentWork(refresh);
  const columns = (): Column<IncidentResult>[] => [
    { head: t('lists.since'), cell: (row) => <Time of={row.creationTime} />, sort: 'creationTime' },
    { head: t('lists.type'), cell: (row) => wordOf(row.errorType), sort: 'errorType' },
    { head: t('lists.process'), cell: (row) => row.processDefinitionId, sort: 'processDefinitionId' },
    { head: t('lists.element'), cell: (row) => row.elementId, sort: 'elementId' },
    {
      head: t('lists.instance'),
      cell: (row) => (
        <A class="key" href={`/operate/processes/${row.processInstanceKey}/incidents?element=${encodeURIComponent(row.elementId)}`}>
          {row.processInstanceKey}
        </A>
      ),
      sort: 'processInstanceKey',
    },
    { head: t('lists.act'), cell: work.menu },
    { head: t('lists.message'), cell: (row) => row.errorMessage.slice(0, 500), sort: 'errorMessage', class: 'below' },
  ];
  return (
    <main class="page">
      <div class="row">
        <h1>{t('page.Incidents')}</h1>
        <span class="spacer" />
        <Views page="operate/incidents" />
      </div>
      <div class="grid">
        <ByError />
        <ByProcess onChoose={(id) => set('process', id)} />
        <ByAge chosen={age()} onChoose={(one) => set('age', one)} />
      </div>
      <div class="row" role="search" aria-label={t('lists.filter')}>
        <Field label={t('lists.type')}>
          <select onChange={(event) => set('errorType', event.currentTarget.value)}>
            <option value="">{t('lists.all')}</option>
            <For each={TYPES}>
              {(one) => (
                <option value={one} selected={query.errorType === one}>
                  {wordOf(one)}
                </option>
              )}
            </For>
          </select>
        </Field>
        <Field label={t('lists.incidents.messageHas')}>
          <input type="search" value={query.message ?? ''} onChange={(event) => set('message', event.currentTarget.value)} />
        </Field>
        <Field label={t('lists.processId')}>
          <input type="search" value={query.process ?? ''} onChange={(event) => set('process', event.currentTarget.value.trim())} />
        </Field>
        <Field label={t('lists.age')}>
          <select onChange={(event) => set('age', event.currentTarget.value)}>
            <option value="">{t('lists.any')}</option>
            <For each={Object.keys(AGES) as Age[]}>
              {(one) => (
                <option value={one} selected={age() === one}>
                  {t(`lists.age.${one}`)}
                </option>
              )}
            </For>
          </select>
        </Field>
      </div>
      <Table label={t('page.Incidents')} query={found} columns={columns()} usual="creationTime:desc" empty={t('lists.incidents.noMatch')} />
      <Retrying filter={query.process ? { processDefinitionId: query.process } : {}} withInstance />
      {work.dialogs()}
    </main>
  );
}

function ByError(): JSX.Element {
  const [limit, setLimit] = createSignal(SHOWN);
  const [open, setOpen] = createSignal<number>();
  const [repairing, setRepairing] = createSignal<string>();
  const [retrying, setRetrying] = createSignal<IncidentProcessInstanceStatisticsByErrorResult>();
  const found = useRead(getProcessInstanceStatisticsByError, () => ({ body: { page: { limit: limit() }, sort: [{ field: 'activeInstancesWithErrorCount' as const, order: 'DESC' as const }] }, live: true }));
  return (
    <section class="panel" aria-label={t('lists.incidents.byError')}>
      <h2>{t('lists.incidents.byError')}</h2>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data && found.data.items.length === 0}>
        <p class="empty">{t('lists.incidents.none')}</p>
      </Show>
      <ul class="plain-list">
        <For each={found.data?.items}>
          {(one) => (
            <li>
              <div class="row">
                <button class="plain" aria-expanded={open() === one.errorHashCode} aria-label={t('lists.incidents.processesOf', { error: one.errorMessage.slice(0, 100) })} onClick={() => setOpen(open() === one.errorHashCode ? undefined : one.errorHashCode)}>
                  {open() === one.errorHashCode ? '▾' : '▸'}
                </button>
                <A class="grow" href={`/operate/processes?incidents=true&incidentErrorHashCode=${one.errorHashCode}`}>
                  {one.errorMessage.slice(0, 200) || t('lists.noErrorMessage')}
                </A>
                <span class="number">{number(one.activeInstancesWithErrorCount)}</span>
                <Action label={t('lists.incidents.retryAllOf', { error: one.errorMessage.slice(0, 100) })} needs={ofBatch('RESOLVE_INCIDENT')} do={() => setRetrying(one)}>
                  {t('lists.incidents.retryAll')}
                </Action>
                <Action label={t('change.resolve.allOf', { error: one.errorMessage.slice(0, 100) })} needs={ofAnyProcess('UPDATE_PROCESS_INSTANCE')} do={() => setRepairing(one.errorMessage)}>
                  {t('change.resolve.allOpen')}
                </Action>
              </div>
              <Show when={open() === one.errorHashCode}>
                <ByDefinition hash={one.errorHashCode} />
              </Show>
            </li>
          )}
        </For>
      </ul>
      <Show when={(found.data?.page.totalItems ?? 0) > limit()}>
        <button onClick={() => setLimit(limit() + SHOWN)}>{t('lists.more', { count: number(found.data!.page.totalItems - limit()) })}</button>
      </Show>
      <Show when={repairing() !== undefined}>
        <ResolveAllDialog message={repairing()!} onClose={() => setRepairing(undefined)} onDone={refresh} />
      </Show>
      <Show when={retrying()}>
        {(one) => <BulkDialog kind="retry" filter={{ incidentErrorHashCode: one().errorHashCode }} model={undefined} element={undefined} onClose={() => setRetrying(undefined)} onDone={() => setRetrying(undefined)} />}
      </Show>
    </section>
  );
}

function ByDefinition(props: { hash: number }): JSX.Element {
  const found = useRead(getProcessInstanceStatisticsByDefinition, () => ({ body: { filter: { errorHashCode: props.hash }, page: { limit: 100 } }, live: true }));
  return (
    <ul>
      <For each={found.data?.items}>
        {(one) => (
          <li>
            <A href={`/operate/processes?process=${encodeURIComponent(one.processDefinitionId)}&version=${one.processDefinitionVersion}&incidents=true&incidentErrorHashCode=${props.hash}`}>
              {t('lists.processVersion', { process: one.processDefinitionName || one.processDefinitionId, version: one.processDefinitionVersion })}
            </A>{' '}
            {number(one.activeInstancesWithErrorCount)}
          </li>
        )}
      </For>
      <Show when={(found.data?.page.totalItems ?? 0) > 100}>
        <li class="muted">{t('lists.andMore', { count: number(found.data!.page.totalItems - 100) })}</li>
      </Show>
    </ul>
  );
}

function ByProcess(props: { onChoose: (id: string) => void }): JSX.Element {
  const found = useRead(getProcessDefinitionInstanceStatistics, () => ({ body: { page: { limit: SHOWN }, sort: [{ field: 'activeInstancesWithIncidentCount' as const, order: 'DESC' as const }] }, live: true }));
  const rows = () => found.data?.items.filter((one) => one.activeInstancesWithIncidentCount > 0) ?? [];
  return (
    <section class="panel" aria-label={t('lists.incidents.byProcess')}>
      <h2>{t('lists.incidents.byProcess')}</h2>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data && rows().length === 0}>
        <p class="empty">{t('lists.incidents.noProcess')}</p>
      </Show>
      <ul class="plain-list">
        <For each={rows()}>
          {(one) => (
            <li class="row">
              <button class="plain grow" onClick={() => props.onChoose(one.processDefinitionId)}>
                {one.latestProcessDefinitionName || one.processDefinitionId}
              </button>
              <span class="number">{count(one.activeInstancesWithIncidentCount, 'lists.instances.one', 'lists.instances.other')}</span>
            </li>
          )}
        </For>
      </ul>
      <Show when={rows().length === SHOWN}>
        <p class="muted">{t('lists.incidents.mostOnly', { count: SHOWN })}</p>
      </Show>
    </section>
  );
}

function ByAge(props: { chosen: Age | undefined; onChoose: (age: Age | undefined) => void }): JSX.Element {
  return (
    <section class="panel" aria-label={t('lists.incidents.byAge')}>
      <h2>{t('lists.incidents.byAge')}</h2>
      <ul class="plain-list">
        <For each={Object.keys(AGES) as Age[]}>
          {(age) => {
            const found = useRead(searchIncidents, () => ({ body: { filter: { state: 'ACTIVE' as const, creationTime: between(age) }, page: { limit: 1 } }, live: true }));
            return (
              <li class="row">
                <button class="plain grow" aria-pressed={props.chosen === age} onClick={() => props.onChoose(props.chosen === age ? undefined : age)}>
                  {t(`lists.age.${age}`)}
                </button>
                <span class="number">{total(found.data?.page)}</span>
              </li>
            );
          }}
        </For>
      </ul>
    </section>
  );
}
