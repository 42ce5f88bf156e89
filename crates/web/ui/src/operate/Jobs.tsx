import { createSignal, type JSX, lazy, Show } from 'solid-js';
import { searchJobs } from '../api/generated/operations';
import type { JobSearchResult } from '../api/generated/types';
import { useRead } from '../query';
import { State, wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';

const JobDialog = lazy(() => import('./act/JobDialog'));
const OPEN = new Set(['CREATED', 'FAILED', 'RETRIES_UPDATED', 'TIMED_OUT', 'MIGRATED', 'PRIORITY_UPDATED', 'TIMEOUT_UPDATED']);

const SORTS = ['jobKey', 'type', 'state', 'retries', 'worker', 'deadline'] as const;
const COLUMNS: Column<JobSearchResult>[] = [
  { head: 'State', cell: (row) => <State of={row.state} />, sort: 'state' },
  { head: 'Type', cell: (row) => row.type, sort: 'type' },
  { head: 'Kind', cell: (row) => wordOf(row.kind) },
  { head: 'Element', cell: (row) => row.elementId },
  { head: 'Retries', cell: (row) => row.retries, sort: 'retries', class: 'number' },
  { head: 'Worker', cell: (row) => row.worker || '–', sort: 'worker' },
  { head: 'Time-out', cell: (row) => <Time of={row.deadline} />, sort: 'deadline' },
  { head: 'Error', cell: (row) => (row.errorMessage || row.errorCode || '–').slice(0, 300) },
  { head: 'Key', cell: (row) => <span class="key">{row.jobKey}</span>, sort: 'jobKey' },
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
      ? [...COLUMNS, { head: 'Act', cell: (row) => <Show when={OPEN.has(row.state)}>{<button aria-label={`Act as the worker of the job ${row.jobKey}`} onClick={() => setActing(row.jobKey)}>Act …</button>}</Show> }]
      : COLUMNS;
  return (
    <>
      <Table label="Jobs" query={found} columns={columns()} usual="jobKey:desc" empty="There are no jobs here." />
      <Show when={acting()}>{(key) => <JobDialog jobKey={key()} onClose={() => setActing(undefined)} onDone={props.again} />}</Show>
    </>
  );
}
