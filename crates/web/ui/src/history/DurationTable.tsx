import { For, type JSX } from 'solid-js';
import type { BatonDuration } from '../api/generated/types';
import { t } from '../language';
import { number } from '../ui/numbers';
import { durationText } from '../ui/times';
import { type Measure, valueOf, valueText } from './measures';

const HEADS = ['history.measure.count', 'history.head.averageMs', 'history.measure.p50Ms', 'history.measure.p95Ms', 'history.measure.maxMs', 'history.head.total', 'history.measure.waitMs', 'history.measure.workMs'] as const;

/** Durations by element, with a bar of the measure that is chosen. */
export function DurationTable(props: { rows: readonly BatonDuration[]; measure: Measure; chosen: string | undefined; nameOf: (elementId: string) => string }): JSX.Element {
  const value = (row: BatonDuration) => valueOf(row, props.measure) ?? 0;
  const most = () => Math.max(1, ...props.rows.map(value));
  return (
    <div class="scroll" tabindex="0" role="region" aria-label={t('history.durations')}>
      <table aria-label={t('history.durations')}>
        <thead>
          <tr>
            <th scope="col">{t('history.head.element')}</th>
            <For each={HEADS}>
              {(head) => (
                <th scope="col" class="number">
                  {t(head)}
                </th>
              )}
            </For>
            <th scope="col">
              <span class="hidden-label">{t('history.durations.barOf')} </span>
              {t(`history.measure.${props.measure}`)}
            </th>
          </tr>
        </thead>
        <tbody>
          <For each={props.rows}>
            {(row) => (
              <tr classList={{ chosen: row.elementId === props.chosen }}>
                <td>{props.nameOf(row.elementId).slice(0, 200)}</td>
                <td class="number">{number(row.count)}</td>
                <For each={[row.averageMs, row.p50Ms, row.p95Ms, row.maxMs, row.totalMs]}>{(ms) => <td class="number">{durationText(ms)}</td>}</For>
                <For each={['waitMs', 'workMs'] as const}>{(measure) => <td class="number">{valueText(row, measure)}</td>}</For>
                <td class="bar-cell">
                  <div class="bar-of" style={{ width: `${(100 * value(row)) / most()}%` }} title={valueText(row, props.measure)}>
                    <span class="way working" style={{ width: '100%' }} />
                  </div>
                </td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  );
}
