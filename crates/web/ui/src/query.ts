// Reads: one key, one request; what was shown before stays until the new answer is there.
import { keepPreviousData, QueryClient, replaceEqualDeep, useQuery, type UseQueryResult } from '@tanstack/solid-query';
import type { Accessor } from 'solid-js';
import { unwrap } from 'solid-js/store';
import { type Asked, call, plan, Problem } from './api/http';
import type { Read } from './api/operation';
import { interval, isPlaced } from './live/state';
import { topicsOf } from './live/topics';

const RETRIES_MAX = 4;
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 15_000;

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < RETRIES_MAX && error instanceof Problem && error.isPassing,
      // Half of the pause is by chance, so that pages that failed together do not come back together.
      retryDelay: (count) => Math.min(RETRY_FIRST_MS * 2 ** count, RETRY_MAX_MS) * (0.5 + Math.random() / 2),
      staleTime: 1000,
      // Unchanged parts of an answer stay the same objects, so that their rows stay on the page, with focus and selection.
      reconcile: (before: unknown, now: unknown) => replaceEqualDeep(unwrap(before), now),
      // Reads with topics are asked again by `live/poll.ts` when the page is looked at again.
      refetchOnWindowFocus: ({ meta }) => meta?.['topics'] === undefined,
      // Failures are shown; nothing is thrown into the page.
      throwOnError: false,
      suspense: false,
    },
  },
});

interface Options {
  enabled?: boolean;
  /** Whether the answer changes by itself. */
  live?: boolean;
  /** Whether it is asked again while nobody looks at the page, too; more rarely. */
  background?: boolean;
  /** Whether another question's answer may stand in until this one's is there. */
  keep?: boolean;
}

type Input<Path, Query, Body> = { path?: Path; query?: Query; body?: Body } & Options;

/** Reads by an operation of the API, whenever the input changes. */
export function useRead<Path, Query, Body, Result>(
  operation: Read<Path, Query, Body, Result>,
  input: Accessor<Input<Path, Query, Body>>,
): UseQueryResult<Result, Error> {
  const found = useQuery(() => {
    const { path, query, body, enabled = true, live = false, background = false, keep = true } = input();
    return {
      queryKey: [operation.path, path, query, body],
      // A 204 has no body, but a query has an answer.
      queryFn: async ({ signal }) => ((await call(operation, { path, query, body, signal } as Input<Path, Query, Body>)) ?? null) as Result,
      // Reads that hints cover wait for the first place, else they would run twice.
      enabled: enabled && (!live || isPlaced()),
      ...(live && enabled ? livelyBy(topicsOf(operation.topics, path, body), background) : {}),
      placeholderData: keep ? keepPreviousData : undefined,
    };
  }) as UseQueryResult<Result, Error>;
  questions.set(found, () => plan(operation, input() as Parameters<typeof plan<Path, Query, Body, Result>>[1]).asked);
  return found;
}

/** The present question of each read. */
const questions = new WeakMap<object, () => Asked>();
/** The request of a read, for use elsewhere. */
export const askedBy = (read: object): Asked => questions.get(read)!();

/** How often a read goes on in the background. */
const BACKGROUND_MS = 30_000;

/** Options of a read whose answer changes by itself: hints of these topics tell when, or time does where there are none.
 * `background`: it is asked again while nobody looks at the page, too. */
export const livelyBy = (topics: readonly string[] | undefined, background = false) => ({
  meta: { topics },
  refetchInterval: interval(topics !== undefined) || (background && BACKGROUND_MS),
  refetchIntervalInBackground: background,
});

/** Reads again all that is shown, and waits for it. Reads follow what was written before. */
export const refresh = (): Promise<void> => client.invalidateQueries({ refetchType: 'active' });
