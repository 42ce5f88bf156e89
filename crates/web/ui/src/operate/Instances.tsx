import { useLocation, useNavigate } from '@solidjs/router';
import { createEffect, createMemo, createSignal, on, type JSX, Show } from 'solid-js';
import { countProcessInstances, getProcessDefinitionStatistics, searchProcessDefinitions, searchProcessInstances } from '../api/generated/operations';
import type { ProcessInstanceFilter, ProcessInstanceResult } from '../api/generated/types';
import { BpmnDiagram } from '../diagram/BpmnDiagram';
import { useModel } from '../diagram/model';
import { useRead } from '../query';
import { counted, number, total } from '../ui/numbers';
import { Table, usePlace } from '../ui/Table';
import { CopyAs } from '../views/CopyAs';
import { Views } from '../views/Views';
import { BulkDialog, type BulkKind } from './Bulk';
import { ColumnChoice, columnsOf, SORTS } from './columns';
import { FilterBar } from './FilterBar';
import { type Filter, parse, STATES, toApi, write } from './filters';

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
  const model = useModel(commonDefinition);
  const migration = () => {
    const url = write(all() ? filter() : { ...parse(new URLSearchParams()), ...common()!, keys: [...chosen().keys()] });
    return `/operate/migrate?${url}`;
  };
  const bulkFilter = (): ProcessInstanceFilter => (all() ? api() : { processInstanceKey: { $in: [...chosen().keys()] } });
  return (
    <main class="page">
      <div class="row">
        <h1>Process instances</h1>
        <span class="muted" role="status">
          {total(found.data?.page)} match
        </span>
        <span class="spacer" />
        <ColumnChoice />
        <Views page="operate/processes" />
        <CopyAs
          asked={{ method: 'POST', path: searchProcessInstances.path, body: { filter: api(), sort: sort(), page: page() } }}
          search={{ kind: 'instances', filter: api(), sort: sort(), limit: page().limit }}
          rows={chosen().size > 0 ? [...chosen().values()] : (found.data?.items ?? [])}
          keys={chosen().size > 0 ? [...chosen().keys()] : (found.data?.items ?? []).map((row) => row.processInstanceKey)}
        />
      </div>
      <FilterBar filter={filter()} onChange={setFilter} definitionKey={drawn()?.processDefinitionKey} />
      <Show when={filter().process && definition.data && !drawn()}>
        <p class="failure">No process has the ID {filter().process}.</p>
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
      <Show when={chosen().size > 0 || all()}>
        <div class="row panel" role="toolbar" aria-label="Selection">
          <strong>{all() ? `All that match (${counted(matching.data)})` : `${number(chosen().size)} chosen`}</strong>
          <Show when={!all()}>
            <button onClick={() => setAll(true)}>Choose all {counted(matching.data)} that match</button>
          </Show>
          <span class="spacer" />
          <button onClick={() => setBulk('retry')}>Retry</button>
          <button onClick={() => setBulk('suspend')}>Suspend</button>
          <button onClick={() => setBulk('resume')}>Resume</button>
          <button disabled={!common()} title={common() ? undefined : 'The instances must be of one version of one process'} onClick={() => setBulk('modify')}>
            Move tokens
          </button>
          <button disabled={!common()} title={common() ? undefined : 'The instances must be of one version of one process'} onClick={() => navigate(migration())}>
            Migrate
          </button>
          <button class="danger" onClick={() => setBulk('cancel')}>
            Cancel
          </button>
          <button class="danger" onClick={() => setBulk('delete')}>
            Delete
          </button>
          <button class="plain" onClick={unselect}>
            Choose none
          </button>
        </div>
      </Show>
      <Table
        label="Process instances"
        query={found}
        columns={columns()}
        usual="startDate:desc"
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
            No instance matches.
            <Show when={filter().states.size > 0 && filter().states.size < STATES.length}>
              {' '}
              <button onClick={() => setFilter({ ...filter(), states: new Set() })}>Show all states</button>
            </Show>
          </>
        }
      />
      <Show when={bulk()} keyed>
        {(kind) => <BulkDialog kind={kind} filter={bulkFilter()} model={model()} element={filter().element} onClose={() => setBulk(undefined)} onDone={unselect} />}
      </Show>
    </main>
  );
}
