import { useSearchParams } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import { searchProcessDefinitions } from '../api/generated/operations';
import type { ProcessDefinitionResult } from '../api/generated/types';
import { count, t } from '../language';
import { useRead } from '../query';
import { ofProcess } from '../rights';
import { otherTenant, tenantParameter } from '../tenant';
import { MayLink } from '../ui/May';
import { total } from '../ui/numbers';
import { Failure } from '../ui/parts';

const PAGE = 60;

/** The page that starts a process; an ID is unique in a tenant only. */
const startAddress = ({ processDefinitionId, tenantId }: ProcessDefinitionResult): string =>
  `/tasklist/processes/${encodeURIComponent(processDefinitionId)}/start${tenantParameter('?', tenantId)}`;

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
        <h1>{t('start.title')}</h1>
        <input type="search" aria-label={t('start.find')} placeholder={t('start.name')} value={query.search ?? ''} onChange={(event) => setQuery({ search: event.currentTarget.value || null })} />
        <span class="muted" role="status">
          {found.data?.page.hasMoreTotalItems ? total(found.data.page) : count(found.data?.page.totalItems ?? 0, 'start.count.one', 'start.count.other')}
        </span>
      </div>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <div class="tiles">
        <For each={found.data?.items} fallback={<Show when={found.data}><p class="empty">{t('start.none')}</p></Show>}>
          {(one) => (
            <section class="panel" aria-label={one.name || one.processDefinitionId}>
              <h2>{one.name || one.processDefinitionId}</h2>
              <p class="muted">
                {[t('start.version', { version: one.version }), one.hasStartForm ? t('start.withForm') : '', otherTenant(one.tenantId) ? t('start.tenant', { tenant: one.tenantId }) : '']
                  .filter((part) => part !== '')
                  .join(', ')}
              </p>
              <MayLink href={startAddress(one)} needs={ofProcess('CREATE_PROCESS_INSTANCE', one.processDefinitionId)}>
                {t('start.start')}
              </MayLink>
            </section>
          )}
        </For>
      </div>
      <Show when={(found.data?.items.length ?? 0) === limit()}>
        <button onClick={() => setLimit(limit() + PAGE)}>{t('part.more')}</button>
      </Show>
    </main>
  );
}
