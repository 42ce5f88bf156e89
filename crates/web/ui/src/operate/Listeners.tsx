import { For, type JSX, Show } from 'solid-js';
import { searchJobs } from '../api/generated/operations';
import type { JobSearchResult } from '../api/generated/types';
import type { Model } from '../diagram/model';
import { useRead } from '../query';
import { State, wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';

const SORTS = ['jobKey', 'type', 'state', 'retries', 'worker'] as const;
const COLUMNS: Column<JobSearchResult>[] = [
  { head: 'State', cell: (row) => <State of={row.state} />, sort: 'state' },
  { head: 'Kind', cell: (row) => wordOf(row.kind) },
  { head: 'Event', cell: (row) => wordOf(row.listenerEventType) },
  { head: 'Type', cell: (row) => row.type, sort: 'type' },
  { head: 'Element', cell: (row) => row.elementId },
  { head: 'Retries', cell: (row) => row.retries, sort: 'retries', class: 'number' },
  { head: 'Worker', cell: (row) => row.worker || '–', sort: 'worker' },
  { head: 'Ended', cell: (row) => <Time of={row.endTime} /> },
  { head: 'Key', cell: (row) => <span class="key">{row.jobKey}</span>, sort: 'jobKey' },
];

/** Listeners of the model, and the jobs that were made for them. */
export function Listeners(props: { instanceKey: string; elementId: string | undefined; model: Model | undefined }): JSX.Element {
  const { sort, page } = usePlace(SORTS, { field: 'jobKey', order: 'DESC' });
  const found = useRead(searchJobs, () => ({
    body: {
      filter: { processInstanceKey: props.instanceKey, kind: { $in: ['EXECUTION_LISTENER' as const, 'TASK_LISTENER' as const] }, ...(props.elementId ? { elementId: props.elementId } : {}) },
      sort: sort(),
      page: page(),
    },
    live: true,
  }));
  const defined = () => [...(props.model?.elements.values() ?? [])].filter((one) => !props.elementId || one.id === props.elementId).flatMap((one) => one.listeners.map((listener) => ({ element: one, listener })));
  return (
    <div class="stack">
      <Show when={defined().length > 0}>
        <table aria-label="Listeners of the model">
          <thead>
            <tr>
              <For each={['Element', 'Kind', 'Event', 'Type', 'Retries']}>{(head) => <th scope="col">{head}</th>}</For>
            </tr>
          </thead>
          <tbody>
            <For each={defined()}>
              {({ element, listener }) => (
                <tr>
                  <td>{element.name || element.id}</td>
                  <td>{listener.kind} listener</td>
                  <td>{listener.event}</td>
                  <td>{listener.type}</td>
                  <td>{listener.retries}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </Show>
      <Table label="Jobs of listeners" query={found} columns={COLUMNS} usual="jobKey:desc" empty="No listener has run here." />
    </div>
  );
}
