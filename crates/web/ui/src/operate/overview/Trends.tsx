import { For, type JSX, Show } from 'solid-js';
import { getJobTrend, getProcessInstanceTrend } from '../../api/generated/operations';
import type { BatonSlowElement } from '../../api/generated/types';
import { at } from '../../base';
import { useModel } from '../../diagram/model';
import { t } from '../../language';
import { useRead } from '../../query';
import { need } from '../../rights';
import { useHas } from '../../ui/May';
import { number } from '../../ui/numbers';
import { Failure } from '../../ui/parts';
import { durationText } from '../../ui/times';
import { definitionAddress } from '../definition/address';
import { HourBars } from './HourBars';

/** Elements that are named, for each of which the model of its process is asked for. */
const SLOWEST_SHOWN = 5;

/** The last day: instances and jobs by the hour, and the elements that took longest. All of it is counted as it happens. */
export function Trends(): JSX.Element {
  const instances = useRead(getProcessInstanceTrend, () => ({ live: true }));
  const seesJobs = useHas(need('SYSTEM', 'READ_JOB_METRIC'));
  const jobs = useRead(getJobTrend, () => ({ live: true, enabled: seesJobs() }));
  return (
    <>
      <Show when={instances.error}>{(error) => <Failure of={error()} again={() => void instances.refetch()} />}</Show>
      <div class="grid">
        <Show when={instances.data?.isCounted ? instances.data : undefined}>
          {(told) => (
            <HourBars
              label={t('lists.trend.instances')}
              hours={told().hours}
              series={[
                { name: t('lists.trend.started'), kind: 'accent', of: (hour) => hour.started },
                { name: t('lists.trend.ended'), kind: 'ok', of: (hour) => hour.ended },
                { name: t('page.Incidents'), kind: 'incident', of: (hour) => hour.incidents },
              ]}
            />
          )}
        </Show>
        <Show when={jobs.data}>
          {(told) => (
            <HourBars
              label={t('lists.trend.jobs')}
              hours={told().hours}
              series={[
                { name: t('lists.trend.created'), kind: 'accent', of: (hour) => hour.created },
                { name: t('lists.trend.completed'), kind: 'ok', of: (hour) => hour.completed },
                { name: t('lists.trend.failed'), kind: 'incident', of: (hour) => hour.failed },
              ]}
            />
          )}
        </Show>
      </div>
    </>
  );
}

/** The elements that took longest on average in the last day. */
export function Slowest(): JSX.Element {
  const found = useRead(getProcessInstanceTrend, () => ({ live: true }));
  // Events and gateways take no time, and nobody waits for them.
  const rows = () => (found.data?.slowest ?? []).filter((one) => one.averageMs > 0).slice(0, SLOWEST_SHOWN);
  const longest = () => rows()[0]?.averageMs ?? 1;
  return (
    <Show when={rows().length > 0}>
      <section class="panel" aria-label={t('lists.trend.slowest')}>
        <h2>{t('lists.trend.slowest')}</h2>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('lists.element')}</th>
              <th scope="col" class="number">
                {t('lists.trend.average')}
              </th>
              <th scope="col" class="number">
                {t('lists.trend.longest')}
              </th>
              <th scope="col" class="number">
                {t('lists.trend.ended')}
              </th>
            </tr>
          </thead>
          <tbody>
            <For each={rows()}>
              {(one) => (
                <tr>
                  <td>
                    <a href={at(definitionAddress({ processDefinitionId: one.processDefinitionId }, '/durations'))}>
                      <Name of={one} />
                    </a>{' '}
                    <span class="muted">{one.processDefinitionId}</span>
                    <span class="share time" aria-hidden="true" style={{ '--share': `${(100 * one.averageMs) / longest()}%` }} />
                  </td>
                  <td class="number">{durationText(one.averageMs)}</td>
                  <td class="number">{durationText(one.maxMs)}</td>
                  <td class="number">{number(one.count)}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </section>
    </Show>
  );
}

function Name(props: { of: BatonSlowElement }): JSX.Element {
  const model = useModel(() => props.of);
  return <>{model()?.nameOf(props.of.elementId) ?? props.of.elementId}</>;
}
