import { A, useParams, useSearchParams } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import { listJobTypes, listWorkers } from '../api/generated/operations';
import type { BatonJobType } from '../api/generated/types';
import { useRead } from '../query';
import { number } from '../ui/numbers';
import { Failure, wordOf } from '../ui/parts';
import { Time } from '../ui/time';
import { Views } from '../views/Views';
import { byTrouble, stateOf } from './demand';

const PAGE = 500;

/** Job types with what waits, who has it, and who would take more. */
export default function JobTypes(): JSX.Element {
  const params = useParams<{ type?: string }>();
  const [query, setQuery] = useSearchParams<{ type: string; after: string; find: string }>();
  const chosen = () => query.type ?? (params.type === undefined ? undefined : decodeURIComponent(params.type));
  const found = useRead(listJobTypes, () => ({ query: { limit: PAGE, ...(query.after ? { after: query.after } : {}) }, live: true }));
  const rows = () => (found.data?.items ?? []).filter(({ jobType }) => jobType.toLowerCase().includes((query.find ?? '').toLowerCase())).sort(byTrouble);
  const link = (one: BatonJobType) => `/operate/jobs?${new URLSearchParams({ ...(query.find ? { find: query.find } : {}), ...(query.after ? { after: query.after } : {}), type: one.jobType })}`;
  return (
    <main class="page">
      <div class="row">
        <h1>Jobs and workers</h1>
        <span class="muted" role="status">
          {found.data ? `${number(found.data.items.length)} types` : ''}
        </span>
        <span class="spacer" />
        <input type="search" aria-label="Find a job type" placeholder="Type" value={query.find ?? ''} onInput={(event) => setQuery({ find: event.currentTarget.value || null }, { replace: true })} />
        <Views page="operate/jobs" />
      </div>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data?.isPartial}>
        <p class="notice">Workers at other brokers are not known here: demand is that of this broker alone.</p>
      </Show>
      <Show when={found.data} fallback={<Show when={!found.error}><p class="empty">Loading …</p></Show>}>
        <Show when={rows().length > 0} fallback={<p class="empty">{query.find ? 'No job type has this in its name.' : 'There are no jobs, and no workers wait for any.'}</p>}>
          <div class="scroll" tabindex="0" role="region" aria-label="Job types">
            <table aria-label="Job types">
              <thead>
                <tr>
                  <th scope="col">State</th>
                  <th scope="col">Type</th>
                  <th scope="col">Tenant</th>
                  <For each={['Waiting', 'In flight', 'Failed', 'Timed out']}>
                    {(head) => (
                      <th scope="col" class="number">
                        {head}
                      </th>
                    )}
                  </For>
                  <th scope="col">Oldest waits since</th>
                  <For each={['Streams', 'Polls', 'Free places']}>
                    {(head) => (
                      <th scope="col" class="number">
                        {head}
                      </th>
                    )}
                  </For>
                </tr>
              </thead>
              <tbody>
                <For each={rows()}>
                  {(one) => (
                    <tr classList={{ chosen: one.jobType === chosen() }}>
                      <td>
                        <span class={`state ${stateOf(one).kind}`}>{stateOf(one).words}</span>
                      </td>
                      <td>
                        <A href={link(one)} noScroll aria-current={one.jobType === chosen() ? 'true' : undefined}>
                          {one.jobType.slice(0, 300) || 'without a name'}
                        </A>
                      </td>
                      <td>{one.tenantId === '<default>' ? '–' : one.tenantId}</td>
                      <For each={[one.waiting, one.inFlight, one.failed, one.timedOut]}>{(count) => <td class="number">{number(count)}</td>}</For>
                      <td>
                        <Time of={one.oldestWaitingSince} />
                      </td>
                      <For each={[one.streams, one.polls, one.freePlaces]}>{(count) => <td class="number">{number(count)}</td>}</For>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
          </div>
        </Show>
        <Show when={query.after || found.data!.items.length === PAGE}>
          <div class="row">
            <button disabled={!query.after} onClick={() => setQuery({ after: null })}>
              First
            </button>
            <button disabled={found.data!.items.length < PAGE} onClick={() => setQuery({ after: found.data!.items.at(-1)!.jobType })}>
              Next
            </button>
          </div>
        </Show>
      </Show>
      <Show when={chosen()} keyed>
        {(type) => <Workers jobType={type} onClose={() => setQuery({ type: null })} />}
      </Show>
    </main>
  );
}

/** The workers that are there for jobs of a type. */
function Workers(props: { jobType: string; onClose: () => void }): JSX.Element {
  const [limit, setLimit] = createSignal(PAGE);
  const found = useRead(listWorkers, () => ({ path: { jobType: props.jobType }, live: true }));
  return (
    <section class="panel stack" aria-label="Workers">
      <div class="row">
        <h2>Workers of {props.jobType.slice(0, 300)}</h2>
        <span class="spacer" />
        <button class="plain" aria-label="Close the workers" onClick={() => props.onClose()}>
          ✕
        </button>
      </div>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data?.isPartial}>
        <p class="notice">Workers at other brokers are not known here.</p>
      </Show>
      <Show when={found.data && found.data.items.length === 0}>
        <p class="empty">No worker is there for this type. Jobs wait until one comes.</p>
      </Show>
      <Show when={found.data && found.data.items.length > 0}>
        <div class="scroll" tabindex="0" role="region" aria-label="Workers">
          <table aria-label="Workers">
            <thead>
              <tr>
                <th scope="col">Worker</th>
                <th scope="col">Asks by</th>
                <For each={['Connections', 'Free places', 'Has']}>
                  {(head) => (
                    <th scope="col" class="number">
                      {head}
                    </th>
                  )}
                </For>
                <th scope="col">Tenants</th>
              </tr>
            </thead>
            <tbody>
              <For each={found.data?.items.slice(0, limit())}>
                {(one) => (
                  <tr>
                    <td>{one.worker.slice(0, 300) || 'without a name'}</td>
                    <td>{wordOf(one.kind)}</td>
                    <For each={[one.count, one.freePlaces, one.holds]}>{(count) => <td class="number">{number(count)}</td>}</For>
                    <td>{one.tenantIds.join(', ')}</td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
        <Show when={found.data!.items.length > limit()}>
          <button onClick={() => setLimit(limit() + PAGE)}>Show more of {number(found.data!.items.length)}</button>
        </Show>
      </Show>
    </section>
  );
}
