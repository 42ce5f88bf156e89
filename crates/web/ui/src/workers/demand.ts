import type { BatonJobType } from '../api/generated/types';

interface Demand {
  kind: 'incident' | 'waiting' | 'active' | 'ended';
  words: string;
  /** Lower comes first. */
  order: number;
}

/** How it is about a type, in words. */
export function stateOf(one: BatonJobType): Demand {
  const areThere = one.streams + one.polls > 0;
  if (one.waiting > 0 && !areThere) return { kind: 'incident', words: one.inFlight > 0 ? 'Jobs wait, no worker asks' : 'Nobody is there', order: 0 };
  if (one.failed > 0) return { kind: 'incident', words: 'Jobs failed', order: 1 };
  if (one.waiting > 0 && one.freePlaces === 0) return { kind: 'waiting', words: 'Workers are busy', order: 2 };
  if (one.waiting > 0 || one.inFlight > 0) return { kind: 'active', words: 'At work', order: 3 };
  return { kind: 'ended', words: areThere ? 'Workers wait' : 'Nothing to do', order: 4 };
}

/** Types in trouble first; of the same trouble, those with the oldest job. */
export function byTrouble(a: BatonJobType, b: BatonJobType): number {
  const age = ({ oldestWaitingSince }: BatonJobType) => (oldestWaitingSince ? Date.parse(oldestWaitingSince) : Number.MAX_SAFE_INTEGER);
  return stateOf(a).order - stateOf(b).order || age(a) - age(b) || a.jobType.localeCompare(b.jobType) || a.tenantId.localeCompare(b.tenantId);
}
