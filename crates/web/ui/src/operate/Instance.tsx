import { A, useParams, useSearchParams } from '@solidjs/router';
import { createEffect, createMemo, createSignal, For, type JSX, lazy, on, Show, untrack } from 'solid-js';
import { getProcessInstance, getProcessInstanceSequenceFlows, getProcessInstanceStatistics } from '../api/generated/operations';
import type { ProcessInstanceResult } from '../api/generated/types';
import { Problem } from '../api/http';
import { BpmnDiagram } from '../diagram/BpmnDiagram';
import type { Diagram } from '../diagram/bpmn';
import { useModel } from '../diagram/model';
import { count, t } from '../language';
import { Text } from '../language/Text';
import { useTitle } from '../frame/title';
import { refresh, useRead } from '../query';
import { number } from '../ui/numbers';
import { Failure } from '../ui/parts';
import { Agents } from './Agents';
import { Called } from './Called';
import { Details } from './Details';
import { Incidents } from './Incidents';
import { Header } from './InstanceHeader';
import { Jobs } from './Jobs';
import { Listeners } from './Listeners';
import { Log } from '../log/LogTable';
import { MessageTables } from './MessageTables';
import type { Change } from './modify/plan';
import { Timeline } from './Timeline';
import { Tree } from './Tree';
import { Variables } from './Variables';
import { useTabCounts } from './tabs';
import { Waits } from './Waits';

const Modify = lazy(() => import('./modify/Modify'));

const TABS = ['variables', 'incidents', 'details', 'timeline', 'jobs', 'listeners', 'messages', 'called', 'agents', 'operations-log'] as const;
type Tab = (typeof TABS)[number];
/** Tabs of the reference that are parts of others here. */
const PARTS: Record<string, Tab> = { 'input-mappings': 'details', 'output-mappings': 'details', 'instance-history': 'timeline', 'called-instances': 'called' };
const MAPPINGS: Record<string, 'input' | 'output'> = { 'input-mappings': 'input', 'output-mappings': 'output' };

/** One instance: what it is, where it is, what it has, and what can be done about it. */
export default function Instance(): JSX.Element {
  const params = useParams<{ key: string; tab?: string }>();
  const isKey = () => /^\d{1,19}$/.test(params.key);
  const instance = useRead(getProcessInstance, () => ({ path: { processInstanceKey: params.key }, enabled: isKey(), live: true, keep: false }));
  const isMissing = () => !isKey() || (instance.error instanceof Problem && (instance.error.status === 404 || instance.error.status === 400));
  return (
    <main class="page">
      <Show
        when={!isMissing()}
        fallback={
          <>
            <h1>{t('instance.missing')}</h1>
            <p>
              <Text of="instance.missing.text" at={{ key: <code>{params.key.slice(0, 100)}</code> }} />
            </p>
          </>
        }
      >
        <Show when={instance.data ? undefined : instance.error}>{(error) => <Failure of={error()} again={() => void instance.refetch()} />}</Show>
        <Show when={instance.data?.processInstanceKey} keyed>
          <Loaded instance={instance.data!} />
        </Show>
      </Show>
    </main>
  );
}

function Loaded(props: { instance: ProcessInstanceResult }): JSX.Element {
  const params = useParams<{ key: string; tab?: string }>();
  const [query, setQuery] = useSearchParams<{ element: string; scope: string; modify: string; variables: string }>();
  const key = () => props.instance.processInstanceKey;
  const isRunning = () => props.instance.state === 'ACTIVE' || props.instance.state === 'SUSPENDED';
  const path = () => ({ path: { processInstanceKey: key() }, live: isRunning() });
  const statistics = useRead(getProcessInstanceStatistics, path);
  const flows = useRead(getProcessInstanceSequenceFlows, path);
  const [diagram, setDiagram] = createSignal<Diagram>();
  const [version, setVersion] = createSignal(0);
  createEffect(on(() => props.instance.state, () => setVersion((last) => last + 1), { defer: true }));
  const again = async () => {
    await refresh();
    setVersion((last) => last + 1);
  };
  /** The drawing that was brought to its incident: it goes there once. */
  let looked: Diagram | undefined;
  const byElement = createMemo(() => new Map(statistics.data?.items.map((one) => [one.elementId, one])));
  const [changes, setChanges] = createSignal<readonly Change[]>([]);
  const isModifying = () => query.modify === 'true' && (props.instance.state === 'ACTIVE' || changes().length > 0);
  const marks = createMemo(() => ({
    running: (statistics.data?.items ?? []).filter((one) => one.active > 0).map((one) => one.elementId),
    incident: (statistics.data?.items ?? []).filter((one) => one.incidents > 0).map((one) => one.elementId),
    taken: (flows.data?.items ?? []).map((one) => one.elementId),
    planned: isModifying() ? changes().flatMap((one) => (one.kind === 'move' ? [one.element, one.to] : [one.element])) : [],
  }));
  const model = useModel(() => props.instance);
  const nameOfId = (id: string) => model()?.nameOf(id) ?? id;
  useTitle(() => `${props.instance.processDefinitionName || props.instance.processDefinitionId} ${key()}`);
  /** The definition that the changes were planned for. */
  const [plannedFor, setPlannedFor] = createSignal<string>();
  const plan = (next: readonly Change[]) => {
    if (changes().length === 0) setPlannedFor(props.instance.processDefinitionKey);
    setChanges(next);
  };
  // A new choice shows its own variables.
  const choose = (element: string | undefined) => setQuery({ element: element ?? null, scope: null, variables: null }, { replace: true });
  const chooseItem = (item: { elementId: string; elementInstanceKey: string }) => setQuery({ element: item.elementId, scope: item.elementInstanceKey, variables: null }, { replace: true });
  const ofElement = () => ({ processInstanceKey: key(), ...(query.element ? { elementId: query.element } : {}) });
  const nameOf = (item: { elementId: string; elementName: string | null }) => item.elementName || diagram()?.nameOf(item.elementId) || item.elementId;
  // An instance with an incident opens at it, and stays there when it is resolved.
  const opened: Tab = untrack(() => (props.instance.hasIncident ? 'incidents' : 'variables'));
  const tab = (): Tab => TABS.find((one) => one === params.tab) ?? PARTS[params.tab ?? ''] ?? opened;
  createEffect(
    on([diagram, () => statistics.data], ([drawn, told]) => {
      const broken = told?.items.find((one) => one.incidents > 0);
      if (!drawn || drawn === looked || !broken) return;
      looked = drawn;
      drawn.lookAt(broken.elementId);
    }),
  );
  const counts = useTabCounts(key, isRunning);
  /** The number on a tab; none is told where there is nothing. */
  const told = (of: Tab) => (of in counts && counts[of as keyof typeof counts]() > 0 ? number(counts[of as keyof typeof counts]()) : undefined);
  const link = (to: Tab) => {
    const kept = new URLSearchParams();
    if (query.element) kept.set('element', query.element);
    if (query.element && query.scope) kept.set('scope', query.scope);
    if (query.variables) kept.set('variables', query.variables);
    if (query.modify) kept.set('modify', query.modify);
    return `/operate/processes/${key()}/${to}${kept.size > 0 ? `?${kept}` : ''}`;
  };
  return (
    <>
      <Header instance={props.instance} isRunning={isRunning()} isModifying={isModifying()} onModify={() => setQuery({ modify: 'true' })} again={again} />
      <Show when={isModifying()}>
        <p class="banner" role="status">
          <strong>{t('change.modify.mode')}</strong> {t('change.modify.mode.text')} {count(changes().length, 'change.modify.mode.one', 'change.modify.mode.other')}
        </p>
      </Show>
      <Show when={isModifying() && model()}>
        {(model) => (
          <Modify
            instance={props.instance}
            model={model()}
            statistics={statistics.data?.items ?? []}
            selected={query.element}
            onSelect={choose}
            changes={changes()}
            setChanges={plan}
            isMigrated={changes().length > 0 && plannedFor() !== props.instance.processDefinitionKey}
            onDone={async (isApplied) => {
              setQuery({ modify: null });
              if (isApplied) await again();
            }}
          />
        )}
      </Show>
      <div class="halves" classList={{ modifying: isModifying() }}>
        <BpmnDiagram
          definitionKey={props.instance.processDefinitionKey}
          counts={byElement()}
          marks={marks()}
          selected={query.element}
          onSelect={choose}
          onDrawn={setDiagram}
        />
        <Tree
          instanceKey={key()}
          isRunning={isRunning()}
          nameOf={nameOf}
          selected={query.element}
          scope={query.scope}
          version={version()}
          onSelect={chooseItem}
        />
      </div>
      <Show when={props.instance.state === 'ACTIVE' && !isModifying()}>
        <Waits instance={props.instance} element={query.element} statistics={statistics.data?.items} nameOf={nameOfId} onChoose={choose} again={again} />
      </Show>
      <section aria-label={t(`instance.tab.${tab()}`)}>
        <div class="tabs" role="tablist">
          <For each={TABS.filter((one) => one !== 'agents' || tab() === one || counts.agents() > 0)}>
            {(one) => (
              <A href={link(one)} role="tab" aria-selected={tab() === one} aria-description={told(one)} noScroll>
                {t(`instance.tab.${one}`)}
                <Show when={told(one)}>
                  {(count) => (
                    <span class="count" aria-hidden="true">
                      {count()}
                    </span>
                  )}
                </Show>
              </A>
            )}
          </For>
          <A href={`/operate/processes/${key()}/history`} role="tab" aria-selected={false}>
            {t('instance.tab.history')}
          </A>
        </div>
        <Show when={query.element}>
          <div class="chips" style={{ 'margin-bottom': '8px' }}>
            <span class="chip">
              <span title={query.element}>{nameOfId(query.element!)}</span>
              <button class="plain" aria-label={t('instance.removeFilter', { element: query.element! })} onClick={() => setQuery({ element: null, scope: null, variables: null })}>
                ✕
              </button>
            </span>
          </div>
        </Show>
        <Show when={tab() === 'variables'}>
          <Variables
            instanceKey={key()}
            processId={props.instance.processDefinitionId}
            scopeKey={query.scope === key() ? undefined : query.scope}
            elementId={query.element}
            nameOf={nameOf}
            shown={query.variables}
            onShow={(variables) => setQuery({ variables }, { replace: true })}
            canChange={isRunning()}
            again={again}
          />
        </Show>
        <Show when={tab() === 'incidents'}>
          <Incidents instanceKey={key()} elementId={query.element} nameOf={nameOfId} again={again} />
        </Show>
        <Show when={tab() === 'jobs'}>
          <Jobs instanceKey={key()} elementId={query.element} canChange={isRunning()} again={again} />
        </Show>
        <Show when={tab() === 'details'}>
          <Details instance={props.instance} model={model()} elementId={query.element} scopeKey={query.scope} mappings={MAPPINGS[params.tab ?? '']} />
        </Show>
        <Show when={tab() === 'timeline'}>
          <Timeline instanceKey={key()} start={props.instance.startDate} end={props.instance.endDate} elementId={query.element} scopeKey={query.scope} nameOf={nameOf} onSelect={chooseItem} />
        </Show>
        <Show when={tab() === 'listeners'}>
          <Listeners instanceKey={key()} elementId={query.element} model={model()} />
        </Show>
        <Show when={tab() === 'messages'}>
          <MessageTables open={ofElement()} correlated={ofElement()} />
        </Show>
        <Show when={tab() === 'operations-log'}>
          <Log filter={{ processInstanceKey: key() }} isOfOne />
        </Show>
        <Show when={tab() === 'agents'}>
          <Agents instanceKey={key()} elementId={query.element} nameOf={nameOfId} isRunning={isRunning()} />
        </Show>
        <Show when={tab() === 'called'}>
          <Called instanceKey={key()} />
        </Show>
      </section>
    </>
  );
}

