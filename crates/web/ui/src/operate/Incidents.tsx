import { createSignal, For, type JSX, lazy, Show } from 'solid-js';
import { at } from '../base';
import { searchProcessInstanceIncidents } from '../api/generated/operations';
import type { IncidentResult } from '../api/generated/types';
import { t } from '../language';
import { useRead } from '../query';
import { ofProcess } from '../rights';
import { fit } from '../ui/fit';
import { totalOf } from '../ui/numbers';
import { Action, Failure, State, wordOf } from '../ui/parts';
import { Time } from '../ui/time';
import { say } from '../ui/toast';
import { CopyList } from '../views/CopyAs';
import { resolvedKey, retryOne } from './act/resolve';
import { Retrying } from './Retrying';

const ResolveDialog = lazy(() => import('./act/ResolveDialog'));

const PAGE = 50;
const HEADS = ['state', 'type', 'message', 'element', 'since'] as const;

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
  const [repairing, setRepairing] = createSignal<IncidentResult>();
  const retry = async (one: IncidentResult) => {
    await retryOne(one);
    await props.again();
    say(t(resolvedKey(one)));
  };
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
      <Show when={repairing()}>{(one) => <ResolveDialog incident={one()} onClose={() => setRepairing(undefined)} onDone={props.again} />}</Show>
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
                      <details open={one.errorMessage.length < 300}>
                        <summary>{one.errorMessage.slice(0, 120)}</summary>
                        <pre>{one.errorMessage.length > 120 ? one.errorMessage : ''}</pre>
                      </details>
                    </td>
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
                    <td>
                      <div class="row">
                        <Action needs={ofProcess('UPDATE_PROCESS_INSTANCE', one.processDefinitionId)} do={() => retry(one)}>{t('instance.incidents.retry')}</Action>
                        <Action needs={ofProcess('UPDATE_PROCESS_INSTANCE', one.processDefinitionId)} do={() => setRepairing(one)}>{t('change.resolve')}</Action>
                      </div>
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
      </Show>
    </div>
  );
}
