import { createSignal, type JSX, lazy, Show } from 'solid-js';
import type { Asked } from '../api/http';
import { t } from '../language';
import { askedBy } from '../query';
import type { Taken } from './CopyDialog';
import { selectionOf } from './selection';

const CopyDialog = lazy(() => import('./CopyDialog'));

/** Opens what stands here in forms for use elsewhere. */
function CopyButton(props: { of: () => Taken; plain?: boolean }): JSX.Element {
  const [taken, setTaken] = createSignal<Taken>();
  return (
    <>
      <button type="button" class={props.plain ? 'plain' : undefined} onClick={() => setTaken(props.of())}>
        {t('part.copyAs')}
      </button>
      <Show when={taken()}>{(one) => <CopyDialog of={one()} onClose={() => setTaken(undefined)} />}</Show>
    </>
  );
}

/** A list that a read has found, or the chosen ones of its rows: link, keys, rows, and the request. */
export function CopyList(props: { of: { data: { items: readonly unknown[] } | undefined }; chosen?: readonly unknown[] | undefined }): JSX.Element {
  return <CopyButton of={() => selectionOf(askedBy(props.of), props.of.data?.items ?? [], props.chosen ?? [])} />;
}

/** Commands before they are sent. */
export const CopyCommands = (props: { of: () => readonly Asked[] }): JSX.Element => <CopyButton of={() => ({ asked: props.of() })} />;
