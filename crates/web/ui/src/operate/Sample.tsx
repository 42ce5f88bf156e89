import { createEffect, For, type JSX, Show } from 'solid-js';
import { countProcessInstances, searchProcessInstances } from '../api/generated/operations';
import type { ProcessInstanceFilter } from '../api/generated/types';
import { count as countOf, t } from '../language';
import { useRead } from '../query';
import { counted, number } from '../ui/numbers';
import { Failure, State } from '../ui/parts';

const SAMPLE = 5;

/** How many instances a filter matches now, and some of them. */
export function Sample(props: { filter: ProcessInstanceFilter; onCount?: ((count: number) => void) | undefined; words?: { one: string; other: string } }): JSX.Element {
  const sample = useRead(searchProcessInstances, () => ({ body: { filter: props.filter, page: { limit: SAMPLE } }, keep: false }));
  const all = useRead(countProcessInstances, () => ({ body: { filter: props.filter }, keep: false }));
  const count = () => all.data?.count ?? 0;
  const told = (words: { one: string; other: string }) =>
    countOf(count(), 'lists.sample.words.one', 'lists.sample.words.other', { count: counted(all.data), words: count() === 1 ? words.one : words.other });
  createEffect(() => props.onCount?.(count()));
  return (
    <>
      <Show when={sample.error ?? all.error}>{(error) => <Failure of={error()} />}</Show>
      <p>{props.words ? told(props.words) : countOf(count(), 'lists.sample.match.one', 'lists.sample.match.other', { count: counted(all.data) })}</p>
      <ul class="plain-list">
        <For each={sample.data?.items}>
          {(one) => (
            <li>
              <State of={one.state} incident={one.hasIncident} /> {one.processDefinitionName || one.processDefinitionId} <span class="key">{one.processInstanceKey}</span>
            </li>
          )}
        </For>
        <Show when={count() > SAMPLE}>
          <li class="muted">{t('lists.andMore', { count: number(count() - SAMPLE) })}</li>
        </Show>
      </ul>
    </>
  );
}
