import type { JSX } from 'solid-js';
import { createGlobalTaskListener, deleteGlobalTaskListener, searchGlobalTaskListeners, updateGlobalTaskListener } from '../api/generated/operations';
import type { GlobalTaskListenerEventTypeEnum, GlobalTaskListenerResult } from '../api/generated/types';
import { call } from '../api/http';
import { useRead } from '../query';
import { wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { type Answers, Create, Delete, Edit, type Input } from './Create';

const EVENTS = ['all', 'creating', 'assigning', 'updating', 'completing', 'canceling'] as const;
const RETRIES = 3;
const PRIORITY = 50;

const inputs = (of?: GlobalTaskListenerResult): Input[] => [
  { name: 'type', label: 'Type of its jobs', required: true, value: of?.type ?? '' },
  { name: 'eventTypes', label: 'Events', several: true, options: EVENTS.map((one) => [one, wordOf(one)] as const), value: of?.eventTypes.join(',') ?? 'all' },
  { name: 'retries', label: 'Retries', type: 'number', min: 1, value: String(of?.retries ?? RETRIES) },
  { name: 'priority', label: 'Priority', type: 'number', min: 0, max: 100, value: String(of?.priority ?? PRIORITY), hint: 'Higher ones run first.' },
  { name: 'afterNonGlobal', label: "After the listeners of the task's own model", type: 'checkbox', value: String(of?.afterNonGlobal ?? false) },
];
function body(text: Answers) {
  const eventTypes = text.all('eventTypes') as GlobalTaskListenerEventTypeEnum[];
  if (eventTypes.length === 0) throw new Error('Choose at least one event.');
  return { type: text('type').trim(), eventTypes, retries: Number(text('retries')), priority: Number(text('priority')), afterNonGlobal: text('afterNonGlobal') === 'true' };
}

const COLUMNS: Column<GlobalTaskListenerResult>[] = [
  { head: 'ID', cell: (row) => row.id, sort: 'id' },
  { head: 'Type', cell: (row) => row.type, sort: 'type' },
  { head: 'Events', cell: (row) => row.eventTypes.map(wordOf).join(', ') },
  { head: 'Retries', cell: (row) => row.retries, class: 'number' },
  { head: 'Priority', cell: (row) => row.priority, sort: 'priority', class: 'number' },
  { head: 'Order', cell: (row) => (row.afterNonGlobal ? 'after those of the model' : 'before those of the model') },
  { head: 'Source', cell: (row) => wordOf(row.source), sort: 'source' },
  {
    head: 'Actions',
    cell: (row) =>
      row.source === 'CONFIGURATION' ? (
        <span class="muted">in the configuration</span>
      ) : (
        <>
          <Edit what={row.id} inputs={() => inputs(row)} save={async (text) => call(updateGlobalTaskListener, { path: { id: row.id }, body: body(text) })} />
          <Delete what={row.id} effect="It gets no jobs for events that come. Those that are there stay." do={() => call(deleteGlobalTaskListener, { path: { id: row.id } })} />
        </>
      ),
  },
];

/** Global task listeners: jobs for the events of all user tasks. */
export default function TaskListeners(): JSX.Element {
  const { sort, page } = usePlace(['id', 'type', 'priority', 'source'] as const, { field: 'id', order: 'ASC' });
  const found = useRead(searchGlobalTaskListeners, () => ({ body: { sort: sort(), page: page() }, live: true }));
  return (
    <main class="page">
      <div class="row">
        <h1>Global task listeners</h1>
        <span class="spacer" />
        <Create
          what="task listener"
          inputs={[{ name: 'id', label: 'ID', required: true }, ...inputs()]}
          create={async (text) => call(createGlobalTaskListener, { body: { id: text('id').trim(), ...body(text) } })}
        />
      </div>
      <Table label="Global task listeners" query={found} columns={COLUMNS} usual="id:asc" empty="There are no global task listeners, or none that you may see." />
    </main>
  );
}
