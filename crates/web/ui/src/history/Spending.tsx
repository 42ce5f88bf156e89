import { createMemo, For, type JSX, Show } from 'solid-js';
import type { BatonStep } from '../api/generated/types';
import { t } from '../language';
import { Text } from '../language/Text';
import { clock } from '../ui/clock';
import { number } from '../ui/numbers';
import { durationText } from '../ui/times';
import { type Spent, timeSpent, type Way, WAYS } from './fold';

const ROWS_MAX = 100;

/** Where the time of one instance went: by element, and in which way. */
export function Spending(props: { steps: readonly BatonStep[]; isRunning: boolean; nameOf: (elementId: string) => string }): JSX.Element {
  const end = () => Math.max(Date.parse(props.steps.at(-1)?.time ?? '') || 0, props.isRunning ? clock() : 0);
  const rows = createMemo(() => timeSpent(props.steps, end()));
  const most = () => Math.max(1, ...rows().map(({ total }) => total));
  const sum = (way: Way | 'total') => rows().reduce((all, one) => all + one[way], 0);
  const share = (part: number, of: number) => `${of === 0 ? 0 : Math.round((100 * part) / of)} %`;
  const ways = () => (
    <For each={WAYS}>
      {(way, at) => (
        <>
          {at() > 0 ? ', ' : ''}
          <span class={`way ${way}`} aria-hidden="true" /> {t(`history.share.${way}`, { share: share(sum(way), sum('total')) })}
        </>
      )}
    </For>
  );
  return (
    <section class="panel stack" aria-label={t('history.spent')}>
      <h2>{t('history.spent')}</h2>
      <p>
        <Text of={props.isRunning ? 'history.spent.untilNow' : 'history.spent.inAll'} at={{ total: <>{durationText(sum('total'))}</>, ways: ways() }} />
      </p>
      <div class="scroll" tabindex="0" role="region" aria-label={t('history.spent.byElement')}>
        <table aria-label={t('history.spent.byElement')}>
          <thead>
            <tr>
              <th scope="col">{t('history.head.element')}</th>
              <th scope="col" class="number">
                {t('history.head.times')}
              </th>
              <th scope="col" class="number">
                {t('history.head.inAll')}
              </th>
              <For each={WAYS}>
                {(way) => (
                  <th scope="col" class="number">
                    {t(`history.way.${way}`)}
                  </th>
                )}
              </For>
              <th scope="col">
                <span class="hidden-label">{t('history.head.bar')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            <For each={rows().slice(0, ROWS_MAX)}>
              {(one: Spent) => (
                <tr>
                  <td>{props.nameOf(one.elementId).slice(0, 200)}</td>
                  <td class="number">{number(one.count)}</td>
                  <td class="number">{durationText(one.total)}</td>
                  <For each={WAYS}>{(way) => <td class="number">{one[way] > 0 ? durationText(one[way]) : '–'}</td>}</For>
                  <td class="bar-cell">
                    <div class="bar-of" style={{ width: `${(100 * one.total) / most()}%` }} aria-hidden="true">
                      <For each={WAYS}>{(way) => <span class={`way ${way}`} style={{ width: `${one.total === 0 ? 0 : (100 * one[way]) / one.total}%` }} />}</For>
                    </div>
                  </td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
      <Show when={rows().length > ROWS_MAX}>
        <p class="muted">{t('history.spent.first', { shown: ROWS_MAX, all: number(rows().length) })}</p>
      </Show>
    </section>
  );
}
