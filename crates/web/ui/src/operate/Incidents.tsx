import { createSignal, For, type JSX, Show } from 'solid-js';
import { at } from '../base';
import { searchProcessInstanceIncidents } from '../api/generated/operations';
import { t } from '../language';
import { useRead } from '../query';
import { fit } from '../ui/fit';
import { totalOf } from '../ui/numbers';
import { Failure, State, wordOf } from '../ui/parts';
import { Time } from '../ui/time';
import { CopyList } from '../views/CopyAs';
import { useIncidentWork } from './IncidentMenu';
import { Retrying } from './Retrying';

const PAGE = 50;
/** Characters of a message in a row, more than its two lines have room for. */
const SHOWN = 500;
const HEADS = ['state', 'type', 'element', 'since'] as const;

/** The open incidents of an instance and of what it has called, each with its reason and a retry. */
export function Incidents(props: { instanceKey: string; elementId: string | undefined; nameOf: (elementId: string) => string; again: () => Promise<void> }): JSX.Element {
  const [limit, setLimit] = createSignal(PAGE);
  const found = useRead(searchProcessInstanceIncidents, () => ({
    path: { processInstanceKey: props.instanceKey },
    body: {
      filter: { state: { $neq: 'RESOLVED' as const }, ...(props.elementId ? { elementId: props.elementId } : {}) },
      sort: [{ field: 'creationTime' as const, order: 'DESC' as const }],
      page: { limit: limit() },
    },
    live: true,
  }));
  const work = useIncidentWork(() => props.again());
  return (
    <div class="stack">
      <div class="row">
        <span class="muted" role="status">
          {totalOf(found.data?.page, 'instance.incidents.count.one', 'instance.incidents.count.other')}
        </span>
        <span class="spacer" />
        <CopyList of={found} />
      </div>
      <Retrying filter={{ processInstanceKey: props.instanceKey, ...(props.elementId ? { elementId: props.elementId } : {}) }} />
      {work.dialogs()}
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data && found.data.items.length > 0} fallback={<Show when={found.data}><p class="empty">{t('instance.incidents.none')}</p></Show>}>
        <div ref={fit} class="scroll" tabindex="0" role="region" aria-label={t('instance.tab.incidents')}>
          <table>
            <thead>
              <tr>
                <For each={HEADS}>{(head) => <th scope="col">{t(`instance.head.${head}`)}</th>}</For>
                <th scope="col">
                  <span class="hidden-label">{t('instance.head.actions')}</span>
                </th>
                <th scope="col">
                  <span class="hidden-label">{t('instance.head.message')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              <For each={found.data?.items}>
                {(one) => (
                  <tr>
                    <td>
                      <State of={one.state} incident={one.state === 'ACTIVE'} />
                    </td>
                    <td>{wordOf(one.errorType)}</td>
                    <td>
                      <span title={one.elementId}>{one.processInstanceKey === props.instanceKey ? props.nameOf(one.elementId) : one.elementId}</span>
                      <Show when={one.processInstanceKey !== props.instanceKey}>
                        {' '}
                        <a class="key" href={at(`/operate/processes/${one.processInstanceKey}/incidents`)}>
                          {one.processInstanceKey}
                        </a>
                      </Show>
                    </td>
                    <td>
                      <Time of={one.creationTime} />
                    </td>
                    <td>{work.menu(one)}</td>
                    <td class="below">{one.errorMessage.slice(0, SHOWN)}</td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
        <Show when={(found.data?.items.length ?? 0) === limit()}>
          <button onClick={() => setLimit(limit() + PAGE)}>{t('part.more')}</button>
        </Show>
      </Show>
    </div>
  );
}
