import { A, useParams, useSearchParams } from '@solidjs/router';
import { createEffect, createMemo, createSignal, For, type JSX, Show } from 'solid-js';
import { listJobTypes, listWorkers } from '../api/generated/operations';
import type { BatonJobType } from '../api/generated/types';
import { count, t } from '../language';
import { useRead } from '../query';
import { otherTenant } from '../tenant';
import { intoSight } from '../ui/fit';
import { number } from '../ui/numbers';
import { Failure, wordOf } from '../ui/parts';
import { Time } from '../ui/time';
import { CopyList } from '../views/CopyAs';
import { Views } from '../views/Views';
import { byTrouble, stateOf } from './demand';

const PAGE = 500;
/** Columns of numbers: of jobs of a type, of demand for them, of a worker. */
const JOBS = ['waiting', 'inFlight', 'failed', 'timedOut'] as const;
const DEMAND = ['streams', 'polls', 'freePlaces'] as const;
const WORKER = ['count', 'freePlaces', 'holds'] as const;

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
        <h1>{t('workers.title')}</h1>
        <span class="muted" role="status">
          {found.data ? count(found.data.items.length, 'workers.types.one', 'workers.types.other') : ''}
        </span>
        <span class="spacer" />
        <input type="search" aria-label={t('workers.find')} placeholder={t('workers.head.type')} value={query.find ?? ''} onInput={(event) => setQuery({ find: event.currentTarget.value || null }, { replace: true })} />
        <Views page="operate/jobs" />
        <CopyList of={found} />
      </div>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data?.isPartial}>
        <p class="notice">{t('workers.partial')}</p>
      </Show>
      <Show when={found.data} fallback={<Show when={!found.error}><p class="empty">{t('part.loading')}</p></Show>}>
        <Show when={rows().length > 0} fallback={<p class="empty">{t(query.find ? 'workers.notFound' : 'workers.none')}</p>}>
          <div class="scroll" tabindex="0" role="region" aria-label={t('workers.jobTypes')}>
            <table aria-label={t('workers.jobTypes')}>
              <thead>
                <tr>
                  <th scope="col">{t('workers.head.state')}</th>
                  <th scope="col">{t('workers.head.type')}</th>
                  <th scope="col">{t('workers.head.tenant')}</th>
                  <For each={JOBS}>
                    {(head) => (
                      <th scope="col" class="number">
                        {t(`workers.head.${head}`)}
                      </th>
                    )}
                  </For>
                  <th scope="col">{t('workers.head.oldest')}</th>
                  <For each={DEMAND}>
                    {(head) => (
                      <th scope="col" class="number">
                        {t(`workers.head.${head}`)}
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
                        <span class={`state ${stateOf(one).kind}`}>{t(stateOf(one).words)}</span>
                      </td>
                      <td>
                        <A href={link(one)} noScroll aria-current={one.jobType === chosen() ? 'true' : undefined}>
                          {one.jobType.slice(0, 300) || t('workers.noName')}
                        </A>
                      </td>
                      <td>{otherTenant(one.tenantId) ?? '–'}</td>
                      <For each={JOBS}>{(column) => <td class="number">{number(one[column])}</td>}</For>
                      <td>
                        <Time of={one.oldestWaitingSince} />
                      </td>
                      <For each={DEMAND}>{(column) => <td class="number">{number(one[column])}</td>}</For>
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
              {t('workers.first')}
            </button>
            <button disabled={found.data!.items.length < PAGE} onClick={() => setQuery({ after: found.data!.items.at(-1)!.jobType })}>
              {t('workers.next')}
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
  let panel!: HTMLElement;
  // It opens below a list that may be long; once its rows are there, it is in sight.
  const isThere = createMemo(() => found.data !== undefined);
  createEffect(() => isThere() && intoSight(panel));
  return (
    <section ref={panel} class="panel stack" aria-label={t('workers.workers')}>
      <div class="row">
        <h2>{t('workers.of', { type: props.jobType.slice(0, 300) })}</h2>
        <span class="spacer" />
        <button class="plain" aria-label={t('workers.close')} onClick={() => props.onClose()}>
          ✕
        </button>
      </div>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data?.isPartial}>
        <p class="notice">{t('workers.otherBrokers')}</p>
      </Show>
      <Show when={found.data && found.data.items.length === 0}>
        <p class="empty">{t('workers.nobody')}</p>
      </Show>
      <Show when={found.data && found.data.items.length > 0}>
        <div class="scroll" tabindex="0" role="region" aria-label={t('workers.workers')}>
          <table aria-label={t('workers.workers')}>
            <thead>
              <tr>
                <th scope="col">{t('workers.head.worker')}</th>
                <th scope="col">{t('workers.head.kind')}</th>
                <For each={WORKER}>
                  {(head) => (
                    <th scope="col" class="number">
                      {t(`workers.head.${head}`)}
                    </th>
                  )}
                </For>
                <th scope="col">{t('workers.head.tenants')}</th>
              </tr>
            </thead>
            <tbody>
              <For each={found.data?.items.slice(0, limit())}>
                {(one) => (
                  <tr>
                    <td>{one.worker.slice(0, 300) || t('workers.noName')}</td>
                    <td>{wordOf(one.kind)}</td>
                    <For each={WORKER}>{(column) => <td class="number">{number(one[column])}</td>}</For>
                    <td>{one.tenantIds.join(', ')}</td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
        <Show when={found.data!.items.length > limit()}>
          <button onClick={() => setLimit(limit() + PAGE)}>{t('workers.more', { count: number(found.data!.items.length) })}</button>
        </Show>
      </Show>
    </section>
  );
}
