import { For, type JSX, Show } from 'solid-js';
import { at } from '../base';
import {
  getProcessDefinitionInstanceStatistics,
  getProcessInstanceStatisticsByError,
  listJobTypes,
  searchProcessDefinitions,
  searchProcessInstances,
} from '../api/generated/operations';
import type { ProcessInstanceFilter } from '../api/generated/types';
import { t } from '../language';
import { useRead } from '../query';
import { need } from '../rights';
import { useHas } from '../ui/May';
import { number, total } from '../ui/numbers';
import { Failure } from '../ui/parts';
import { Time } from '../ui/time';
import { byTrouble } from '../workers/demand';
import { Deploy } from './Deploy';
import { BROKEN, RUNNING, RUNNING_QUERY } from './filters';

const ROWS = 50;
/** Job types that are looked at for missing workers, and those that are shown. */
const TYPES = 500;
const TYPES_SHOWN = 5;

/** How much runs, which processes have incidents, and which errors there are. */
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
      <WithoutWorker hasStore={definitions.data !== undefined} />
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
                            </td>
                            <td class="number">
                              <a href={at(`/operate/processes?${of}&incidents=true`)}>{number(one.activeInstancesWithIncidentCount)}</a>
                              <Share of={one.activeInstancesWithIncidentCount} all={one.activeInstancesWithIncidentCount + one.activeInstancesWithoutIncidentCount} />
                            </td>
                            <td class="number">
                              <a href={at(`/operate/processes?${of}&${RUNNING_QUERY}`)}>{number(one.activeInstancesWithIncidentCount + one.activeInstancesWithoutIncidentCount)}</a>
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
      </div>
    </main>
  );
}

/** A part as a bar below its number. */
function Share(props: { of: number; all: number }): JSX.Element {
  return <span class="share" aria-hidden="true" style={{ '--share': `${props.all === 0 ? 0 : (100 * props.of) / props.all}%` }} />;
}

/** Types of jobs that wait though no worker asks for them, the one with the oldest job first; nothing if there is none. */
function WithoutWorker(props: { hasStore: boolean }): JSX.Element {
  const isSeen = useHas(need('SYSTEM', 'READ_JOB_METRIC'));
  const found = useRead(listJobTypes, () => ({ query: { limit: TYPES }, live: true, enabled: isSeen() && props.hasStore }));
  const rows = () => (found.data?.items ?? []).filter((one) => one.waiting > 0 && one.streams + one.polls === 0).sort(byTrouble);
  return (
    <Show when={rows().length > 0}>
      <section class="panel" aria-label={t('lists.overview.noWorker')}>
        <h2>{t('lists.overview.noWorker')}</h2>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('lists.overview.jobType')}</th>
              <th scope="col" class="number">
                {t('lists.overview.waiting')}
              </th>
              <th scope="col">{t('lists.overview.oldest')}</th>
            </tr>
          </thead>
          <tbody>
            <For each={rows().slice(0, TYPES_SHOWN)}>
              {(one) => (
                <tr>
                  <td>
                    <a href={at(`/operate/jobs?type=${encodeURIComponent(one.jobType)}`)}>{one.jobType.slice(0, 300)}</a>
                  </td>
                  <td class="number">{number(one.waiting)}</td>
                  <td>
                    <Time of={one.oldestWaitingSince} />
                  </td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
        <Show when={rows().length > TYPES_SHOWN}>
          <p>
            <a href={at('/operate/jobs')}>{t('lists.andMore', { count: number(rows().length - TYPES_SHOWN) })}</a>
          </p>
        </Show>
      </section>
    </Show>
  );
}

/** Says so where a table is cut. */
function Rest(props: { shown: number; of: number; kind: 'processes' | 'errors' }): JSX.Element {
  return (
    <Show when={props.of > props.shown}>
      <p class="muted">{t(`lists.overview.first.${props.kind}`, { shown: number(props.shown), all: number(props.of) })}</p>
    </Show>
  );
}
