import { For, type JSX, Show } from 'solid-js';
import { listJobTypes } from '../../api/generated/operations';
import { at } from '../../base';
import { t } from '../../language';
import { useRead } from '../../query';
import { need } from '../../rights';
import { useHas } from '../../ui/May';
import { number } from '../../ui/numbers';
import { Time } from '../../ui/time';
import { byTrouble } from '../../workers/demand';

/** Job types that are looked at for missing workers, and those that are shown. */
const TYPES = 500;
const TYPES_SHOWN = 5;

/** Types of jobs that wait though no worker asks for them, the one with the oldest job first; nothing if there is none. */
export function WithoutWorker(): JSX.Element {
  const isSeen = useHas(need('SYSTEM', 'READ_JOB_METRIC'));
  const found = useRead(listJobTypes, () => ({ query: { limit: TYPES }, live: true, enabled: isSeen() }));
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
