// Hints of the same topic are passed on at most so often; the last one is never lost.

const BROAD_MS = 2000;
const NARROW_MS = 500;

interface Clock {
  now: () => number;
  later: (work: () => void, ms: number) => void;
}
const CLOCK: Clock = { now: () => Date.now(), later: (work, ms) => void setTimeout(work, ms) };

/** Passes hints on: the first at once, those that follow within the floor of their topic together at its end. */
export function floored(pass: (topics: ReadonlySet<string>) => void, isBroad: (topic: string) => boolean, clock: Clock = CLOCK): (topics: Iterable<string>) => void {
  const next = new Map<string, number>();
  const waiting = new Set<string>();
  return (topics) => {
    const now = clock.now();
    const due = new Set<string>();
    for (const topic of topics) {
      const at = next.get(topic) ?? 0;
      const floor = isBroad(topic) ? BROAD_MS : NARROW_MS;
      if (at <= now) {
        due.add(topic);
        next.set(topic, now + floor);
      } else if (!waiting.has(topic)) {
        waiting.add(topic);
        clock.later(() => {
          waiting.delete(topic);
          next.set(topic, clock.now() + floor);
          pass(new Set([topic]));
        }, at - now);
      }
    }
    if (due.size > 0) pass(due);
  };
}

const FIRST_MS = 500;
const MOST_MS = 15_000;

/** The pause after a number of failures; half of it is by chance, so that pages that failed together do not come back together. */
export const pauseAfter = (failures: number, chance = Math.random()): number => Math.min(FIRST_MS * 2 ** failures, MOST_MS) * (0.5 + chance / 2);
