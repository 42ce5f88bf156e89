import { For, type JSX, Show } from 'solid-js';
import { searchJobs } from '../api/generated/operations';
import type { JobSearchResult } from '../api/generated/types';
import type { Model } from '../diagram/model';
import { t } from '../language';
import { useRead } from '../query';
import { State, wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';

const SORTS = ['jobKey', 'type', 'state', 'retries', 'worker'] as const;
const columns = (): Column<JobSearchResult>[] => [
  { head: t('instance.head.state'), cell: (row) => <State of={row.state} />, sort: 'state' },
  { head: t('instance.head.kind'), cell: (row) => wordOf(row.kind) },
  { head: t('instance.head.event'), cell: (row) => wordOf(row.listenerEventType) },
  { head: t('instance.head.type'), cell: (row) => row.type, sort: 'type' },
  { head: t('instance.head.element'), cell: (row) => row.elementId },
  { head: t('instance.head.retries'), cell: (row) => row.retries, sort: 'retries', class: 'number' },
  { head: t('instance.head.worker'), cell: (row) => row.worker || '–', sort: 'worker' },
  { head: t('instance.head.ended'), cell: (row) => <Time of={row.endTime} /> },
  { head: t('instance.head.key'), cell: (row) => <span class="key">{row.jobKey}</span>, sort: 'jobKey' },
];

const MODEL_HEADS = ['element', 'kind', 'event', 'type', 'retries'] as const;

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
        <table aria-label={t('instance.listeners.model')}>
          <thead>
            <tr>
              <For each={MODEL_HEADS}>{(head) => <th scope="col">{t(`instance.head.${head}`)}</th>}</For>
            </tr>
          </thead>
          <tbody>
            <For each={defined()}>
              {({ element, listener }) => (
                <tr>
                  <td>{element.name || element.id}</td>
                  <td>{t(`instance.listeners.${listener.kind}`)}</td>
                  <td>{listener.event}</td>
                  <td>{listener.type}</td>
                  <td>{listener.retries}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </Show>
      <Table label={t('instance.listeners.jobs')} query={found} columns={columns()} usual="jobKey:desc" empty={t('instance.listeners.none')} />
    </div>
  );
}
