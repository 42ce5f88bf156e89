import { useLocation, useNavigate } from '@solidjs/router';
import { createEffect, createMemo, createSignal, type JSX, lazy, on, Show } from 'solid-js';
import { countProcessInstances, getProcessDefinitionStatistics, searchProcessDefinitions, searchProcessInstances } from '../api/generated/operations';
import type { ProcessInstanceFilter, ProcessInstanceResult } from '../api/generated/types';
import { BpmnDiagram } from '../diagram/BpmnDiagram';
import { useModel } from '../diagram/model';
import { t, withParts } from '../language';
import { useRead } from '../query';
import { ofBatch, ofProcess } from '../rights';
import { counted, number, total } from '../ui/numbers';
import { Action } from '../ui/parts';
import { Table, usePlace } from '../ui/Table';
import { Views } from '../views/Views';
import type { BulkKind } from './Bulk';
import { ColumnChoice, columnsOf, SORTS } from './columns';
import { FilterBar } from './FilterBar';
import { type Filter, parse, STATES, toApi, write } from './filters';

const BulkDialog = lazy(async () => ({ default: (await withParts(import('./Bulk'), 'change')).BulkDialog }));

/** The list of instances: filter, diagram, table, selection. */
export default function Instances(): JSX.Element {
  const location = useLocation();
  const navigate = useNavigate();
  const filter = createMemo(() => parse(new URLSearchParams(location.search)));
  const api = createMemo(() => toApi(filter()));
  const { sort, page } = usePlace(SORTS, { field: 'startDate', order: 'DESC' });
  const setFilter = (next: Filter) => {
    const url = write(next);
    for (const kept of ['sort', 'columns']) {
      const value = new URLSearchParams(location.search).get(kept);
      if (value) url.set(kept, value);
    }
    navigate(`/operate/processes?${url}`);
  };
  const found = useRead(searchProcessInstances, () => ({ body: { filter: api(), sort: sort(), page: page() }, live: true }));

  const columns = () => columnsOf(new URLSearchParams(location.search).get('columns'));
  // The version that is drawn: the chosen one, else the latest.
  const definition = useRead(searchProcessDefinitions, () => ({
    body: {
      filter: { processDefinitionId: filter().process, ...(filter().version ? { version: filter().version } : {}), ...(filter().tenant ? { tenantId: filter().tenant } : {}) },
      sort: [{ field: 'version' as const, order: 'DESC' as const }],
      page: { limit: 1 },
    },
    enabled: filter().process !== undefined,
    keep: false,
  }));
  const drawn = () => (filter().process ? definition.data?.items[0] : undefined);
  const counts = useRead(getProcessDefinitionStatistics, () => {
    const of = toApi({ ...filter(), element: undefined }, false);
    return { path: { processDefinitionKey: drawn()?.processDefinitionKey ?? '' }, body: { filter: of as never }, enabled: drawn() !== undefined, live: true };
  });
  const byElement = createMemo(() => new Map(counts.data?.items.map((one) => [one.elementId, one])));

  const [chosen, setChosen] = createSignal<ReadonlyMap<string, ProcessInstanceResult>>(new Map());
  const [all, setAll] = createSignal(false);
  const [bulk, setBulk] = createSignal<BulkKind>();
  // Before something is done with all of them, it is said how many that are.
  const matching = useRead(countProcessInstances, () => ({ body: { filter: api() }, enabled: chosen().size > 0 || all(), live: true }));
  const unselect = () => {
    setChosen(new Map());
    setAll(false);
  };
  createEffect(on(api, unselect, { defer: true }));
  const toggle = (row: ProcessInstanceResult) => {
    const next = new Map(chosen());
    if (!next.delete(row.processInstanceKey)) next.set(row.processInstanceKey, row);
    setChosen(next);
    setAll(false);
  };
  /** Process and version that all of the chosen ones have, if they have one. */
  const common = () => {
    if (all()) return filter().process && filter().version ? { process: filter().process!, version: filter().version! } : undefined;
    const [first, ...others] = chosen().values();
    return first && others.every((one) => one.processDefinitionKey === first.processDefinitionKey) ? { process: first.processDefinitionId, version: first.processDefinitionVersion } : undefined;
  };
  const commonDefinition = () => {
    const [first] = chosen().values();
    return !common() ? undefined : all() ? drawn() : first;
  };
  const isOne = () => !all() && chosen().size === 1;
  const model = useModel(commonDefinition);
  const migration = () => {
    const url = write(all() ? filter() : { ...parse(new URLSearchParams()), ...common()!, keys: [...chosen().keys()] });
    return `/operate/migrate?${url}`;
  };
  const bulkFilter = (): ProcessInstanceFilter => (all() ? api() : { processInstanceKey: { $in: [...chosen().keys()] } });
  return (
    <main class="page">
      <div class="row">
        <h1>{t('lists.processInstances')}</h1>
        <span class="muted" role="status">
          {t('lists.match', { count: total(found.data?.page) })}
        </span>
        <span class="spacer" />
        <ColumnChoice />
        <Views page="operate/processes" />
      </div>
      <FilterBar filter={filter()} onChange={setFilter} definitionKey={drawn()?.processDefinitionKey} />
      <Show when={filter().process && definition.data && !drawn()}>
        <p class="failure">{t('lists.noProcess', { id: filter().process! })}</p>
      </Show>
      <Show when={drawn()?.processDefinitionKey} keyed>
        {(key) => (
          <BpmnDiagram
            definitionKey={key}
            counts={byElement()}
            selected={filter().element}
            onSelect={(element) => setFilter({ ...filter(), element, version: element ? drawn()?.version : filter().version })}
          />
        )}
      </Show>
      <Table
        label={t('lists.processInstances')}
        query={found}
        columns={columns()}
        usual="startDate:desc"
        chosen={[...chosen().values()]}
        select={{
          isChosen: (row) => all() || chosen().has(row.processInstanceKey),
          toggle,
          all: (rows) => {
            setAll(false);
            setChosen(new Map(rows.map((row) => [row.processInstanceKey, row])));
          },
          name: (row) => row.processInstanceKey,
        }}
        empty={
          <>
            {t('lists.instances.noMatch')}
            <Show when={filter().states.size > 0 && filter().states.size < STATES.length}>
              {' '}
              <button onClick={() => setFilter({ ...filter(), states: new Set() })}>{t('lists.instances.allStates')}</button>
            </Show>
          </>
        }
      />
      <Show when={chosen().size > 0 || all()}>
        <div class="row panel floating" role="toolbar" aria-label={t('lists.selection')}>
          <strong>{all() ? t('lists.selection.all', { count: counted(matching.data) }) : t('lists.selection.count', { count: number(chosen().size) })}</strong>
          <Show when={!all()}>
            <button onClick={() => setAll(true)}>{t('lists.selection.chooseAll', { count: counted(matching.data) })}</button>
          </Show>
          <span class="spacer" />
          <Action needs={ofBatch('RESOLVE_INCIDENT')} do={() => setBulk('retry')}>{t('lists.retry')}</Action>
          <Action needs={ofBatch('SUSPEND_PROCESS_INSTANCE')} do={() => setBulk('suspend')}>{t('lists.suspend')}</Action>
          <Action needs={ofBatch('SUSPEND_PROCESS_INSTANCE')} do={() => setBulk('resume')}>{t('lists.resume')}</Action>
          <Action disabled={!common()} title={common() ? undefined : t('lists.selection.oneVersion')} needs={ofBatch('MODIFY_PROCESS_INSTANCE')} do={() => setBulk('modify')}>
            {t('lists.moveTokens')}
          </Action>
          <Action disabled={!common()} title={common() ? undefined : t('lists.selection.oneVersion')} needs={isOne() ? ofProcess('UPDATE_PROCESS_INSTANCE', common()?.process) : ofBatch('MIGRATE_PROCESS_INSTANCE')} do={() => navigate(migration())}>
            {t('lists.migrate')}
          </Action>
          <Action class="danger" needs={ofBatch('CANCEL_PROCESS_INSTANCE')} do={() => setBulk('cancel')}>
            {t('lists.cancel')}
          </Action>
          <Action class="danger" needs={ofBatch('DELETE_PROCESS_INSTANCE')} do={() => setBulk('delete')}>
            {t('lists.delete')}
          </Action>
          <button class="plain" onClick={unselect}>
            {t('tasks.chooseNone')}
          </button>
        </div>
      </Show>
      <Show when={bulk()} keyed>
        {(kind) => <BulkDialog kind={kind} filter={bulkFilter()} model={model()} element={filter().element} onClose={() => setBulk(undefined)} onDone={unselect} />}
      </Show>
    </main>
  );
}
