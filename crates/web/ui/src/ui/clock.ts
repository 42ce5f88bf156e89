import { createSignal } from 'solid-js';

const TICK_MS = 5000;

const [tick, setTick] = createSignal(Date.now());
setInterval(() => document.visibilityState === 'visible' && setTick(Date.now()), TICK_MS);

/** The time by the clock of this machine, for texts that go on while they are looked at. */
export const clock = (): number => Math.max(tick(), Date.now() - TICK_MS);
