import { A, useNavigate, useParams, useSearchParams } from '@solidjs/router';
import { createSignal, type JSX, Show } from 'solid-js';
import { createProcessInstance, getStartProcessForm, searchProcessDefinitions, searchUserTasks } from '../api/generated/operations';
import type { ProcessDefinitionResult } from '../api/generated/types';
import { call } from '../api/http';
import { FormView, type Submit } from '../diagram/FormView';
import { t } from '../language';
import { refresh, useRead } from '../query';
import { ofProcess } from '../rights';
import { mayUse } from '../session';
import { otherTenant } from '../tenant';
import { jsonObject } from '../ui/json';
import { Action, Failure, Field } from '../ui/parts';
import { say } from '../ui/toast';
import { VariablesForm } from '../ui/VariablesForm';

/** How long the first task of the new instance is waited for. */
const TASK_WAIT_MS = 2000;
const TASK_ASK_MS = 250;

/** Starts a process, by its form or by variables, and arrives at its first task. The address can be shared. */
export default function StartProcess(): JSX.Element {
  const params = useParams<{ id: string }>();
  const id = () => decodeURIComponent(params.id);
  const [query] = useSearchParams<{ tenant: string }>();
  const found = useRead(searchProcessDefinitions, () => ({ body: { filter: { processDefinitionId: id(), isLatestVersion: true, ...(query.tenant ? { tenantId: query.tenant } : {}) }, page: { limit: 1 } }, keep: false }));
  return (
    <main class="page">
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data?.items.length === 0}>
        <h1>{t('start.missing')}</h1>
        <p>
          {t('start.missing.text', { id: id().slice(0, 200) })} <A href="/tasklist/processes">{t('start.other')}</A>
        </p>
      </Show>
      <Show when={found.data?.items[0]} keyed>
        {(one) => <Start definition={one} />}
      </Show>
    </main>
  );
}

function Start(props: { definition: ProcessDefinitionResult }): JSX.Element {
  const navigate = useNavigate();
  const [submit, setSubmit] = createSignal<Submit>();
  const [businessId, setBusinessId] = createSignal('');
  const key = () => props.definition.processDefinitionKey;
  const form = useRead(getStartProcessForm, () => ({ path: { processDefinitionKey: key() }, enabled: props.definition.hasStartForm, keep: false }));
  const firstTask = async (processInstanceKey: string): Promise<string | undefined> => {
    const end = Date.now() + TASK_WAIT_MS;
    do {
      const { items } = await call(searchUserTasks, { body: { filter: { processInstanceKey, state: 'CREATED' }, page: { limit: 1 } } });
      if (items[0]) return items[0].userTaskKey;
      await new Promise((done) => setTimeout(done, TASK_ASK_MS));
    } while (Date.now() < end);
    return undefined;
  };
  const start = async () => {
    const variables = await submit()?.();
    if (variables === undefined) {
      say(t('task.wrong'), true);
      return;
    }
    const members: [string, string][] = [['processDefinitionKey', JSON.stringify(key())], ['variables', variables]];
    if (businessId().trim()) members.push(['businessId', JSON.stringify(businessId().trim())]);
    const tenant = otherTenant(props.definition.tenantId);
    if (tenant) members.push(['tenantId', JSON.stringify(tenant)]);
    const { processInstanceKey } = await call(createProcessInstance, { text: jsonObject(members) });
    const task = await firstTask(processInstanceKey).catch(() => undefined);
    await refresh();
    say(t('start.started', { key: processInstanceKey }));
    navigate(task ? `/tasklist/${task}` : mayUse('operate') ? `/operate/processes/${processInstanceKey}` : '/tasklist/processes');
  };
  return (
    <>
      <div class="row">
        <h1>{t('start.one', { name: props.definition.name || props.definition.processDefinitionId })}</h1>
        <span class="muted">{t('start.version', { version: props.definition.version })}</span>
        <span class="spacer" />
        <Action do={() => navigator.clipboard.writeText(location.origin + location.pathname + location.search).then(() => say(t('part.copied')))}>{t('start.share')}</Action>
      </div>
      <Show when={form.error}>{(error) => <Failure of={error()} again={() => void form.refetch()} />}</Show>
      <Show when={props.definition.hasStartForm} fallback={<VariablesForm values={new Map()} readOnly={false} onReady={(ready) => setSubmit(() => ready)} takesFiles />}>
        <Show when={form.data?.schema} keyed>
          {(schema) => <FormView schema={schema} values={new Map()} readOnly={false} onReady={(ready) => setSubmit(() => ready)} />}
        </Show>
      </Show>
      <Field label={t('start.businessId')} hint={t('start.mayBeEmpty')}>
        <input style={{ 'max-width': '360px' }} value="" onInput={(event) => setBusinessId(event.currentTarget.value)} />
      </Field>
      <div class="actions">
        <Action class="primary" needs={ofProcess('CREATE_PROCESS_INSTANCE', props.definition.processDefinitionId)} do={start} disabled={!submit()}>
          {t('start.button')}
        </Action>
      </div>
    </>
  );
}
