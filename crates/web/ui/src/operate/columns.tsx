// The columns of the list of instances: which there are, and which are shown in what order, as the URL has it.
import { A, useSearchParams } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import type { ProcessInstanceResult, ProcessInstanceSearchQuerySortRequest } from '../api/generated/types';
import { t } from '../language';
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

const ALL = {
  state: { cell: (row) => <State of={row.state} incident={row.hasIncident} />, sort: 'state' },
  process: { cell: (row) => row.processDefinitionName || row.processDefinitionId, sort: 'processDefinitionName' },
  key: {
    cell: (row) => (
      <span class="key">
        <A href={`/operate/processes/${row.processInstanceKey}`}>{row.processInstanceKey}</A>
        <Copy text={row.processInstanceKey} />
      </span>
    ),
    sort: 'processInstanceKey',
  },
  businessId: { cell: (row) => row.businessId ?? '–', sort: 'businessId' },
  version: { cell: (row) => row.processDefinitionVersion, sort: 'processDefinitionVersion', class: 'number' },
  started: { cell: (row) => <Time of={row.startDate} />, sort: 'startDate' },
  ended: { cell: (row) => <Time of={row.endDate} />, sort: 'endDate' },
  parent: { cell: (row) => instance(row.parentProcessInstanceKey), sort: 'parentProcessInstanceKey' },
  tags: { cell: (row) => row.tags.join(', ') || '–' },
  tenant: { cell: (row) => row.tenantId, sort: 'tenantId' },
  incident: { cell: (row) => (row.hasIncident ? t('lists.yes') : t('lists.no')), sort: 'hasIncident' },
  processId: { cell: (row) => row.processDefinitionId, sort: 'processDefinitionId' },
  versionTag: { cell: (row) => row.processDefinitionVersionTag ?? '–', sort: 'processDefinitionVersionTag' },
  suspended: { cell: (row) => <Time of={row.suspendedDate} />, sort: 'suspendedDate' },
  root: { cell: (row) => instance(row.rootProcessInstanceKey) },
  definition: { cell: (row) => <span class="key">{row.processDefinitionKey}</span>, sort: 'processDefinitionKey' },
} satisfies Record<string, Omit<Column<ProcessInstanceResult>, 'head'>>;
type Name = keyof typeof ALL;
const NAMES = Object.keys(ALL) as Name[];
const headOf = (name: Name): string => t(`lists.column.${name}`);
const USUAL: readonly Name[] = ['state', 'process', 'key', 'businessId', 'version', 'started', 'ended', 'parent'];

const namesOf = (text: string | null | undefined): readonly Name[] => {
  const known = [...new Set((text ?? '').split(','))].flatMap((text) => NAMES.find((name) => name === text) ?? []);
  return known.length > 0 ? known : USUAL;
};

/** The columns that the URL names; without sense in it, the usual ones. */
export const columnsOf = (text: string | null): Column<ProcessInstanceResult>[] => namesOf(text).map((name) => ({ ...ALL[name], head: headOf(name) }));

/** A dialog to choose columns and their order. */
export function ColumnChoice(): JSX.Element {
  const [query, setQuery] = useSearchParams<{ columns: string }>();
  const [open, setOpen] = createSignal(false);
  const shown = () => namesOf(query.columns);
  const set = (names: readonly Name[]) => setQuery({ columns: names.join() === USUAL.join() ? null : names.join() }, { replace: true, scroll: false });
  const toggle = (name: Name) => set(shown().includes(name) ? shown().filter((one) => one !== name) : [...shown(), name]);
  const move = (name: Name, by: number) => {
    const names = shown().filter((one) => one !== name);
    names.splice(Math.max(0, shown().indexOf(name) + by), 0, name);
    set(names);
  };
  return (
    <>
      <button onClick={() => setOpen(true)}>{t('lists.columns')}</button>
      <Show when={open()}>
        <Dialog title={t('lists.columns')} onClose={() => setOpen(false)}>
          <ul class="plain-list">
            <For each={[...shown(), ...NAMES.filter((name) => !shown().includes(name))]}>
              {(name) => {
                const isShown = () => shown().includes(name);
                return (
                  <li class="row">
                    <label class="row grow">
                      <input type="checkbox" checked={isShown()} disabled={isShown() && shown().length === 1} onChange={() => toggle(name)} /> {headOf(name)}
                    </label>
                    <button class="plain" aria-label={t('lists.columns.left', { column: headOf(name) })} disabled={!isShown() || shown()[0] === name} onClick={() => move(name, -1)}>
                      ↑
                    </button>
                    <button class="plain" aria-label={t('lists.columns.right', { column: headOf(name) })} disabled={!isShown() || shown().at(-1) === name} onClick={() => move(name, 1)}>
                      ↓
                    </button>
                  </li>
                );
              }}
            </For>
          </ul>
          <div class="actions">
            <button onClick={() => set(USUAL)}>{t('lists.columns.usual')}</button>
            <button class="primary" onClick={() => setOpen(false)}>
              {t('lists.columns.done')}
            </button>
          </div>
        </Dialog>
      </Show>
    </>
  );
}
