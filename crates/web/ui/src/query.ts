// Reads: one key, one request; what was shown before stays until the new answer is there.
import { keepPreviousData, QueryClient, useQuery, type UseQueryResult } from '@tanstack/solid-query';
import type { Accessor } from 'solid-js';
import { call, Problem } from './api/http';
import type { Operation } from './api/operation';

const RETRIES_MAX = 4;
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 15_000;
/** How often a page that is looked at asks again. */
const LIVE_MS = 5000;
const BACKGROUND_MS = 30_000;

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < RETRIES_MAX && error instanceof Problem && error.isPassing,
      // Half of the pause is by chance, so that pages that failed together do not come back together.
      retryDelay: (count) => Math.min(RETRY_FIRST_MS * 2 ** count, RETRY_MAX_MS) * (0.5 + Math.random() / 2),
      staleTime: 1000,
      refetchOnWindowFocus: true,
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
  operation: Operation<Path, Query, Body, Result>,
  input: Accessor<Input<Path, Query, Body>>,
): UseQueryResult<Result, Error> {
  return useQuery(() => {
    const { path, query, body, enabled = true, live = false, background = false, keep = true } = input();
    return {
      queryKey: [operation.path, path, query, body],
      // A 204 has no body, but a query has an answer.
      queryFn: async ({ signal }) => ((await call(operation, { path, query, body, signal } as Input<Path, Query, Body>)) ?? null) as Result,
      enabled,
      refetchInterval: live ? () => (document.visibilityState === 'visible' ? LIVE_MS : BACKGROUND_MS) : false,
      refetchIntervalInBackground: background,
      placeholderData: keep ? keepPreviousData : undefined,
    };
  }) as UseQueryResult<Result, Error>;
}

/** Reads again all that is shown, and waits for it. Reads follow what was written before. */
export const refresh = (): Promise<void> => client.invalidateQueries({ refetchType: 'active' });
