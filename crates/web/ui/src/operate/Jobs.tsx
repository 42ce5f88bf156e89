import { createSignal, type JSX, lazy, Show } from 'solid-js';
import { searchJobs } from '../api/generated/operations';
import type { JobSearchResult } from '../api/generated/types';
import { t } from '../language';
import { useRead } from '../query';
import { ofProcess } from '../rights';
import { Action, State, wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';

const JobDialog = lazy(() => import('./act/JobDialog'));
const OPEN = new Set(['CREATED', 'FAILED', 'RETRIES_UPDATED', 'TIMED_OUT', 'MIGRATED', 'PRIORITY_UPDATED', 'TIMEOUT_UPDATED']);

const SORTS = ['jobKey', 'type', 'state', 'retries', 'worker', 'deadline'] as const;
const common = (): Column<JobSearchResult>[] => [
  { head: t('instance.head.state'), cell: (row) => <State of={row.state} />, sort: 'state' },
  { head: t('instance.head.type'), cell: (row) => row.type, sort: 'type' },
  { head: t('instance.head.kind'), cell: (row) => wordOf(row.kind) },
  { head: t('instance.head.element'), cell: (row) => row.elementId },
  { head: t('instance.head.retries'), cell: (row) => row.retries, sort: 'retries', class: 'number' },
  { head: t('instance.head.worker'), cell: (row) => row.worker || '–', sort: 'worker' },
  { head: t('instance.head.timeout'), cell: (row) => <Time of={row.deadline} mayBeAhead />, sort: 'deadline' },
  { head: t('instance.head.error'), cell: (row) => (row.errorMessage || row.errorCode || '–').slice(0, 300) },
  { head: t('instance.head.key'), cell: (row) => <span class="key">{row.jobKey}</span>, sort: 'jobKey' },
];

/** The jobs of an instance, with their workers and errors, and a way to act as the worker of each. */
export function Jobs(props: { instanceKey: string; elementId: string | undefined; canChange: boolean; again: () => Promise<void> }): JSX.Element {
  const { sort, page } = usePlace(SORTS, { field: 'jobKey', order: 'DESC' });
  const [acting, setActing] = createSignal<string>();
  const found = useRead(searchJobs, () => ({
    body: { filter: { processInstanceKey: props.instanceKey, ...(props.elementId ? { elementId: props.elementId } : {}) }, sort: sort(), page: page() },
    live: true,
  }));
  const columns = (): Column<JobSearchResult>[] =>
    props.canChange
      ? [...common(), { head: t('instance.head.act'), cell: (row) => <Show when={OPEN.has(row.state)}>{<Action label={t('instance.jobs.actOn', { key: row.jobKey })} needs={ofProcess('UPDATE_PROCESS_INSTANCE', row.processDefinitionId)} do={() => setActing(row.jobKey)}>{t('instance.jobs.act')}</Action>}</Show> }]
      : common();
  return (
    <>
      <Table label={t('instance.tab.jobs')} query={found} columns={columns()} usual="jobKey:desc" empty={t('instance.jobs.none')} />
      <Show when={acting()}>{(key) => <JobDialog jobKey={key()} onClose={() => setActing(undefined)} onDone={props.again} />}</Show>
    </>
  );
}
