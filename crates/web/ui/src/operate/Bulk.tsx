import { useNavigate } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import {
  cancelProcessInstancesBatchOperation,
  countProcessInstances,
  deleteProcessInstancesBatchOperation,
  modifyProcessInstancesBatchOperation,
  resolveIncidentsBatchOperation,
  resumeProcessInstancesBatchOperation,
  searchProcessInstances,
  suspendProcessInstancesBatchOperation,
} from '../api/generated/operations';
import type { ProcessInstanceFilter } from '../api/generated/types';
import { call, plan } from '../api/http';
import type { Model } from '../diagram/model';
import { refresh, useRead } from '../query';
import { number } from '../ui/numbers';
import { Action, Dialog, Field } from '../ui/parts';
import { CopyCommands } from '../views/CopyAs';
import { changed, fitting } from './restrict';
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

/** Instances whose roots are looked for. */
const ROOTS_MAX = 1000;

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
  /** Roots of what was chosen, once they are to be canceled in its place. */
  const [roots, setRoots] = createSignal<string[]>();
  const chosen = (): ProcessInstanceFilter => (roots() ? { processInstanceKey: { $in: roots()! } } : props.filter);
  const filter = (): ProcessInstanceFilter => changed(chosen(), props.kind, from());
  const takeRoots = async () => {
    const { items } = await call(searchProcessInstances, { body: { filter: fitting(props.filter, props.kind), page: { limit: ROOTS_MAX } } });
    setRoots([...new Set(items.map((one) => one.rootProcessInstanceKey ?? one.processInstanceKey))]);
  };
  const why = () => (to() === '' ? undefined : to() === from() ? t('change.bulk.same') : props.model?.whyNotActivated(to()));
  const isReady = () => count() > 0 && (props.kind !== 'modify' || (from() !== '' && to() !== '' && why() === undefined));
  const planned = () => {
    const operation = OPERATIONS[props.kind];
    return operation
      ? plan(operation, { body: { filter: filter() } })
      : plan(modifyProcessInstancesBatchOperation, { body: { filter: filter(), moveInstructions: [{ sourceElementId: from(), targetElementId: to() }] } });
  };
  const run = async () => {
    const { batchOperationKey } = await planned().send();
    await refresh();
    props.onDone();
    navigate(`/operate/batch-operations/${encodeURIComponent(batchOperationKey)}`);
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
      <Sample filter={filter()} words={{ one: t(`change.bulk.${props.kind}.words.one`), other: t(`change.bulk.${props.kind}.words.other`) }} onCount={setCount} />
      <LeftOut kind={props.kind} chosen={chosen()} fitting={fitting(chosen(), props.kind, from())} changed={filter()} takeRoots={takeRoots} />
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

/** How many of what was chosen stay as they are, and why. */
function LeftOut(props: { kind: BulkKind; chosen: ProcessInstanceFilter; fitting: ProcessInstanceFilter; changed: ProcessInstanceFilter; takeRoots: () => Promise<void> }): JSX.Element {
  const counted = (filter: () => ProcessInstanceFilter) => useRead(countProcessInstances, () => ({ body: { filter: filter() }, keep: false }));
  const [chosen, fitting, changed] = [counted(() => props.chosen), counted(() => props.fitting), counted(() => props.changed)];
  /** Differences of counts that are known exactly. */
  const less = (all: typeof chosen, some: typeof chosen) => (all.data?.isExact && some.data?.isExact ? Math.max(0, all.data.count - some.data.count) : 0);
  return (
    <>
      <Show when={less(chosen, fitting)}>{(count) => <p class="muted">{t(`change.bulk.${props.kind}.leftOut`, { count: number(count()) })}</p>}</Show>
      <Show when={less(fitting, changed)}>
        {(count) => (
          <div class="row">
            <span>{t('change.bulk.called', { count: number(count()) })}</span>
            <Show when={(fitting.data?.count ?? 0) <= ROOTS_MAX}>
              <Action do={props.takeRoots}>{t('change.bulk.roots')}</Action>
            </Show>
          </div>
        )}
      </Show>
      <Show when={changed.data?.count === 0}>
        <p role="status">{t('change.bulk.nothing')}</p>
      </Show>
    </>
  );
}
