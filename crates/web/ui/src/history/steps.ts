import { createEffect, createSignal, on, onCleanup } from 'solid-js';
import { listProcessInstanceSteps } from '../api/generated/operations';
import type { BatonStep } from '../api/generated/types';
import { call } from '../api/http';
import { watch } from '../live/poll';

const PAGE = 10_000;
export const STEPS_MAX = 100_000;

/** The steps of an instance, page by page, and new ones as they come. */
export function useSteps(instanceKey: () => string, isRunning: () => boolean) {
  const [steps, setSteps] = createSignal<readonly BatonStep[]>([]);
  const [told, setTold] = createSignal<{ isRecorded: boolean; isCut: boolean }>();
  const [failure, setFailure] = createSignal<unknown>();
  let stop = new AbortController();
  let isLoading = false;
  let isOutdated = false;
  const load = async (key: string) => {
    if (isLoading) {
      isOutdated = true;
      return;
    }
    isLoading = true;
    const { signal } = stop;
    try {
      // Steps that are made of other things have new numbers each time.
      let all = told()?.isRecorded ? steps() : [];
      for (;;) {
        const after = all.at(-1)?.position ?? 0;
        const page = await call(listProcessInstanceSteps, { path: { processInstanceKey: key }, query: { after, limit: PAGE }, signal });
        all = [...all, ...page.items];
        const isCut = page.hasMore && all.length >= STEPS_MAX;
        if (!page.hasMore || isCut) {
          setSteps(all);
          setTold({ isRecorded: page.isRecorded, isCut });
          break;
        }
      }
      setFailure(undefined);
    } catch (error) {
      if (!signal.aborted) setFailure(error);
    }
    if (signal.aborted) return;
    isLoading = false;
    if (isOutdated) {
      isOutdated = false;
      void load(key);
    }
  };
  createEffect(
    on(instanceKey, (key) => {
      stop.abort();
      stop = new AbortController();
      isLoading = false;
      setSteps([]);
      setTold(undefined);
      void load(key);
    }),
  );
  createEffect(
    on([instanceKey, isRunning], ([key, isRunning]) => {
      if (isRunning) onCleanup(watch([`process-instance:${key}`], () => void load(key)));
    }),
  );
  onCleanup(() => stop.abort());
  return { steps, told, failure, again: () => void load(instanceKey()) };
}
