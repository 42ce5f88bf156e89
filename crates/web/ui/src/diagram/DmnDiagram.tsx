import { useQuery } from '@tanstack/solid-query';
import { createEffect, createSignal, type JSX, on, onCleanup, Show } from 'solid-js';
import { getDecisionRequirementsXML } from '../api/generated/operations';
import { fetchText } from '../api/http';
import { Failure } from '../ui/parts';
import type { Decision } from './dmn';
import { t } from '../language';

/** The table or expression of a decision, with the rules that matched. */
export function DmnDiagram(props: { requirementsKey: string; decisionId: string; matched: readonly string[] }): JSX.Element {
  let canvas!: HTMLDivElement;
  const [failure, setFailure] = createSignal<unknown>();
  const [isDrawn, setDrawn] = createSignal(false);
  const xml = useQuery(() => ({
    queryKey: ['dmn', props.requirementsKey],
    queryFn: ({ signal }) => fetchText(getDecisionRequirementsXML, { decisionRequirementsKey: props.requirementsKey }, signal),
    staleTime: Infinity,
  }));
  let decision: Decision | undefined;
  let isGone = false;
  const draw = async (text: string, id: string) => {
    const { Decision } = await import('./dmn');
    if (isGone) return;
    decision?.destroy();
    decision = new Decision(canvas);
    try {
      await decision.draw(text, id);
      decision.mark(props.matched);
      setDrawn(true);
    } catch (error) {
      setFailure(error);
    }
  };
  createEffect(on([() => xml.data, () => props.decisionId], ([text, id]) => text && void draw(text, id)));
  onCleanup(() => {
    isGone = true;
    decision?.destroy();
  });
  return (
    <div>
      <div class="dmn scroll" ref={canvas} tabindex="0" role="group" aria-label={t('diagram.decision')} data-drawn={isDrawn() ? 'true' : undefined} />
      <Show when={failure() ?? xml.error}>{(error) => <Failure of={error()} />}</Show>
    </div>
  );
}
