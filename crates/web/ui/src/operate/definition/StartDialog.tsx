import { useNavigate } from '@solidjs/router';
import { createMemo, createSignal, For, type JSX, Show } from 'solid-js';
import { createProcessInstance, getStartProcessForm } from '../../api/generated/operations';
import type { ProcessDefinitionResult } from '../../api/generated/types';
import { plan } from '../../api/http';
import { FormView, type Submit } from '../../diagram/FormView';
import type { Model } from '../../diagram/model';
import { t } from '../../language';
import { refresh, useRead } from '../../query';
import { otherTenant } from '../../tenant';
import { jsonObject } from '../../ui/json';
import { Action, Dialog, Failure, Field } from '../../ui/parts';
import { say } from '../../ui/toast';
import { CopyCommands } from '../../views/CopyAs';
import { objectProblem } from '../act/words';

/** Starts an instance of one version, at its start or at chosen elements, with its form or with JSON. */
export default function StartDialog(props: { definition: ProcessDefinitionResult; model: Model; onClose: () => void }): JSX.Element {
  const navigate = useNavigate();
  const [withForm, setWithForm] = createSignal(props.definition.hasStartForm);
  const [submit, setSubmit] = createSignal<Submit>();
  const [variables, setVariables] = createSignal('');
  const [places, setPlaces] = createSignal<readonly string[]>([]);
  const [businessId, setBusinessId] = createSignal('');
  const [tags, setTags] = createSignal('');
  const [failure, setFailure] = createSignal<unknown>();
  const key = () => props.definition.processDefinitionKey;
  const form = useRead(getStartProcessForm, () => ({ path: { processDefinitionKey: key() }, enabled: withForm(), keep: false }));
  // Elements inside of a repeated activity cannot be started at: the engine refuses it.
  const isInLoop = (id: string) => props.model.scopesOf(id).some((scope) => props.model.elements.get(scope)?.loop !== undefined);
  const choices = createMemo(() => [...props.model.elements.values()].filter((one) => props.model.whyNotActivated(one.id) === undefined && !isInLoop(one.id)).sort((a, b) => (a.name || a.id).localeCompare(b.name || b.id)));
  const name = (id: string) => {
    const one = props.model.elements.get(id);
    return one?.name ? `${one.name} (${id})` : id;
  };
  const tagList = () => tags().split(/[\s,]+/).filter(Boolean);
  const asJson = () => (variables().trim() === '' ? '{}' : variables());
  const planned = (given: string) => {
    const quoted = JSON.stringify;
    const members: [string, string][] = [['processDefinitionKey', quoted(key())], ['variables', given]];
    if (places().length > 0) members.push(['startInstructions', quoted(places().map((elementId) => ({ elementId })))]);
    if (businessId().trim()) members.push(['businessId', quoted(businessId().trim())]);
    if (tagList().length > 0) members.push(['tags', quoted(tagList())]);
    const tenant = otherTenant(props.definition.tenantId);
    if (tenant) members.push(['tenantId', quoted(tenant)]);
    return plan(createProcessInstance, { text: jsonObject(members) });
  };
  const start = async () => {
    setFailure(undefined);
    const given = withForm() ? await submit()?.() : asJson();
    if (given === undefined) {
      setFailure(new Error(t('lists.startOne.wrong')));
      return;
    }
    let made: { processInstanceKey: string };
    try {
      made = await planned(given).send();
    } catch (error) {
      setFailure(error);
      return;
    }
    await refresh();
    say(t('start.started', { key: made.processInstanceKey }));
    navigate(`/operate/processes/${made.processInstanceKey}`);
  };
  return (
    <Dialog title={t('lists.startOne.title', { process: props.definition.name || props.definition.processDefinitionId, version: props.definition.version })} onClose={props.onClose} wide>
      <div class="stack">
        <Show when={props.definition.hasStartForm}>
          <fieldset class="row">
            <legend>{t('lists.startOne.variables')}</legend>
            <label class="row">
              <input type="radio" name="how" checked={withForm()} onChange={() => setWithForm(true)} /> {t('lists.startOne.byForm')}
            </label>
            <label class="row">
              <input type="radio" name="how" checked={!withForm()} onChange={() => setWithForm(false)} /> {t('lists.startOne.asJson')}
            </label>
          </fieldset>
        </Show>
        <Show when={withForm()}>
          <Show when={form.error}>{(error) => <Failure of={error()} />}</Show>
          <Show when={form.data?.schema} keyed>
            {(schema) => <FormView schema={schema} values={new Map()} readOnly={false} onReady={(ready) => setSubmit(() => ready)} />}
          </Show>
        </Show>
        <Show when={!withForm()}>
          <Field label={t('lists.startOne.json')} hint={t('lists.startOne.json.hint', { example: '{"order": 7}' })}>
            <textarea rows={6} spellcheck={false} onInput={(event) => setVariables(event.currentTarget.value)} />
          </Field>
          <p class="muted" role="status">
            {objectProblem(variables()) ?? ''}
          </p>
        </Show>
        <Field label={t('lists.startOne.at')} hint={t('lists.startOne.at.hint')}>
          <select
            onChange={(event) => {
              const id = event.currentTarget.value;
              event.currentTarget.value = '';
              if (id) setPlaces([...places(), id]);
            }}
          >
            <option value="">{places().length === 0 ? t('lists.startOne.startEvent') : t('lists.startOne.oneMore')}</option>
            <For each={choices()}>{(one) => <option value={one.id}>{name(one.id)}</option>}</For>
          </select>
        </Field>
        <div class="chips">
          <For each={places()}>
            {(id, at) => (
              <span class="chip">
                <span>{name(id)}</span>
                <button class="plain" aria-label={t('lists.startOne.remove', { element: name(id) })} onClick={() => setPlaces(places().filter((_, other) => other !== at()))}>
                  ✕
                </button>
              </span>
            )}
          </For>
        </div>
        <div class="grid">
          <Field label={t('start.businessId')}>
            <input onInput={(event) => setBusinessId(event.currentTarget.value)} />
          </Field>
          <Field label={t('lists.tags')} hint={t('lists.startOne.tags.hint')}>
            <input onInput={(event) => setTags(event.currentTarget.value)} />
          </Field>
        </div>
        <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
        <div class="actions">
          <button onClick={() => props.onClose()}>{t('part.close')}</button>
          <Show when={!withForm() && objectProblem(variables()) === undefined}>
            <CopyCommands of={() => [planned(asJson()).asked]} />
          </Show>
          <Action class="primary" do={start} disabled={withForm() ? !submit() : objectProblem(variables()) !== undefined}>
            {t('start.button')}
          </Action>
        </div>
      </div>
    </Dialog>
  );
}
