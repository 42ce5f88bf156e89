// The columns of the list of instances: which there are, and which are shown in what order, as the URL has it.
import { A, useSearchParams } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import type { ProcessInstanceResult, ProcessInstanceSearchQuerySortRequest } from '../api/generated/types';
import { Copy, Dialog, State } from '../ui/parts';
import type { Column } from '../ui/Table';
import { Time } from '../ui/time';

type Field = ProcessInstanceSearchQuerySortRequest['field'];
export const SORTS: readonly Field[] = [
  'processInstanceKey',
  'processDefinitionId',
  'processDefinitionName',
  'processDefinitionVersion',
  'processDefinitionVersionTag',
  'processDefinitionKey',
  'parentProcessInstanceKey',
  'parentElementInstanceKey',
  'startDate',
  'endDate',
  'suspendedDate',
  'state',
  'hasIncident',
  'tenantId',
  'businessId',
];

const instance = (key: string | null): JSX.Element => (
  <Show when={key} fallback="–">
    {(key) => (
      <A class="key" href={`/operate/processes/${key()}`}>
        {key()}
      </A>
    )}
  </Show>
);

const ALL: Record<string, Column<ProcessInstanceResult>> = {
  state: { head: 'State', cell: (row) => <State of={row.state} incident={row.hasIncident} />, sort: 'state' },
  process: { head: 'Process', cell: (row) => row.processDefinitionName || row.processDefinitionId, sort: 'processDefinitionName' },
  key: {
    head: 'Key',
    cell: (row) => (
      <span class="key">
        <A href={`/operate/processes/${row.processInstanceKey}`}>{row.processInstanceKey}</A>
        <Copy text={row.processInstanceKey} />
      </span>
    ),
    sort: 'processInstanceKey',
  },
  businessId: { head: 'Business ID', cell: (row) => row.businessId ?? '–', sort: 'businessId' },
  version: { head: 'Version', cell: (row) => row.processDefinitionVersion, sort: 'processDefinitionVersion', class: 'number' },
  started: { head: 'Started', cell: (row) => <Time of={row.startDate} />, sort: 'startDate' },
  ended: { head: 'Ended', cell: (row) => <Time of={row.endDate} />, sort: 'endDate' },
  parent: { head: 'Parent', cell: (row) => instance(row.parentProcessInstanceKey), sort: 'parentProcessInstanceKey' },
  tags: { head: 'Tags', cell: (row) => row.tags.join(', ') || '–' },
  tenant: { head: 'Tenant', cell: (row) => row.tenantId, sort: 'tenantId' },
  incident: { head: 'Incident', cell: (row) => (row.hasIncident ? 'yes' : 'no'), sort: 'hasIncident' },
  processId: { head: 'Process ID', cell: (row) => row.processDefinitionId, sort: 'processDefinitionId' },
  versionTag: { head: 'Version tag', cell: (row) => row.processDefinitionVersionTag ?? '–', sort: 'processDefinitionVersionTag' },
  suspended: { head: 'Suspended', cell: (row) => <Time of={row.suspendedDate} />, sort: 'suspendedDate' },
  root: { head: 'First of the calls', cell: (row) => instance(row.rootProcessInstanceKey) },
  definition: { head: 'Key of the definition', cell: (row) => <span class="key">{row.processDefinitionKey}</span>, sort: 'processDefinitionKey' },
};
const USUAL = ['state', 'process', 'key', 'businessId', 'version', 'started', 'ended', 'parent'];

const namesOf = (text: string | null | undefined): string[] => {
  const known = [...new Set((text ?? '').split(',').filter((name) => Object.hasOwn(ALL, name)))];
  return known.length > 0 ? known : USUAL;
};

/** The columns that the URL names; without sense in it, the usual ones. */
export const columnsOf = (text: string | null): Column<ProcessInstanceResult>[] => namesOf(text).map((name) => ALL[name]!);

/** A dialog to choose columns and their order. */
export function ColumnChoice(): JSX.Element {
  const [query, setQuery] = useSearchParams<{ columns: string }>();
  const [open, setOpen] = createSignal(false);
  const shown = () => namesOf(query.columns);
  const set = (names: string[]) => setQuery({ columns: names.join() === USUAL.join() ? null : names.join() }, { replace: true, scroll: false });
  const toggle = (name: string) => set(shown().includes(name) ? shown().filter((one) => one !== name) : [...shown(), name]);
  const move = (name: string, by: number) => {
    const names = shown().filter((one) => one !== name);
    names.splice(Math.max(0, shown().indexOf(name) + by), 0, name);
    set(names);
  };
  return (
    <>
      <button onClick={() => setOpen(true)}>Columns</button>
      <Show when={open()}>
        <Dialog title="Columns" onClose={() => setOpen(false)}>
          <ul class="plain-list">
            <For each={[...shown(), ...Object.keys(ALL).filter((name) => !shown().includes(name))]}>
              {(name) => {
                const isShown = () => shown().includes(name);
                return (
                  <li class="row">
                    <label class="row grow">
                      <input type="checkbox" checked={isShown()} disabled={isShown() && shown().length === 1} onChange={() => toggle(name)} /> {ALL[name]!.head}
                    </label>
                    <button class="plain" aria-label={`Move ${ALL[name]!.head} to the left`} disabled={!isShown() || shown()[0] === name} onClick={() => move(name, -1)}>
                      ↑
                    </button>
                    <button class="plain" aria-label={`Move ${ALL[name]!.head} to the right`} disabled={!isShown() || shown().at(-1) === name} onClick={() => move(name, 1)}>
                      ↓
                    </button>
                  </li>
                );
              }}
            </For>
          </ul>
          <div class="actions">
            <button onClick={() => set(USUAL)}>The usual ones</button>
            <button class="primary" onClick={() => setOpen(false)}>
              Done
            </button>
          </div>
        </Dialog>
      </Show>
    </>
  );
}
