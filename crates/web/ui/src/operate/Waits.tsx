import { A } from '@solidjs/router';
import { createMemo, createSignal, For, type JSX, lazy, Show } from 'solid-js';
import { getProcessInstanceExplanation } from '../api/generated/operations';
import type { BatonAwaited, ProcessElementStatisticsResult, ProcessInstanceResult } from '../api/generated/types';
import { t } from '../language';
import { Text } from '../language/Text';
import { useRead } from '../query';
import { need, type Needs, ofProcess, ofSignal } from '../rights';
import { mayUse } from '../session';
import { number } from '../ui/numbers';
import { Action, Failure } from '../ui/parts';
import { clock } from '../ui/clock';
import { type Line, linesOf, waitText } from './waiting';

const JobDialog = lazy(() => import('./act/JobDialog'));
const MessageDialog = lazy(() => import('./act/MessageDialog'));
const FEW = 5;
/** Instances of an element that are compared: if these are alike, all of them are told as one. */
const ALIKE = 20;
const MORE = 50;
const MOST = 500;

interface Props {
  instance: ProcessInstanceResult;
  element: string | undefined;
  /** How many there are of each element, once that is known. */
  statistics: readonly ProcessElementStatisticsResult[] | undefined;
  nameOf: (id: string) => string;
  onChoose: (element: string) => void;
  again: () => Promise<void>;
}

/** What active elements wait for, and a way to be what it is: a sentence for each; those that are alike are one. */
export function Waits(props: Props): JSX.Element {
  const [limit, setLimit] = createSignal(FEW);
  const [acting, setActing] = createSignal<BatonAwaited>();
  const found = useExplanation(props, () => limit());
  const left = () => (found.data?.totalItems ?? 0) - (found.data?.items.length ?? 0);
  /** Where there are more than one looks through, they are told by element. */
  const isMany = () => props.element === undefined && left() > 0;
  return (
    <section class="stack waits" aria-label={t('instance.waits')}>
      <Show when={found.error}>{(error) => <Failure of={error()} />}</Show>
      <Show
        when={isMany() && props.statistics}
        fallback={
          <>
            <Lines {...props} of={linesOf(found.data?.items ?? [], props.element === undefined)} onAct={setActing} />
            <Show when={left() > 0}>
              <div>
                <Show when={limit() < MOST} fallback={t('instance.waits.rest', { count: number(left()) })}>
                  <button onClick={() => setLimit(Math.min(limit() + MORE, MOST))}>{t('instance.waits.more', { count: number(left()) })}</button>
                </Show>
              </div>
            </Show>
          </>
        }
      >
        {(statistics) => <ByElement {...props} of={statistics()} onAct={setActing} />}
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

const useExplanation = (props: Pick<Props, 'instance' | 'element'>, limit: () => number) =>
  useRead(getProcessInstanceExplanation, () => ({
    path: { processInstanceKey: props.instance.processInstanceKey },
    query: { limit: limit(), ...(props.element ? { elementId: props.element } : {}) },
    live: true,
  }));

/** Elements with the most that waits, those with incidents first. */
function ByElement(props: Props & { of: readonly ProcessElementStatisticsResult[]; onAct: (awaited: BatonAwaited) => void }): JSX.Element {
  const [limit, setLimit] = createSignal(FEW);
  const elements = createMemo(() =>
    props.of
      .filter((one) => one.active + one.incidents > 0)
      .sort((a, b) => b.incidents - a.incidents || b.active - a.active)
      .map((one) => one.elementId),
  );
  return (
    <>
      <For each={elements().slice(0, limit())}>{(element) => <OfElement {...props} element={element} />}</For>
      <Show when={elements().length > limit()}>
        <div>
          <button onClick={() => setLimit(limit() + MORE)}>{t('instance.waits.more', { count: number(elements().length - limit()) })}</button>
        </div>
      </Show>
    </>
  );
}

/** One element of which there are many: if the first of them are alike, all are told in one sentence. */
function OfElement(props: Props & { element: string; onAct: (awaited: BatonAwaited) => void }): JSX.Element {
  const found = useExplanation(props, () => ALIKE);
  const lines = () => {
    const lines = linesOf(found.data?.items ?? [], true);
    const [only] = lines;
    return lines.length === 1 && only ? [{ ...only, count: found.data!.totalItems }] : lines;
  };
  const left = () => (lines().length > 1 ? found.data!.totalItems - found.data!.items.length : 0);
  return (
    <>
      <Lines {...props} of={lines()} />
      <Show when={left() > 0}>
        <div>
          <button onClick={() => props.onChoose(props.element)}>{t('instance.waits.moreOf', { count: number(left()), name: props.nameOf(props.element) })}</button>
        </div>
      </Show>
    </>
  );
}

function Lines(props: Omit<Props, 'statistics' | 'again'> & { of: readonly Line[]; onAct: (awaited: BatonAwaited) => void }): JSX.Element {
  const name = (line: Line) => (
    <>
      <strong>{props.nameOf(line.element.elementId)}</strong>
      {line.count > 1 ? ` × ${number(line.count)}` : ''}
    </>
  );
  return (
    <ul class="plain-list">
      <For each={props.of}>
        {(line) => (
          <li class="row">
            <Show when={line.message !== undefined}>
              <span>
                <Text of="instance.waits.incident" at={{ name: name(line), message: line.message!.slice(0, 300) }} />
              </span>
            </Show>
            <Show when={line.isCall}>
              <span>
                <Text of="instance.waits.called" at={{ name: name(line), instances: <A href={`/operate/processes/${props.instance.processInstanceKey}/called`}>{t('instance.waits.calledInstances')}</A> }} />
              </span>
            </Show>
            <Show when={line.awaited}>
              {(awaited) => (
                <span>
                  {name(line)} {waitText(awaited(), clock())}
                </span>
              )}
            </Show>
            <Show when={line.count > 1} fallback={<Show when={line.awaited}>{(awaited) => <Act of={awaited()} process={props.instance.processDefinitionId} onAct={() => props.onAct(awaited())} />}</Show>}>
              <button onClick={() => props.onChoose(line.element.elementId)}>{t('instance.waits.each')}</button>
            </Show>
          </li>
        )}
      </For>
    </ul>
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
