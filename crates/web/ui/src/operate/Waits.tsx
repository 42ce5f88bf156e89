import { A } from '@solidjs/router';
import { createSignal, For, type JSX, lazy, Show } from 'solid-js';
import { getProcessInstanceExplanation } from '../api/generated/operations';
import type { BatonAwaited, ProcessInstanceResult } from '../api/generated/types';
import { t } from '../language';
import { Text } from '../language/Text';
import { useRead } from '../query';
import { need, type Needs, ofProcess, ofSignal } from '../rights';
import { mayUse } from '../session';
import { number } from '../ui/numbers';
import { Action, Failure } from '../ui/parts';
import { clock } from '../ui/clock';
import { waitText } from './waiting';

const JobDialog = lazy(() => import('./act/JobDialog'));
const MessageDialog = lazy(() => import('./act/MessageDialog'));
const FEW = 5;
const MORE = 50;
const MOST = 500;

/** One sentence for each active element: what it waits for, and a way to be what it waits for. */
export function Waits(props: {
  instance: ProcessInstanceResult;
  element: string | undefined;
  nameOf: (id: string) => string;
  again: () => Promise<void>;
}): JSX.Element {
  const [limit, setLimit] = createSignal(FEW);
  const [acting, setActing] = createSignal<BatonAwaited>();
  const found = useRead(getProcessInstanceExplanation, () => ({
    path: { processInstanceKey: props.instance.processInstanceKey },
    query: { limit: limit(), ...(props.element ? { elementId: props.element } : {}) },
    live: true,
  }));
  const left = () => (found.data?.totalItems ?? 0) - (found.data?.items.length ?? 0);
  return (
    <section class="stack waits" aria-label={t('instance.waits')}>
      <Show when={found.error}>{(error) => <Failure of={error()} />}</Show>
      <ul class="plain-list">
        <For each={found.data?.items}>
          {(element) => (
            <>
              <Show when={element.type === 'CALL_ACTIVITY' && element.waitsFor.length === 0}>
                <li>
                  <Text
                    of="instance.waits.called"
                    at={{
                      name: <strong>{props.nameOf(element.elementId)}</strong>,
                      instances: <A href={`/operate/processes/${props.instance.processInstanceKey}/called`}>{t('instance.waits.calledInstances')}</A>,
                    }}
                  />
                </li>
              </Show>
              <For each={element.waitsFor}>
                {(awaited) => (
                  <li class="row">
                    <span>
                      <strong>{props.nameOf(element.elementId)}</strong> {waitText(awaited, clock())}
                    </span>
                    <Act of={awaited} process={props.instance.processDefinitionId} onAct={() => setActing(awaited)} />
                  </li>
                )}
              </For>
              <For each={element.incidents}>
                {(incident) => (
                  <li>
                    <Text of="instance.waits.incident" at={{ name: <strong>{props.nameOf(element.elementId)}</strong>, message: incident.errorMessage.slice(0, 300) }} />
                  </li>
                )}
              </For>
            </>
          )}
        </For>
      </ul>
      <Show when={left() > 0}>
        <div>
          <Show when={limit() < MOST} fallback={t('instance.waits.rest', { count: number(left()) })}>
            <button onClick={() => setLimit(Math.min(limit() + MORE, MOST))}>{t('instance.waits.more', { count: number(left()) })}</button>
          </Show>
        </div>
      </Show>
      <Show when={acting()?.job}>{(one) => <JobDialog jobKey={one().jobKey} onClose={() => setActing(undefined)} onDone={props.again} />}</Show>
      <Show when={acting()?.message}>
        {(one) => (
          <MessageDialog
            kinds={['correlate', 'publish']}
            name={one().messageName}
            correlationKey={one().correlationKey ?? undefined}
            tenantId={props.instance.tenantId}
            onClose={() => setActing(undefined)}
            onDone={props.again}
          />
        )}
      </Show>
      <Show when={acting()?.signal}>
        {(one) => <MessageDialog kinds={['broadcast']} name={one().signalName} tenantId={props.instance.tenantId} onClose={() => setActing(undefined)} onDone={props.again} />}
      </Show>
    </section>
  );
}

/** Actions for it on this page. */
function Act(props: { of: BatonAwaited; process: string; onAct: () => void }): JSX.Element {
  const action = (): { word: string; needs: Needs } | undefined => {
    if (props.of.job) return { word: t('instance.waits.act'), needs: ofProcess('UPDATE_PROCESS_INSTANCE', props.process) };
    if (props.of.message) return { word: t('instance.waits.correlate'), needs: need('MESSAGE', 'CREATE') };
    return props.of.signal ? { word: t('instance.waits.broadcast'), needs: ofSignal } : undefined;
  };
  return (
    <>
      <Show when={action()}>
        {(one) => (
          <Action needs={one().needs} do={() => props.onAct()}>
            {one().word}
          </Action>
        )}
      </Show>
      <Show when={mayUse('tasklist') && props.of.userTask}>{(task) => <A href={`/tasklist/${task().userTaskKey}`}>{t('instance.waits.openTask')}</A>}</Show>
      <Show when={props.of.calledInstance}>{(called) => <A href={`/operate/processes/${called().processInstanceKey}`}>{t('instance.waits.openInstance')}</A>}</Show>
    </>
  );
}
