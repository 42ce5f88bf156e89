import { createMemo, For, type JSX, Show } from 'solid-js';
import type { BatonHour } from '../api/generated/types';
import { t } from '../language';
import { exactText } from '../ui/times';
import { everyHour, type Measure, MEASURE_NAMES, valueOf, valueText } from './measures';

const HEIGHT = 80;
const STEP = 6;
const WIDTH = 5;
/** So few hours are not drawn as wide as the page. */
const HOURS_MIN = 24;

/** A measure by hour, as bars, and as a table for whoever wants numbers. */
export function Hours(props: { hours: readonly BatonHour[]; measure: Measure; of: string }): JSX.Element {
  const every = createMemo(() => everyHour(props.hours));
  const most = () => Math.max(1, ...props.hours.map((hour) => valueOf(hour, props.measure) ?? 0));
  const height = (hour: BatonHour | undefined) => (hour ? (HEIGHT * (valueOf(hour, props.measure) ?? 0)) / most() : 0);
  const word = () => t(`history.measure.${props.measure}`);
  const at = (time: number) => exactText(new Date(time).toISOString());
  return (
    <Show when={props.hours.length > 0}>
      <section class="panel stack" aria-label={t('history.hours')}>
        <h2>
          {t('history.hours.of', { measure: word(), name: props.of.slice(0, 200) })}
        </h2>
        <svg class="hours" viewBox={`0 0 ${STEP * Math.max(HOURS_MIN, every().length)} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={t('history.hours.from', { measure: word(), from: at(every()[0]!.time), to: at(every().at(-1)!.time) })}>
          <For each={every()}>
            {({ time, told }, index) => (
              <rect x={STEP * index()} y={HEIGHT - height(told)} width={WIDTH} height={height(told)}>
                <title>{`${at(time)}: ${told ? valueText(told, props.measure) : t('history.hours.nothing')}`}</title>
              </rect>
            )}
          </For>
        </svg>
        <details>
          <summary>{t('history.hours.table')}</summary>
          <div class="scroll" tabindex="0" role="region" aria-label={t('history.hours.durations')}>
            <table aria-label={t('history.hours.durations')}>
              <thead>
                <tr>
                  <th scope="col">{t('history.hours.hour')}</th>
                  <For each={MEASURE_NAMES}>
                    {(measure) => (
                      <th scope="col" class="number">
                        {t(`history.measure.${measure}`)}
                      </th>
                    )}
                  </For>
                </tr>
              </thead>
              <tbody>
                <For each={props.hours}>
                  {(hour) => (
                    <tr>
                      <td>{at(Date.parse(hour.time))}</td>
                      <For each={MEASURE_NAMES}>{(measure) => <td class="number">{valueText(hour, measure)}</td>}</For>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
          </div>
        </details>
      </section>
    </Show>
  );
}
