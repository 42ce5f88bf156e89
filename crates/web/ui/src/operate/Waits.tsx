import { A } from '@solidjs/router';
import { createSignal, For, type JSX, lazy, Match, Show, Switch } from 'solid-js';
import { searchElementInstanceWaitStates } from '../api/generated/operations';
import type { ProcessInstanceResult } from '../api/generated/types';
import { t } from '../language';
import { Text } from '../language/Text';
import { useRead } from '../query';
import { need, ofProcess, ofSignal } from '../rights';
import { mayUse } from '../session';
import { number } from '../ui/numbers';
import { Action, Failure } from '../ui/parts';
import { type Waiting, waitingOf, waitText } from './waiting';

const JobDialog = lazy(() => import('./act/JobDialog'));
const MessageDialog = lazy(() => import('./act/MessageDialog'));
const FEW = 5;
const MORE = 50;

/** One sentence for each thing that an instance waits for, and a way to be what it waits for. */
export function Waits(props: {
  instance: ProcessInstanceResult;
  element: string | undefined;
  nameOf: (id: string) => string;
  /** Call activities with a token: they wait for other instances. */
  calling: readonly string[];
  again: () => Promise<void>;
}): JSX.Element {
  const [limit, setLimit] = createSignal(FEW);
  const [acting, setActing] = createSignal<Waiting>();
  const found = useRead(searchElementInstanceWaitStates, () => ({
    body: {
      filter: { processInstanceKey: props.instance.processInstanceKey, ...(props.element ? { elementId: props.element } : {}) },
      sort: [{ field: 'elementInstanceKey' as const, order: 'ASC' as const }],
      page: { limit: limit() },
    },
    live: true,
  }));
  const calling = () => props.calling.filter((id) => !props.element || id === props.element);
  const left = () => (found.data?.page.totalItems ?? 0) - (found.data?.items.length ?? 0);
  const job = () => {
    const one = acting();
    return one?.kind === 'JOB' ? one : undefined;
  };
  const message = () => {
    const one = acting();
    return one?.kind === 'MESSAGE' ? one : undefined;
  };
  const signal = () => {
    const one = acting();
    return one?.kind === 'SIGNAL' ? one : undefined;
  };
  return (
    <section class="stack waits" aria-label={t('instance.waits')}>
      <Show when={found.error}>{(error) => <Failure of={error()} />}</Show>
      <ul class="plain-list">
        <For each={found.data?.items}>
          {(state) => {
            const waiting = waitingOf(state);
            return (
              <li class="row">
                <span>
                  <strong>{props.nameOf(state.elementId)}</strong> {waitText(waiting)}
                </span>
                <Switch>
                  <Match when={waiting.kind === 'JOB' && waiting}>
                    <Action needs={ofProcess('UPDATE_PROCESS_INSTANCE', props.instance.processDefinitionId)} do={() => setActing(waiting)}>{t('instance.waits.act')}</Action>
                  </Match>
                  <Match when={waiting.kind === 'MESSAGE' && waiting}>
                    <Action needs={need('MESSAGE', 'CREATE')} do={() => setActing(waiting)}>{t('instance.waits.correlate')}</Action>
                  </Match>
                  <Match when={waiting.kind === 'SIGNAL' && waiting}>
                    <Action needs={ofSignal} do={() => setActing(waiting)}>{t('instance.waits.broadcast')}</Action>
                  </Match>
                  <Match when={waiting.kind === 'USER_TASK' && mayUse('tasklist') && waiting}>{(task) => <A href={`/tasklist/${task().taskKey}`}>{t('instance.waits.openTask')}</A>}</Match>
                </Switch>
              </li>
            );
          }}
        </For>
        <For each={calling()}>
          {(id) => (
            <li>
              <Text
                of="instance.waits.called"
                at={{
                  name: <strong>{props.nameOf(id)}</strong>,
                  instances: <A href={`/operate/processes/${props.instance.processInstanceKey}/called`}>{t('instance.waits.calledInstances')}</A>,
                }}
              />
            </li>
          )}
        </For>
      </ul>
      <Show when={left() > 0}>
        <div>
          <button onClick={() => setLimit(limit() + MORE)}>{t('instance.waits.more', { count: number(left()) })}</button>
        </div>
      </Show>
      <Show when={job()}>{(one) => <JobDialog jobKey={one().jobKey} onClose={() => setActing(undefined)} onDone={props.again} />}</Show>
      <Show when={message()}>
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
      <Show when={signal()}>
        {(one) => <MessageDialog kinds={['broadcast']} name={one().signalName} tenantId={props.instance.tenantId} onClose={() => setActing(undefined)} onDone={props.again} />}
      </Show>
    </section>
  );
}
