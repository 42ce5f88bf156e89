import { A, useNavigate, useParams, useSearchParams } from '@solidjs/router';
import { createEffect, createMemo, createSignal, For, type JSX, on, Show } from 'solid-js';
import {
  cancelProcessInstance,
  getProcessInstance,
  getProcessInstanceCallHierarchy,
  getProcessInstanceSequenceFlows,
  getProcessInstanceStatistics,
  resolveProcessInstanceIncidents,
  resumeProcessInstance,
  searchProcessInstances,
  suspendProcessInstance,
} from '../api/generated/operations';
import type { ElementInstanceResult, ProcessInstanceResult } from '../api/generated/types';
import { call, Problem } from '../api/http';
import { BpmnDiagram } from '../diagram/BpmnDiagram';
import type { Diagram } from '../diagram/bpmn';
import { refresh, useRead } from '../query';
import { number } from '../ui/numbers';
import { Action, Copy, Dialog, Failure, State } from '../ui/parts';
import { Time } from '../ui/time';
import { say } from '../ui/toast';
import { Called } from './Called';
import { Incidents } from './Incidents';
import { Jobs } from './Jobs';
import { Tree } from './Tree';
import { Variables } from './Variables';

const TABS = ['variables', 'incidents', 'jobs', 'called'] as const;
type Tab = (typeof TABS)[number];
const WORDS: Record<Tab, string> = { variables: 'Variables', incidents: 'Incidents', jobs: 'Jobs', called: 'Called instances' };

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
            <h1>There is no such instance</h1>
            <p>
              No instance that you may see has the key <code>{params.key.slice(0, 100)}</code>. It may have been removed. Search for a key, a business ID or a process with Ctrl K.
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
  const [query, setQuery] = useSearchParams<{ element: string; scope: string }>();
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
  const byElement = createMemo(() => new Map(statistics.data?.items.map((one) => [one.elementId, one])));
  const marks = createMemo(() => ({
    running: (statistics.data?.items ?? []).filter((one) => one.active > 0).map((one) => one.elementId),
    incident: (statistics.data?.items ?? []).filter((one) => one.incidents > 0).map((one) => one.elementId),
    taken: (flows.data?.items ?? []).map((one) => one.elementId),
  }));
  const nameOf = (item: ElementInstanceResult) => item.elementName || diagram()?.nameOf(item.elementId) || item.elementId;
  const tab = (): Tab => TABS.find((one) => one === params.tab) ?? 'variables';
  const link = (to: Tab) => `/operate/processes/${key()}/${to}${query.element ? `?element=${encodeURIComponent(query.element)}` : ''}`;
  return (
    <>
      <Header instance={props.instance} isRunning={isRunning()} again={again} />
      <div class="halves">
        <BpmnDiagram
          definitionKey={props.instance.processDefinitionKey}
          counts={byElement()}
          marks={marks()}
          selected={query.element}
          onSelect={(element) => setQuery({ element: element ?? null, scope: null }, { replace: true })}
          onDrawn={setDiagram}
        />
        <Tree
          instanceKey={key()}
          isRunning={isRunning()}
          nameOf={nameOf}
          selected={query.element}
          version={version()}
          onSelect={(item) => setQuery({ element: item.elementId, scope: item.elementInstanceKey }, { replace: true })}
        />
      </div>
      <section aria-label={WORDS[tab()]}>
        <div class="tabs" role="tablist">
          <For each={TABS}>
            {(one) => (
              <A href={link(one)} role="tab" aria-selected={tab() === one} noScroll>
                {WORDS[one]}
              </A>
            )}
          </For>
          <A href={`/operate/processes/${key()}/history`} role="tab" aria-selected={false}>
            History
          </A>
        </div>
        <Show when={query.element}>
          <div class="chips" style={{ 'margin-bottom': '8px' }}>
            <span class="chip">
              <span>{query.element}</span>
              <button class="plain" aria-label={`Remove filter: ${query.element}`} onClick={() => setQuery({ element: null, scope: null })}>
                ✕
              </button>
            </span>
          </div>
        </Show>
        <Show when={tab() === 'variables'}>
          <Variables instanceKey={key()} scopeKey={query.scope} canChange={isRunning()} again={again} />
        </Show>
        <Show when={tab() === 'incidents'}>
          <Incidents instanceKey={key()} elementId={query.element} again={again} />
        </Show>
        <Show when={tab() === 'jobs'}>
          <Jobs instanceKey={key()} elementId={query.element} />
        </Show>
        <Show when={tab() === 'called'}>
          <Called instanceKey={key()} />
        </Show>
      </section>
    </>
  );
}

function Header(props: { instance: ProcessInstanceResult; isRunning: boolean; again: () => Promise<void> }): JSX.Element {
  const navigate = useNavigate();
  const [canceling, setCanceling] = createSignal(false);
  const key = () => props.instance.processInstanceKey;
  const hierarchy = useRead(getProcessInstanceCallHierarchy, () => ({ path: { processInstanceKey: key() } }));
  const called = useRead(searchProcessInstances, () => ({ body: { filter: { parentProcessInstanceKey: key() }, page: { limit: 1 } }, live: props.isRunning }));
  const above = () => (hierarchy.data ?? []).filter((one) => one.processInstanceKey !== key());
  const retry = async () => {
    const { batchOperationKey } = await call(resolveProcessInstanceIncidents, { path: { processInstanceKey: key() } });
    await props.again();
    say('The incidents are being resolved; new ones are shown as they come.');
    navigate(`/operate/batch-operations/${encodeURIComponent(batchOperationKey)}`);
  };
  const suspend = async () => {
    await call(suspendProcessInstance, { path: { processInstanceKey: key() } });
    await props.again();
  };
  const resume = async () => {
    await call(resumeProcessInstance, { path: { processInstanceKey: key() } });
    await props.again();
  };
  const cancel = async () => {
    await call(cancelProcessInstance, { path: { processInstanceKey: key() } });
    setCanceling(false);
    await props.again();
    say('Canceled');
  };
  const name = () => props.instance.processDefinitionName || props.instance.processDefinitionId;
  return (
    <header class="stack">
      <Show when={above().length > 0}>
        <nav class="row" aria-label="Calling instances">
          <For each={above()}>
            {(one) => (
              <>
                <A href={`/operate/processes/${one.processInstanceKey}`}>{one.processDefinitionName || one.processInstanceKey}</A>
                <span class="muted">›</span>
              </>
            )}
          </For>
          <span>{name()}</span>
        </nav>
      </Show>
      <div class="row">
        <State of={props.instance.state} incident={props.instance.hasIncident} />
        <h1>{name()}</h1>
        <A href={`/operate/definitions/${encodeURIComponent(props.instance.processDefinitionId)}?version=${props.instance.processDefinitionVersion}`}>
          version {props.instance.processDefinitionVersion}
        </A>
        <span class="key">
          {key()}
          <Copy text={key()} />
        </span>
        <Show when={props.instance.businessId}>{(id) => <span>business ID {id()}</span>}</Show>
        <Show when={props.instance.tenantId !== '<default>'}>
          <span>tenant {props.instance.tenantId}</span>
        </Show>
        <span class="muted">
          started <Time of={props.instance.startDate} />
        </span>
        <Show when={props.instance.endDate}>
          {(end) => (
            <span class="muted">
              ended <Time of={end()} />
            </span>
          )}
        </Show>
        <For each={props.instance.tags}>{(tag) => <span class="chip">{tag}</span>}</For>
        <Show when={called.data?.page.totalItems}>{(count) => <A href={`/operate/processes/${key()}/called`}>{number(count())} called instances</A>}</Show>
        <span class="spacer" />
        <Show when={props.instance.hasIncident && props.isRunning}>
          <Action do={retry}>Retry all incidents</Action>
        </Show>
        <Show when={props.instance.state === 'ACTIVE'}>
          <Action do={suspend}>Suspend</Action>
        </Show>
        <Show when={props.instance.state === 'SUSPENDED'}>
          <Action do={resume}>Resume</Action>
        </Show>
        <Show when={props.isRunning}>
          <button class="danger" onClick={() => setCanceling(true)}>
            Cancel instance
          </button>
        </Show>
      </div>
      <Show when={canceling()}>
        <Dialog title="Cancel this instance?" onClose={() => setCanceling(false)}>
          <p>
            {name()} <span class="key">{key()}</span> ends here and now, with all that runs in it and the instances that it has called. This cannot be undone.
          </p>
          <div class="actions">
            <button onClick={() => setCanceling(false)}>Keep it</button>
            <Action class="danger" do={cancel}>
              Cancel instance
            </Action>
          </div>
        </Dialog>
      </Show>
    </header>
  );
}
