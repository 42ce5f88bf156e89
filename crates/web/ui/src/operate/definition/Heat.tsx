import { For, type JSX, Show } from 'solid-js';
import { searchElementInstances } from '../../api/generated/operations';
import type { ProcessElementStatisticsResult } from '../../api/generated/types';
import { t } from '../../language';
import { useRead } from '../../query';
import { number } from '../../ui/numbers';
import { Failure } from '../../ui/parts';
import { durationText } from '../../ui/times';

export const HEATS = ['tokens', 'passed', 'incidents', 'wait'] as const;
export type HeatKind = (typeof HEATS)[number];
const LEVELS = 5;
const OLDEST = 1000;
const ROWS = 20;

/** The value of each element that has one. */
export function useHeat(kind: () => HeatKind | undefined, definitionKey: () => string | undefined, statistics: () => readonly ProcessElementStatisticsResult[]) {
  const oldest = useRead(searchElementInstances, () => ({
    body: {
      filter: { processDefinitionKey: definitionKey() ?? '', state: 'ACTIVE' as const },
      sort: [{ field: 'startDate' as const, order: 'ASC' as const }],
      page: { limit: OLDEST },
    },
    enabled: kind() === 'wait' && definitionKey() !== undefined,
    live: true,
  }));
  const values = (): Map<string, number> => {
    const which = kind();
    if (which === undefined) return new Map();
    if (which === 'wait') {
      const found = new Map<string, number>();
      for (const one of oldest.data?.items ?? []) {
        if (one.type !== 'PROCESS' && !found.has(one.elementId)) found.set(one.elementId, Math.max(1, oldest.dataUpdatedAt - Date.parse(one.startDate)));
      }
      return found;
    }
    const of = { tokens: (one: ProcessElementStatisticsResult) => one.active + one.incidents, passed: (one: ProcessElementStatisticsResult) => one.completed + one.canceled + one.active + one.incidents, incidents: (one: ProcessElementStatisticsResult) => one.incidents }[which];
    return new Map(statistics().flatMap((one) => (of(one) > 0 ? [[one.elementId, of(one)] as const] : [])));
  };
  const isCut = () => kind() === 'wait' && (oldest.data?.page.totalItems ?? 0) > OLDEST;
  return { values, isCut, error: () => oldest.error };
}

/** Elements by level: markers of the diagram. Each level stands for an equal part of the logarithm. */
export function heatMarks(values: ReadonlyMap<string, number>): Record<string, string[]> {
  const marks: Record<string, string[]> = {};
  for (let level = 1; level <= LEVELS; level += 1) marks[`heat-${level}`] = [];
  const logs = [...values].map(([id, value]) => [id, Math.log(value)] as const);
  const [least, most] = [Math.min(...logs.map(([, log]) => log)), Math.max(...logs.map(([, log]) => log))];
  for (const [id, log] of logs) {
    const level = most === least ? LEVELS : 1 + Math.min(LEVELS - 1, Math.floor((LEVELS * (log - least)) / (most - least)));
    marks[`heat-${level}`]!.push(id);
  }
  return marks;
}

/** The numbers behind the colours, the highest first. */
export function HeatTable(props: { kind: HeatKind; values: ReadonlyMap<string, number>; nameOf: (id: string) => string; isCut: boolean; error: Error | null }): JSX.Element {
  const heat = () => t(`lists.heat.${props.kind}`);
  const rows = () => [...props.values].sort(([, a], [, b]) => b - a);
  return (
    <section aria-label={t('lists.heat')}>
      <Show when={props.error}>{(error) => <Failure of={error()} />}</Show>
      <Show when={rows().length > 0} fallback={<p class="muted">{t('lists.heat.none')}</p>}>
        <table aria-label={t('lists.heat.table', { heat: heat() })}>
          <thead>
            <tr>
              <th scope="col">{t('lists.element')}</th>
              <th scope="col" class="number">
                {heat().charAt(0).toUpperCase() + heat().slice(1)}
              </th>
            </tr>
          </thead>
          <tbody>
            <For each={rows().slice(0, ROWS)}>
              {([id, value]) => (
                <tr>
                  <td>{props.nameOf(id)}</td>
                  <td class="number">{props.kind === 'wait' ? durationText(value) : number(value)}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
        <Show when={rows().length > ROWS}>
          <p class="muted">{t('lists.heat.first', { shown: ROWS, all: number(rows().length) })}</p>
        </Show>
        <Show when={props.isCut}>
          <p class="muted">{t('lists.heat.oldest', { count: number(OLDEST) })}</p>
        </Show>
      </Show>
    </section>
  );
}
