import { useNavigate } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import {
  cancelProcessInstancesBatchOperation,
  deleteProcessInstancesBatchOperation,
  modifyProcessInstancesBatchOperation,
  resolveIncidentsBatchOperation,
  resumeProcessInstancesBatchOperation,
  suspendProcessInstancesBatchOperation,
} from '../api/generated/operations';
import type { ProcessInstanceFilter } from '../api/generated/types';
import { plan } from '../api/http';
import type { Model } from '../diagram/model';
import { refresh } from '../query';
import { Action, Dialog, Failure, Field } from '../ui/parts';
import { CopyCommands } from '../views/CopyAs';
import { restricted } from './restrict';
import { Sample } from './Sample';
import { t } from '../language';

export type BulkKind = 'retry' | 'suspend' | 'resume' | 'cancel' | 'delete' | 'modify';
const OPERATIONS = {
  retry: resolveIncidentsBatchOperation,
  suspend: suspendProcessInstancesBatchOperation,
  resume: resumeProcessInstancesBatchOperation,
  cancel: cancelProcessInstancesBatchOperation,
  delete: deleteProcessInstancesBatchOperation,
  modify: undefined,
};

/** Effect and count of a bulk action, before it is carried out. */
export function BulkDialog(props: {
  kind: BulkKind;
  filter: ProcessInstanceFilter;
  /** The model of the definition that all of them have, if they have one. */
  model: Model | undefined;
  element: string | undefined;
  onClose: () => void;
  onDone: () => void;
}): JSX.Element {
  const navigate = useNavigate();
  const [count, setCount] = createSignal(0);
  const [from, setFrom] = createSignal(props.element ?? '');
  const [to, setTo] = createSignal('');
  const [failure, setFailure] = createSignal<unknown>();
  const filter = (): ProcessInstanceFilter => restricted(props.filter, props.kind, from());
  const why = () => (to() === '' ? undefined : to() === from() ? t('change.bulk.same') : props.model?.whyNotActivated(to()));
  const isReady = () => count() > 0 && (props.kind !== 'modify' || (from() !== '' && to() !== '' && why() === undefined));
  const planned = () => {
    const operation = OPERATIONS[props.kind];
    return operation
      ? plan(operation, { body: { filter: filter() } })
      : plan(modifyProcessInstancesBatchOperation, { body: { filter: filter(), moveInstructions: [{ sourceElementId: from(), targetElementId: to() }] } });
  };
  const run = async () => {
    setFailure(undefined);
    let made: { batchOperationKey: string };
    try {
      made = await planned().send();
    } catch (error) {
      setFailure(error);
      return;
    }
    await refresh();
    props.onDone();
    navigate(`/operate/batch-operations/${encodeURIComponent(made.batchOperationKey)}`);
  };
  const elements = () => [...(props.model?.elements.values() ?? [])].sort((a, b) => (a.name || a.id).localeCompare(b.name || b.id));
  const choose = (label: string, value: () => string, set: (id: string) => void) => (
    <Field label={label}>
      <select value={value()} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">{t('change.bulk.choose')}</option>
        <For each={elements()}>{(one) => <option value={one.id}>{one.name ? `${one.name} (${one.id})` : one.id}</option>}</For>
      </select>
    </Field>
  );
  return (
    <Dialog title={t(`change.bulk.${props.kind}`)} onClose={props.onClose}>
      <p>{t(`change.bulk.${props.kind}.effect`)}</p>
      <Show when={props.kind === 'modify'}>
        <div class="stack">
          {choose(t('change.from'), from, setFrom)}
          {choose(t('change.to'), to, setTo)}
          <Show when={why()}>
            <p class="failure">{why()}</p>
          </Show>
        </div>
      </Show>
      <Sample filter={filter()} words={t(`change.bulk.${props.kind}.words`)} onCount={setCount} />
      <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
      <div class="actions">
        <CopyCommands of={() => [planned().asked]} />
        <button onClick={() => props.onClose()}>{t('change.close')}</button>
        <Action class={props.kind === 'cancel' || props.kind === 'delete' ? 'danger' : 'primary'} do={run} disabled={!isReady()}>
          {t(`change.bulk.${props.kind}`)}
        </Action>
      </div>
    </Dialog>
  );
}
