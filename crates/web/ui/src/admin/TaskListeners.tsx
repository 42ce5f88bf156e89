import type { JSX } from 'solid-js';
import { createGlobalTaskListener, deleteGlobalTaskListener, searchGlobalTaskListeners, updateGlobalTaskListener } from '../api/generated/operations';
import type { GlobalTaskListenerEventTypeEnum, GlobalTaskListenerResult } from '../api/generated/types';
import { call } from '../api/http';
import { t } from '../language';
import { useRead } from '../query';
import { need } from '../rights';
import { wordOf } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { type Answers, Create, Delete, Edit, type Input } from './Create';

const EVENTS = ['all', 'creating', 'assigning', 'updating', 'completing', 'canceling'] as const;
const RETRIES = 3;
const PRIORITY = 50;

const inputs = (of?: GlobalTaskListenerResult): Input[] => [
  { name: 'type', label: t('admin.listeners.typeOfJobs'), required: true, value: of?.type ?? '' },
  { name: 'eventTypes', label: t('admin.listeners.events'), several: true, options: EVENTS.map((one) => [one, wordOf(one)] as const), value: of?.eventTypes.join(',') ?? 'all' },
  { name: 'retries', label: t('admin.listeners.retries'), type: 'number', min: 1, value: String(of?.retries ?? RETRIES) },
  { name: 'priority', label: t('admin.listeners.priority'), type: 'number', min: 0, max: 100, value: String(of?.priority ?? PRIORITY), hint: t('admin.listeners.priority.hint') },
  { name: 'afterNonGlobal', label: t('admin.listeners.after'), type: 'checkbox', value: String(of?.afterNonGlobal ?? false) },
];
function body(text: Answers) {
  const eventTypes = text.all('eventTypes') as GlobalTaskListenerEventTypeEnum[];
  if (eventTypes.length === 0) throw new Error(t('admin.listeners.noEvent'));
  return { type: text('type').trim(), eventTypes, retries: Number(text('retries')), priority: Number(text('priority')), afterNonGlobal: text('afterNonGlobal') === 'true' };
}

const columns = (): Column<GlobalTaskListenerResult>[] => [
  { head: t('admin.id'), cell: (row) => row.id, sort: 'id' },
  { head: t('admin.listeners.type'), cell: (row) => row.type, sort: 'type' },
  { head: t('admin.listeners.events'), cell: (row) => row.eventTypes.map(wordOf).join(', ') },
  { head: t('admin.listeners.retries'), cell: (row) => row.retries, class: 'number' },
  { head: t('admin.listeners.priority'), cell: (row) => row.priority, sort: 'priority', class: 'number' },
  { head: t('admin.listeners.order'), cell: (row) => (row.afterNonGlobal ? t('admin.listeners.afterModel') : t('admin.listeners.beforeModel')) },
  { head: t('admin.listeners.source'), cell: (row) => wordOf(row.source), sort: 'source' },
  {
    head: t('admin.actions'),
    cell: (row) =>
      row.source === 'CONFIGURATION' ? (
        <span class="muted">{t('admin.listeners.configured')}</span>
      ) : (
        <>
          <Edit needs={need('GLOBAL_LISTENER', 'UPDATE_TASK_LISTENER')} what={row.id} inputs={() => inputs(row)} save={async (text) => call(updateGlobalTaskListener, { path: { id: row.id }, body: body(text) })} />
          <Delete needs={need('GLOBAL_LISTENER', 'DELETE_TASK_LISTENER')} what={row.id} effect={t('admin.effect.taskListener')} do={() => call(deleteGlobalTaskListener, { path: { id: row.id } })} />
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
        <h1>{t('admin.listeners')}</h1>
        <span class="spacer" />
        <Create
          needs={need('GLOBAL_LISTENER', 'CREATE_TASK_LISTENER')}
          label={t('admin.new.taskListener')}
          inputs={[{ name: 'id', label: t('admin.id'), required: true }, ...inputs()]}
          create={async (text) => call(createGlobalTaskListener, { body: { id: text('id').trim(), ...body(text) } })}
        />
      </div>
      <Table label={t('admin.listeners')} query={found} columns={columns()} usual="id:asc" empty={t('admin.none.taskListeners')} />
    </main>
  );
}
