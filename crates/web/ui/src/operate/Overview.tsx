import { For, type JSX, lazy, Show } from 'solid-js';
import { at } from '../base';
import {
  getProcessDefinitionInstanceStatistics,
  getProcessInstanceStatisticsByError,
  searchProcessDefinitions,
  searchProcessInstances,
} from '../api/generated/operations';
import type { ProcessDefinitionInstanceStatisticsResult, ProcessInstanceFilter } from '../api/generated/types';
import { t, withParts } from '../language';
import { useRead } from '../query';
import { number, total } from '../ui/numbers';
import { Failure } from '../ui/parts';
import { Deploy } from './Deploy';
import { BROKEN, RUNNING, RUNNING_QUERY } from './filters';
import { Slowest, Trends } from './overview/Trends';
import { WithoutWorker } from './overview/WithoutWorker';

const Server = lazy(() => withParts(import('./overview/Server'), 'admin'));

const ROWS = 50;

/** The front door: how much runs, what is wrong, how the last day was, and how it is about the server. */
export default function Overview(): JSX.Element {
  const count = (filter: ProcessInstanceFilter) => useRead(searchProcessInstances, () => ({ body: { filter, page: { limit: 1 } }, live: true }));
  const totals = [
    { label: () => t('lists.running'), href: `/operate/processes?${RUNNING_QUERY}`, query: count(RUNNING) },
    { label: () => t('lists.overview.withIncidents'), href: '/operate/processes?incidents=true', query: count(BROKEN) },
    { label: () => t('lists.state.suspended'), href: '/operate/processes?suspended=true', query: count({ state: 'SUSPENDED' }) },
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
  const running = (one: ProcessDefinitionInstanceStatisticsResult) => one.activeInstancesWithIncidentCount + one.activeInstancesWithoutIncidentCount;
  const most = () => Math.max(0, ...(processes.data?.items ?? []).map(running));
  const definitions = useRead(searchProcessDefinitions, () => ({ body: { page: { limit: 1 } }, live: true }));
  return (
    <main class="page">
      <h1>{t('page.Overview')}</h1>
      <div class="totals">
        <For each={totals}>
          {({ label, href, query }) => (
            <a href={at(href)}>
              <span class="muted">{label()}</span>
              <strong>{query.error ? '?' : query.data ? total(query.data.page) : '…'}</strong>
            </a>
          )}
        </For>
      </div>
      <Show when={definitions.data?.page.totalItems === 0}>
        <section class="panel" aria-label={t('lists.overview.first')}>
          <h2>{t('lists.overview.nothing')}</h2>
          <p>{t('lists.overview.drop')}</p>
          <Deploy />
        </section>
      </Show>
      {/* Without a store, nothing of the page is asked again. */}
      <Show when={definitions.data}>
        <WithoutWorker />
        <Trends />
      </Show>
      <div class="grid">
        <section class="panel" aria-label={t('lists.overview.processes')}>
          <h2>{t('lists.overview.processesRunning')}</h2>
          <Show when={processes.error}>{(error) => <Failure of={error()} again={() => void processes.refetch()} />}</Show>
          <Show when={processes.data}>
            {(found) => (
              <Show when={found().items.length > 0} fallback={<p class="empty">{t('lists.overview.noProcess')}</p>}>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">{t('lists.process')}</th>
                      <th scope="col" class="number">
                        {t('page.Incidents')}
                      </th>
                      <th scope="col" class="number">
                        {t('lists.running')}
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
                              <a href={at(`/operate/processes?${of}&${RUNNING_QUERY}`)}>{one.latestProcessDefinitionName || one.processDefinitionId}</a>{' '}
                              <span class="muted">{one.hasMultipleVersions ? t('lists.overview.versions') : ''}</span>
                              <Share of={one.activeInstancesWithIncidentCount} all={running(one)} most={most()} />
                            </td>
                            <td class="number">
                              <a href={at(`/operate/processes?${of}&incidents=true`)}>{number(one.activeInstancesWithIncidentCount)}</a>
                            </td>
                            <td class="number">
                              <a href={at(`/operate/processes?${of}&${RUNNING_QUERY}`)}>{number(running(one))}</a>
                            </td>
                          </tr>
                        );
                      }}
                    </For>
                  </tbody>
                </table>
                <Rest shown={found().items.length} of={found().page.totalItems} kind="processes" />
              </Show>
            )}
          </Show>
        </section>
        <section class="panel" aria-label={t('lists.overview.byError')}>
          <h2>{t('lists.overview.byError')}</h2>
          <Show when={errors.error}>{(error) => <Failure of={error()} again={() => void errors.refetch()} />}</Show>
          <Show when={errors.data}>
            {(found) => (
              <Show when={found().items.length > 0} fallback={<p class="empty">{t('lists.incidents.none')}</p>}>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">{t('lists.overview.error')}</th>
                      <th scope="col" class="number">
                        {t('page.Instances')}
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    <For each={found().items}>
                      {(one) => (
                        <tr>
                          <td>
                            <a href={at(`/operate/processes?incidents=true&incidentErrorHashCode=${one.errorHashCode}`)}>{one.errorMessage.slice(0, 300) || t('lists.noErrorMessage')}</a>
                          </td>
                          <td class="number">
                            <a href={at(`/operate/processes?incidents=true&incidentErrorHashCode=${one.errorHashCode}`)}>{number(one.activeInstancesWithErrorCount)}</a>
                          </td>
                        </tr>
                      )}
                    </For>
                  </tbody>
                </table>
                <Rest shown={found().items.length} of={found().page.totalItems} kind="errors" />
              </Show>
            )}
          </Show>
        </section>
        <Show when={definitions.data}>
          <Slowest />
          <Server />
        </Show>
      </div>
    </main>
  );
}

/** Running instances as a bar, as long as there are many beside those of the largest process; the part with incidents is red. */
function Share(props: { of: number; all: number; most: number }): JSX.Element {
  const part = (count: number, all: number) => `${all === 0 ? 0 : (100 * count) / all}%`;
  return <span class="share of-all" aria-hidden="true" style={{ '--share': part(props.of, props.all), width: part(props.all, props.most) }} />;
}

/** Says so where a table is cut. */
function Rest(props: { shown: number; of: number; kind: 'processes' | 'errors' }): JSX.Element {
  return (
    <Show when={props.of > props.shown}>
      <p class="muted">{t(`lists.overview.first.${props.kind}`, { shown: number(props.shown), all: number(props.of) })}</p>
    </Show>
  );
}
