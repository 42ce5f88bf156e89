import { A, useSearchParams } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import { searchProcessDefinitions } from '../api/generated/operations';
import { useRead } from '../query';
import { total } from '../ui/numbers';
import { Failure } from '../ui/parts';

const PAGE = 60;

/** Processes that can be started. */
export default function Processes(): JSX.Element {
  const [query, setQuery] = useSearchParams<{ search: string }>();
  const [limit, setLimit] = createSignal(PAGE);
  const found = useRead(searchProcessDefinitions, () => ({
    body: {
      filter: { isLatestVersion: true, ...(query.search ? { name: { $like: `*${query.search.replace(/[\\*?]/g, '\\$&')}*` } } : {}) },
      sort: [{ field: 'name' as const, order: 'ASC' as const }],
      page: { limit: limit() },
    },
    live: true,
  }));
  return (
    <main class="page">
      <div class="row">
        <h1>Start a process</h1>
        <input type="search" aria-label="Find a process by name" placeholder="Name" value={query.search ?? ''} onChange={(event) => setQuery({ search: event.currentTarget.value || null })} />
        <span class="muted" role="status">
          {total(found.data?.page)} processes
        </span>
      </div>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <div class="tiles">
        <For each={found.data?.items} fallback={<Show when={found.data}><p class="empty">There is no such process.</p></Show>}>
          {(one) => (
            <section class="panel" aria-label={one.name || one.processDefinitionId}>
              <h2>{one.name || one.processDefinitionId}</h2>
              <p class="muted">
                version {one.version}
                {one.hasStartForm ? ', with a form' : ''}
                {one.tenantId === '<default>' ? '' : `, tenant ${one.tenantId}`}
              </p>
              <A href={`/tasklist/processes/${encodeURIComponent(one.processDefinitionId)}/start`}>Start …</A>
            </section>
          )}
        </For>
      </div>
      <Show when={(found.data?.items.length ?? 0) === limit()}>
        <button onClick={() => setLimit(limit() + PAGE)}>Show more</button>
      </Show>
    </main>
  );
}
