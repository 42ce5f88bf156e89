import { useNavigate } from '@solidjs/router';
import { For, type JSX, Show } from 'solid-js';
import {
  cancelProcessInstancesBatchOperation,
  resolveIncidentsBatchOperation,
  resumeProcessInstancesBatchOperation,
  searchProcessInstances,
  suspendProcessInstancesBatchOperation,
} from '../api/generated/operations';
import type { ProcessInstanceFilter } from '../api/generated/types';
import { call } from '../api/http';
import { refresh, useRead } from '../query';
import { number, total } from '../ui/numbers';
import { Action, Dialog, Failure } from '../ui/parts';

const SAMPLE = 5;

export type BulkKind = 'retry' | 'suspend' | 'resume' | 'cancel';
const KINDS = {
  retry: {
    title: 'Retry incidents',
    effect: 'Every incident of these instances is resolved: their failed jobs are offered to workers again. Instances without incidents stay as they are.',
    operation: resolveIncidentsBatchOperation,
  },
  suspend: {
    title: 'Suspend instances',
    effect: 'Nothing goes on in these instances until they are resumed. Instances that are suspended or have ended stay as they are.',
    operation: suspendProcessInstancesBatchOperation,
  },
  resume: {
    title: 'Resume instances',
    effect: 'Suspended instances go on where they were. Others stay as they are.',
    operation: resumeProcessInstancesBatchOperation,
  },
  cancel: {
    title: 'Cancel instances',
    effect: 'These instances end here and now, with all that runs in them and the instances that they have called. This cannot be undone.',
    operation: cancelProcessInstancesBatchOperation,
  },
};

/** Effect and count of a bulk action, before it is carried out. */
export function BulkDialog(props: { kind: BulkKind; filter: ProcessInstanceFilter; onClose: () => void; onDone: () => void }): JSX.Element {
  const navigate = useNavigate();
  const kind = () => KINDS[props.kind];
  const sample = useRead(searchProcessInstances, () => ({ body: { filter: props.filter, page: { limit: SAMPLE } }, keep: false }));
  const run = async () => {
    const { batchOperationKey } = await call(kind().operation, { body: { filter: props.filter } });
    await refresh();
    props.onDone();
    navigate(`/operate/batch-operations/${encodeURIComponent(batchOperationKey)}`);
  };
  return (
    <Dialog title={kind().title} onClose={props.onClose}>
      <p>{kind().effect}</p>
      <Show when={sample.error}>{(error) => <Failure of={error()} />}</Show>
      <p>
        <strong>{total(sample.data?.page)}</strong> instances match now.
      </p>
      <ul class="plain-list">
        <For each={sample.data?.items}>
          {(one) => (
            <li>
              {one.processDefinitionName || one.processDefinitionId} <span class="key">{one.processInstanceKey}</span>
            </li>
          )}
        </For>
        <Show when={(sample.data?.page.totalItems ?? 0) > SAMPLE}>
          <li class="muted">and {number((sample.data?.page.totalItems ?? 0) - SAMPLE)} more</li>
        </Show>
      </ul>
      <div class="actions">
        <button onClick={() => props.onClose()}>Close</button>
        <Action class={props.kind === 'cancel' ? 'danger' : 'primary'} do={run} disabled={!sample.data || sample.data.page.totalItems === 0}>
          {kind().title}
        </Action>
      </div>
    </Dialog>
  );
}
