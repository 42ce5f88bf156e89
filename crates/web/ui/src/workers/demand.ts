import type { BatonJobType } from '../api/generated/types';
import type { Key } from '../language';

interface Demand {
  kind: 'incident' | 'waiting' | 'active' | 'ended';
  words: Extract<Key, `workers.state.${string}`>;
  /** Lower comes first. */
  order: number;
}

/** How it is about a type, and the message that says so. */
export function stateOf(one: BatonJobType): Demand {
  const areThere = one.streams + one.polls > 0;
  if (one.waiting > 0 && !areThere) return { kind: 'incident', words: one.inFlight > 0 ? 'workers.state.nobodyAsks' : 'workers.state.nobody', order: 0 };
  if (one.failed > 0) return { kind: 'incident', words: 'workers.state.failed', order: 1 };
  if (one.waiting > 0 && one.freePlaces === 0) return { kind: 'waiting', words: 'workers.state.busy', order: 2 };
  if (one.waiting > 0 || one.inFlight > 0) return { kind: 'active', words: 'workers.state.atWork', order: 3 };
  return { kind: 'ended', words: areThere ? 'workers.state.wait' : 'workers.state.idle', order: 4 };
}

/** Types in trouble first; of the same trouble, those with the oldest job. */
export function byTrouble(a: BatonJobType, b: BatonJobType): number {
  const age = ({ oldestWaitingSince }: BatonJobType) => (oldestWaitingSince ? Date.parse(oldestWaitingSince) : Number.MAX_SAFE_INTEGER);
  return stateOf(a).order - stateOf(b).order || age(a) - age(b) || a.jobType.localeCompare(b.jobType) || a.tenantId.localeCompare(b.tenantId);
}
