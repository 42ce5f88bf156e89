import type { JSX } from 'solid-js';
import { searchJobs } from '../api/generated/operations';
import type { JobSearchResult } from '../api/generated/types';
import { useRead } from '../query';
import { State, wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';

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

/** The jobs of an instance, with their workers and errors. */
export function Jobs(props: { instanceKey: string; elementId: string | undefined }): JSX.Element {
  const { sort, page } = usePlace(SORTS, { field: 'jobKey', order: 'DESC' });
  const found = useRead(searchJobs, () => ({
    body: { filter: { processInstanceKey: props.instanceKey, ...(props.elementId ? { elementId: props.elementId } : {}) }, sort: sort(), page: page() },
    live: true,
  }));
  return <Table label="Jobs" query={found} columns={COLUMNS} usual="jobKey:desc" empty="There are no jobs here." />;
}
