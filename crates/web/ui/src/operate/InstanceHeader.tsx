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
import type { PermissionTypeEnum, ProcessInstanceResult } from '../api/generated/types';
import { call, plan } from '../api/http';
import { count as counted, t } from '../language';
import { Text } from '../language/Text';
import { refresh, useRead } from '../query';
import { ofBatch, ofProcess } from '../rights';
import { otherTenant } from '../tenant';
import { MayLink } from '../ui/May';
import { Action, Copy, Dialog, State } from '../ui/parts';
import { Time } from '../ui/time';
import { say } from '../ui/toast';
import { CopyCommands } from '../views/CopyAs';
import { definitionAddress, instancesAddress } from './definition/address';

/** The head of an instance: what it is, and what can be done with all of it. */
export function Header(props: { instance: ProcessInstanceResult; isRunning: boolean; isModifying: boolean; onModify: () => void; again: () => Promise<void> }): JSX.Element {
  const navigate = useNavigate();
  const [canceling, setCanceling] = createSignal(false);
  const [deleting, setDeleting] = createSignal(false);
  const key = () => props.instance.processInstanceKey;
  const may = (permission: PermissionTypeEnum) => ofProcess(permission, props.instance.processDefinitionId);
  const hierarchy = useRead(getProcessInstanceCallHierarchy, () => ({ path: { processInstanceKey: key() } }));
  const called = useRead(searchProcessInstances, () => ({ body: { filter: { parentProcessInstanceKey: key() }, page: { limit: 1 } }, live: props.isRunning }));
  const above = () => (hierarchy.data ?? []).filter((one) => one.processInstanceKey !== key());
  const retry = async () => {
    const { batchOperationKey } = await call(resolveProcessInstanceIncidents, { path: { processInstanceKey: key() } });
    await props.again();
    say(t('instance.retryingAll'));
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
  /** A called instance ends with the root alone. */
  const root = () => above()[0];
  const canceled = () => plan(cancelProcessInstance, { path: { processInstanceKey: root()?.processInstanceKey ?? key() } });
  const removed = () => plan(deleteProcessInstance, { path: { processInstanceKey: key() } });
  const cancel = async () => {
    await canceled().send();
    setCanceling(false);
    await props.again();
    say(t('instance.canceled'));
  };
  const remove = async () => {
    await removed().send();
    setDeleting(false);
    navigate(`/operate/processes?process=${encodeURIComponent(props.instance.processDefinitionId)}`);
    await refresh();
    say(t('instance.deleted'));
  };
  const name = () => props.instance.processDefinitionName || props.instance.processDefinitionId;
  return (
    <header class="stack">
      <Show when={above().length > 0}>
        <nav class="row" aria-label={t('instance.callers')}>
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
        <A href={definitionAddress({ ...props.instance, version: props.instance.processDefinitionVersion })}>
          {t('instance.version', { version: props.instance.processDefinitionVersion })}
        </A>
        <span class="key">
          {key()}
          <Copy text={key()} />
        </span>
        <Show when={props.instance.businessId}>{(id) => <span>{t('instance.businessId', { id: id() })}</span>}</Show>
        <Show when={otherTenant(props.instance.tenantId)}>
          <span>{t('instance.tenant', { tenant: props.instance.tenantId })}</span>
        </Show>
        <span class="muted">
          <Text of="instance.started" at={{ time: <Time of={props.instance.startDate} /> }} />
        </span>
        <Show when={props.instance.endDate}>
          {(end) => (
            <span class="muted">
              <Text of="instance.ended" at={{ time: <Time of={end()} /> }} />
            </span>
          )}
        </Show>
        <For each={props.instance.tags}>{(tag) => <span class="chip">{tag}</span>}</For>
        <Show when={called.data?.page.totalItems}>{(count) => <A href={`/operate/processes/${key()}/called`}>{counted(count(), 'instance.calledCount.one', 'instance.calledCount.other')}</A>}</Show>
        <span class="spacer" />
        {/* In the modification mode, nothing but the plan changes the instance. */}
        <Show when={props.instance.hasIncident && props.isRunning && !props.isModifying}>
          <Action needs={ofBatch('RESOLVE_INCIDENT')} do={retry}>{t('instance.retryAll')}</Action>
        </Show>
        <Show when={props.instance.state === 'ACTIVE'}>
          <Action pressed={props.isModifying} disabled={props.isModifying} needs={may('MODIFY_PROCESS_INSTANCE')} do={() => props.onModify()}>
            {t('instance.modify')}
          </Action>
        </Show>
        <Show when={props.isRunning && !props.isModifying}>
          <MayLink class="button" needs={may('UPDATE_PROCESS_INSTANCE')} href={instancesAddress('/operate/migrate', { processDefinitionId: props.instance.processDefinitionId, version: props.instance.processDefinitionVersion, tenantId: props.instance.tenantId }, `ids=${key()}`)}>
            {t('instance.migrate')}
          </MayLink>
        </Show>
        <Show when={props.instance.state === 'ACTIVE' && !props.isModifying}>
          <Action needs={may('SUSPEND_PROCESS_INSTANCE')} do={suspend}>{t('instance.suspend')}</Action>
        </Show>
        <Show when={props.instance.state === 'SUSPENDED'}>
          <Action needs={may('SUSPEND_PROCESS_INSTANCE')} do={resume}>{t('instance.resume')}</Action>
        </Show>
        <Show when={props.isRunning && !props.isModifying}>
          <Action class="danger" needs={may('CANCEL_PROCESS_INSTANCE')} do={() => setCanceling(true)}>
            {t('instance.cancel')}
          </Action>
        </Show>
        <Show when={!props.isRunning}>
          <Action class="danger" needs={may('DELETE_PROCESS_INSTANCE')} do={() => setDeleting(true)}>
            {t('instance.delete')}
          </Action>
        </Show>
      </div>
      <Show when={deleting()}>
        <Dialog title={t('instance.delete.title')} onClose={() => setDeleting(false)}>
          <p>
            <Text of="instance.delete.text" at={{ name: name(), key: <span class="key">{key()}</span> }} />
          </p>
          <div class="actions">
            <CopyCommands of={() => [removed().asked]} />
            <button onClick={() => setDeleting(false)}>{t('instance.keep')}</button>
            <Action class="danger" do={remove}>
              {t('instance.delete')}
            </Action>
          </div>
        </Dialog>
      </Show>
      <Show when={canceling()}>
        <Dialog title={t('instance.cancel.title')} onClose={() => setCanceling(false)}>
          <p>
            <Show when={root()} fallback={<Text of="instance.cancel.text" at={{ name: name(), key: <span class="key">{key()}</span> }} />}>
              {(root) => <Text of="instance.cancel.called" at={{ name: name(), key: <span class="key">{key()}</span>, root: <A href={`/operate/processes/${root().processInstanceKey}`}>{root().processDefinitionName || root().processInstanceKey}</A> }} />}
            </Show>
          </p>
          <div class="actions">
            <CopyCommands of={() => [canceled().asked]} />
            <button onClick={() => setCanceling(false)}>{t('instance.keep')}</button>
            <Action class="danger" do={cancel}>
              {t(root() ? 'instance.cancel.root' : 'instance.cancel')}
            </Action>
          </div>
        </Dialog>
      </Show>
    </header>
  );
}
