import { A } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import { searchIncidents, searchJobs } from '../api/generated/operations';
import type { JobFilter } from '../api/generated/types';
import { t } from '../language';
import { useRead } from '../query';
import { totalOf } from '../ui/numbers';
import { Failure, State } from '../ui/parts';
import { Time } from '../ui/time';
import { CopyList } from '../views/CopyAs';

const PAGE = 20;
/** A job that is tried again is in one of these until a worker is done with it. */
const TRIED = ['RETRIES_UPDATED', 'FAILED'] as const;

/** Jobs that failed, are tried again, and have no incident: what comes of it is not known before a worker is done, or a
 * new incident comes. The server tells so, to others and after a reload, too. */
export function Retrying(props: { filter: JobFilter; withInstance?: boolean }): JSX.Element {
  const [limit, setLimit] = createSignal(PAGE);
  const found = useRead(searchJobs, () => ({
    body: {
      filter: { ...props.filter, state: { $in: [...TRIED] }, retries: { $gt: 0 } },
      sort: [{ field: 'jobKey' as const, order: 'DESC' as const }],
      page: { limit: limit() },
    },
    live: true,
  }));
  const keys = () => (found.data?.items ?? []).map((job) => job.jobKey);
  // A job that was given retries may have its incident open still.
  const incidents = useRead(searchIncidents, () => ({
    body: { filter: { state: 'ACTIVE' as const, jobKey: { $in: keys() } }, page: { limit: Math.max(1, keys().length) } },
    enabled: keys().length > 0,
    live: true,
  }));
  const open = () => new Set((incidents.data?.items ?? []).map((one) => one.jobKey));
  const rows = () => (keys().length > 0 && !incidents.data && !incidents.error ? [] : (found.data?.items ?? []).filter((job) => !open().has(job.jobKey)));
  const isTaken = (job: { worker: string; deadline: string | null }) => job.worker !== '' && job.deadline !== null && Date.parse(job.deadline) > Date.now();
  return (
    <>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={rows().length > 0}>
        <section class="panel stack" aria-label={t('change.retrying')}>
          <div class="row">
            <h2>{t('change.retrying')}</h2>
            <span class="muted" role="status">
              {totalOf(found.data?.page, 'change.retrying.count.one', 'change.retrying.count.other')}
            </span>
            <span class="spacer" />
            <CopyList of={found} />
          </div>
          <div class="scroll" tabindex="0" role="region" aria-label={t('change.retrying.table')}>
            <table aria-label={t('change.retrying.table')}>
              <tbody>
                <For each={rows()}>
                  {(job) => (
                    <tr>
                      <td>
                        <State of="RETRIES_UPDATED" word={t('change.retrying.state')} />
                      </td>
                      <td>{job.elementId}</td>
                      <Show when={props.withInstance}>
                        <td>
                          <A class="key" href={`/operate/processes/${job.processInstanceKey}/incidents`}>
                            {job.processInstanceKey}
                          </A>
                        </td>
                      </Show>
                      <td>{isTaken(job) ? t('change.retrying.taken', { worker: job.worker, type: job.type }) : t('change.retrying.waits', { type: job.type })}</td>
                      <td class="number">{t('change.retrying.left', { count: job.retries })}</td>
                      <td>{(job.errorMessage ?? '').slice(0, 200)}</td>
                      <td>
                        <Time of={job.lastUpdateTime} />
                      </td>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
          </div>
          <Show when={(found.data?.items.length ?? 0) === limit()}>
            <button onClick={() => setLimit(limit() + PAGE)}>{t('part.more')}</button>
          </Show>
        </section>
      </Show>
    </>
  );
}
