import { useQuery } from '@tanstack/solid-query';
import { createEffect, createSignal, type JSX, on, onCleanup, Show } from 'solid-js';
import { getProcessDefinitionXML } from '../api/generated/operations';
import { fetchText } from '../api/http';
import { Failure } from '../ui/parts';
import { textOf } from '../ui/toast';
import type { Counts, Diagram } from './bpmn';
import { t } from '../language';

/** The diagram of a definition with counts and marks; a click chooses an element. */
export function BpmnDiagram(props: {
  definitionKey: string;
  counts?: ReadonlyMap<string, Counts> | undefined;
  marks?: Record<string, Iterable<string>> | undefined;
  selected?: string | undefined;
  onSelect?: ((id: string | undefined) => void) | undefined;
  onDrawn?: ((diagram: Diagram) => void) | undefined;
}): JSX.Element {
  let canvas!: HTMLDivElement;
  const [drawn, setDrawn] = createSignal<Diagram>();
  const [failure, setFailure] = createSignal<string>();
  const xml = useQuery(() => ({
    queryKey: ['bpmn', props.definitionKey],
    queryFn: ({ signal }) => fetchText(getProcessDefinitionXML, { processDefinitionKey: props.definitionKey }, signal),
    staleTime: Infinity,
  }));
  let diagram: Diagram | undefined;
  let isGone = false;
  const draw = async (key: string, text: string) => {
    setDrawn(undefined);
    diagram?.leave();
    diagram = undefined;
    const isOld = () => isGone || key !== props.definitionKey;
    try {
      const { openDiagram } = await import('./bpmn');
      if (isOld()) return;
      const next = await openDiagram(canvas, key, text, (id, isRoot) => props.onSelect?.(isRoot || id === props.selected ? undefined : id));
      if (isOld()) {
        next.leave();
        return;
      }
      diagram = next;
      setFailure(undefined);
      setDrawn(next);
      props.onDrawn?.(next);
    } catch (error) {
      if (!isOld()) setFailure(textOf(error));
    }
  };
  createEffect(on(() => xml.data, (text) => text && void draw(props.definitionKey, text)));
  createEffect(() => drawn()?.showCounts(props.counts ?? new Map()));
  createEffect(() => {
    for (const [marker, ids] of Object.entries(props.marks ?? {})) drawn()?.mark(marker, ids);
  });
  createEffect(() => drawn()?.mark('selected', props.selected ? [props.selected] : []));
  onCleanup(() => {
    isGone = true;
    diagram?.leave();
  });
  return (
    <div>
      <div class="diagram" role="group" aria-label={t('diagram.region')} data-drawn={drawn() ? 'true' : undefined}>
        <div class="canvas" ref={canvas} />
        <div class="zoom">
          <button aria-label={t('diagram.zoomIn')} onClick={() => drawn()?.zoom(1.25)}>
            +
          </button>
          <button aria-label={t('diagram.zoomOut')} onClick={() => drawn()?.zoom(0.8)}>
            −
          </button>
          <button aria-label={t('diagram.fitAll')} onClick={() => drawn()?.fit()}>
            {t('diagram.fit')}
          </button>
        </div>
      </div>
      <Show when={failure() ?? xml.error}>{(error) => <Failure of={error()} />}</Show>
      <Show when={drawn()?.isLaidOut}>
        <p class="muted">{t('diagram.laidOut')}</p>
      </Show>
      <Show when={drawn()?.notDrawn.length}>
        <p class="muted">{t('diagram.notDrawn', { elements: drawn()!.notDrawn.join(', ') })}</p>
      </Show>
    </div>
  );
}
