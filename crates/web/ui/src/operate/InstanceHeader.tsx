import { A, useNavigate } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import {
  cancelProcessInstance,
  deleteProcessInstance,
  getProcessInstanceCallHierarchy,
  resolveProcessInstanceIncidents,
  resumeProcessInstance,
  searchProcessInstances,
  suspendProcessInstance,
} from '../api/generated/operations';
import type { ProcessInstanceResult } from '../api/generated/types';
import { call } from '../api/http';
import { refresh, useRead } from '../query';
import { number } from '../ui/numbers';
import { Action, Copy, Dialog, State } from '../ui/parts';
import { Time } from '../ui/time';
import { say } from '../ui/toast';

/** The head of an instance: what it is, and what can be done with all of it. */
export function Header(props: { instance: ProcessInstanceResult; isRunning: boolean; isModifying: boolean; onModify: () => void; again: () => Promise<void> }): JSX.Element {
  const navigate = useNavigate();
  const [canceling, setCanceling] = createSignal(false);
  const [deleting, setDeleting] = createSignal(false);
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
  const remove = async () => {
    await call(deleteProcessInstance, { path: { processInstanceKey: key() } });
    setDeleting(false);
    navigate(`/operate/processes?process=${encodeURIComponent(props.instance.processDefinitionId)}`);
    await refresh();
    say('Deleted');
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
          <button aria-pressed={props.isModifying} disabled={props.isModifying} onClick={() => props.onModify()}>
            Modify
          </button>
        </Show>
        <Show when={props.isRunning}>
          <A class="button" href={`/operate/migrate?process=${encodeURIComponent(props.instance.processDefinitionId)}&version=${props.instance.processDefinitionVersion}&ids=${key()}`}>
            Migrate …
          </A>
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
        <Show when={!props.isRunning}>
          <button class="danger" onClick={() => setDeleting(true)}>
            Delete
          </button>
        </Show>
      </div>
      <Show when={deleting()}>
        <Dialog title="Delete this instance?" onClose={() => setDeleting(false)}>
          <p>
            {name()} <span class="key">{key()}</span> and all that is known of it is removed: its elements, variables, jobs and incidents. This cannot be undone.
          </p>
          <div class="actions">
            <button onClick={() => setDeleting(false)}>Keep it</button>
            <Action class="danger" do={remove}>
              Delete
            </Action>
          </div>
        </Dialog>
      </Show>
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
