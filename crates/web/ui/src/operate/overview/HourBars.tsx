import { For, type JSX } from 'solid-js';
import { t } from '../../language';
import { number } from '../../ui/numbers';
import { exactText } from '../../ui/times';

const HEIGHT = 64;

/** A number of each hour, by its name. */
export interface Series<Hour> {
  name: string;
  kind: 'accent' | 'ok' | 'incident';
  of: (hour: Hour) => number;
}

/** Several numbers by the hour as bars side by side, their sums in the legend, and all of them as a table. */
export function HourBars<Hour extends { time: string }>(props: { label: string; hours: readonly Hour[]; series: readonly Series<Hour>[] }): JSX.Element {
  const step = () => props.series.length + 1;
  const most = () => Math.max(1, ...props.hours.flatMap((hour) => props.series.map((one) => one.of(hour))));
  const told = (hour: Hour) => `${exactText(hour.time)}: ${props.series.map((one) => `${one.name} ${number(one.of(hour))}`).join(', ')}`;
  return (
    <section class="panel stack" aria-label={props.label}>
      <div class="row">
        <h2>{props.label}</h2>
        <span class="spacer" />
        <For each={props.series}>
          {(one) => (
            <span>
              <span class={`mark ${one.kind}`} aria-hidden="true" /> {one.name} <strong>{number(props.hours.reduce((sum, hour) => sum + one.of(hour), 0))}</strong>
            </span>
          )}
        </For>
      </div>
      <svg class="hour-bars" viewBox={`0 0 ${step() * props.hours.length} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={t('lists.trend.label', { what: props.label })}>
        <For each={props.hours}>
          {(hour, at) => (
            <g>
              <title>{told(hour)}</title>
              <For each={props.series}>
                {(one, place) => {
                  const height = () => (HEIGHT * one.of(hour)) / most();
                  return <rect class={one.kind} x={step() * at() + place()} y={HEIGHT - height()} width={1} height={height()} />;
                }}
              </For>
            </g>
          )}
        </For>
      </svg>
      <details>
        <summary>{t('lists.trend.table')}</summary>
        <div class="scroll" tabindex="0" role="region" aria-label={t('lists.trend.tableOf', { what: props.label })}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('lists.trend.hour')}</th>
                <For each={props.series}>
                  {(one) => (
                    <th scope="col" class="number">
                      {one.name}
                    </th>
                  )}
                </For>
              </tr>
            </thead>
            <tbody>
              <For each={props.hours}>
                {(hour) => (
                  <tr>
                    <td>{exactText(hour.time)}</td>
                    <For each={props.series}>{(one) => <td class="number">{number(one.of(hour))}</td>}</For>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}
