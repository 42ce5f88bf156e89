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
import { call } from '../api/http';
import type { Model } from '../diagram/model';
import { refresh } from '../query';
import { Action, Dialog, Failure, Field } from '../ui/parts';
import { restricted } from './restrict';
import { Sample } from './Sample';

export type BulkKind = 'retry' | 'suspend' | 'resume' | 'cancel' | 'delete' | 'modify';
const KINDS = {
  retry: {
    title: 'Retry incidents',
    effect: 'Every incident of these instances is resolved: their failed jobs are offered to workers again. Instances without incidents stay as they are.',
    words: 'have incidents now',
    operation: resolveIncidentsBatchOperation,
  },
  suspend: {
    title: 'Suspend instances',
    effect: 'Nothing goes on in these instances until they are resumed. Instances that are suspended or have ended stay as they are.',
    words: 'are active now',
    operation: suspendProcessInstancesBatchOperation,
  },
  resume: {
    title: 'Resume instances',
    effect: 'Suspended instances go on where they were. Others stay as they are.',
    words: 'are suspended now',
    operation: resumeProcessInstancesBatchOperation,
  },
  cancel: {
    title: 'Cancel instances',
    effect: 'These instances end here and now, with all that runs in them and the instances that they have called. This cannot be undone.',
    words: 'match now',
    operation: cancelProcessInstancesBatchOperation,
  },
  delete: {
    title: 'Delete instances',
    effect: 'All that is known of these instances is removed. Instances that run stay as they are. This cannot be undone.',
    words: 'have ended',
    operation: deleteProcessInstancesBatchOperation,
  },
  modify: {
    title: 'Move tokens',
    effect: 'In each of these instances, every token of one element is canceled there and put on the other. Instances without such tokens are told as failed.',
    words: 'have tokens there now',
    operation: undefined,
  },
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
  const kind = () => KINDS[props.kind];
  const [count, setCount] = createSignal(0);
  const [from, setFrom] = createSignal(props.element ?? '');
  const [to, setTo] = createSignal('');
  const [failure, setFailure] = createSignal<unknown>();
  const filter = (): ProcessInstanceFilter => restricted(props.filter, props.kind, from());
  const why = () => (to() === '' ? undefined : to() === from() ? 'Both are the same element.' : props.model?.whyNotActivated(to()));
  const isReady = () => count() > 0 && (props.kind !== 'modify' || (from() !== '' && to() !== '' && why() === undefined));
  const run = async () => {
    setFailure(undefined);
    let made: { batchOperationKey: string };
    try {
      const { operation } = kind();
      made = operation
        ? await call(operation, { body: { filter: filter() } })
        : await call(modifyProcessInstancesBatchOperation, { body: { filter: filter(), moveInstructions: [{ sourceElementId: from(), targetElementId: to() }] } });
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
        <option value="">Choose an element</option>
        <For each={elements()}>{(one) => <option value={one.id}>{one.name ? `${one.name} (${one.id})` : one.id}</option>}</For>
      </select>
    </Field>
  );
  return (
    <Dialog title={kind().title} onClose={props.onClose}>
      <p>{kind().effect}</p>
      <Show when={props.kind === 'modify'}>
        <div class="stack">
          {choose('From', from, setFrom)}
          {choose('To', to, setTo)}
          <Show when={why()}>
            <p class="failure">{why()}</p>
          </Show>
        </div>
      </Show>
      <Sample filter={filter()} words={kind().words} onCount={setCount} />
      <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
      <div class="actions">
        <button onClick={() => props.onClose()}>Close</button>
        <Action class={props.kind === 'cancel' || props.kind === 'delete' ? 'danger' : 'primary'} do={run} disabled={!isReady()}>
          {kind().title}
        </Action>
      </div>
    </Dialog>
  );
}
