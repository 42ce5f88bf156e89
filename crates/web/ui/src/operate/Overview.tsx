import { For, type JSX, Show } from 'solid-js';
import { at } from '../base';
import {
  getProcessDefinitionInstanceStatistics,
  getProcessInstanceStatisticsByError,
  searchProcessDefinitions,
  searchProcessInstances,
} from '../api/generated/operations';
import type { ProcessInstanceFilter } from '../api/generated/types';
import { useRead } from '../query';
import { number, total } from '../ui/numbers';
import { Failure } from '../ui/parts';
import { Deploy } from './Deploy';

const ROWS = 50;

/** How much runs, which processes have incidents, and which errors there are. */
export default function Overview(): JSX.Element {
  const count = (filter: ProcessInstanceFilter) => useRead(searchProcessInstances, () => ({ body: { filter, page: { limit: 1 } }, live: true }));
  const totals = [
    { label: 'Running', href: '/operate/processes?active=true&incidents=true', query: count({ state: 'ACTIVE' }) },
    { label: 'With incidents', href: '/operate/processes?incidents=true', query: count({ state: 'ACTIVE', hasIncident: true }) },
    { label: 'Suspended', href: '/operate/processes?suspended=true', query: count({ state: 'SUSPENDED' }) },
  ];
  const processes = useRead(getProcessDefinitionInstanceStatistics, () => ({
    body: {
      page: { limit: ROWS },
      sort: [
        { field: 'activeInstancesWithIncidentCount' as const, order: 'DESC' as const },
        { field: 'activeInstancesWithoutIncidentCount' as const, order: 'DESC' as const },
      ],
    },
    live: true,
  }));
  const errors = useRead(getProcessInstanceStatisticsByError, () => ({
    body: { page: { limit: ROWS }, sort: [{ field: 'activeInstancesWithErrorCount' as const, order: 'DESC' as const }] },
    live: true,
  }));
  const definitions = useRead(searchProcessDefinitions, () => ({ body: { page: { limit: 1 } }, live: true }));
  return (
    <main class="page">
      <h1>Overview</h1>
      <div class="totals">
        <For each={totals}>
          {({ label, href, query }) => (
            <a href={at(href)}>
              <span class="muted">{label}</span>
              <strong>{query.error ? '?' : query.data ? total(query.data.page) : '…'}</strong>
            </a>
          )}
        </For>
      </div>
      <Show when={definitions.data?.page.totalItems === 0}>
        <section class="panel" aria-label="First process">
          <h2>Nothing is deployed yet</h2>
          <p>Drop a BPMN file anywhere below, or choose one.</p>
          <Deploy />
        </section>
      </Show>
      <div class="grid">
        <section class="panel" aria-label="Processes">
          <h2>Processes with running instances</h2>
          <Show when={processes.error}>{(error) => <Failure of={error()} again={() => void processes.refetch()} />}</Show>
          <Show when={processes.data}>
            {(found) => (
              <Show when={found().items.length > 0} fallback={<p class="empty">No process has running instances.</p>}>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Process</th>
                      <th scope="col" class="number">
                        Incidents
                      </th>
                      <th scope="col" class="number">
                        Running
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    <For each={found().items}>
                      {(one) => {
                        const of = `process=${encodeURIComponent(one.processDefinitionId)}`;
                        return (
                          <tr>
                            <td>
                              <a href={at(`/operate/processes?${of}&active=true&incidents=true`)}>{one.latestProcessDefinitionName || one.processDefinitionId}</a>{' '}
                              <span class="muted">{one.hasMultipleVersions ? 'several versions' : ''}</span>
                            </td>
                            <td class="number">
                              <a href={at(`/operate/processes?${of}&incidents=true`)}>{number(one.activeInstancesWithIncidentCount)}</a>
                            </td>
                            <td class="number">{number(one.activeInstancesWithIncidentCount + one.activeInstancesWithoutIncidentCount)}</td>
                          </tr>
                        );
                      }}
                    </For>
                  </tbody>
                </table>
                <Rest shown={found().items.length} of={found().page.totalItems} what="processes" />
              </Show>
            )}
          </Show>
        </section>
        <section class="panel" aria-label="Incidents by error">
          <h2>Incidents by error</h2>
          <Show when={errors.error}>{(error) => <Failure of={error()} again={() => void errors.refetch()} />}</Show>
          <Show when={errors.data}>
            {(found) => (
              <Show when={found().items.length > 0} fallback={<p class="empty">There are no incidents.</p>}>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Error</th>
                      <th scope="col" class="number">
                        Instances
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    <For each={found().items}>
                      {(one) => (
                        <tr>
                          <td>
                            <a href={at(`/operate/processes?incidents=true&incidentErrorHashCode=${one.errorHashCode}`)}>{one.errorMessage.slice(0, 300) || 'without a message'}</a>
                          </td>
                          <td class="number">{number(one.activeInstancesWithErrorCount)}</td>
                        </tr>
                      )}
                    </For>
                  </tbody>
                </table>
                <Rest shown={found().items.length} of={found().page.totalItems} what="errors" />
              </Show>
            )}
          </Show>
        </section>
      </div>
    </main>
  );
}

/** Says so where a table is cut. */
function Rest(props: { shown: number; of: number; what: string }): JSX.Element {
  return (
    <Show when={props.of > props.shown}>
      <p class="muted">
        The first {number(props.shown)} of {number(props.of)} {props.what}.
      </p>
    </Show>
  );
}
