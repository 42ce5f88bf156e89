// Hints of changes by long poll: one tab of the browser asks for all that are looked at.
import type { Query } from '@tanstack/solid-query';
import { createEffect, createRoot } from 'solid-js';
import { own } from '../base';
import { awaitChanges } from '../api/generated/operations';
import { call, Problem } from '../api/http';
import { client } from '../query';
import { floored, pauseAfter } from './floor';
import { follow, isOn, isPlaced, link, type Link, setLink, setPlaced } from './state';
import { isBroad } from './topics';

const NAME = own('baton-live');
const TOPICS_MAX = 100;
/** A request that waits is given up for new topics after this pause. */
const SETTLE_MS = 100;
/** The least time between two requests. */
const PACE_MS = 250;
/** The topic of a request that wants the place to wait from alone. */
const ANY = 'process-instances';
const TIMED_MS = 5000;
/** Reads wait so long for the first place. */
const PLACE_MS = 1000;

type Message = { from: string } & ({ kind: 'want'; topics: string[] } | { kind: 'who' } | { kind: 'changed'; topics: string[]; hint: string | undefined } | { kind: 'place'; place: string } | { kind: 'link'; link: Link });

const me = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
const isSeen = () => document.visibilityState === 'visible';
const channel = 'BroadcastChannel' in globalThis && 'locks' in navigator ? new BroadcastChannel(NAME) : undefined;
const post = (message: Message) => channel?.postMessage(message);

/** Watchers that are no queries, with what they watch. */
const watchers = new Map<symbol, { topics: readonly string[]; then: () => void }>();
/** Topics of other tabs that are looked at. */
const others = new Map<string, string[]>();
/** Topics of this tab. */
let wanted: readonly string[] = [];
/** The place in the changes up to which all that is wanted was told of, by whichever tab asks. */
let place: string | undefined;

/** Calls `then` when one of the topics has changed, until the function that it gives is called. */
export function watch(topics: readonly string[], then: () => void): () => void {
  const id = Symbol('watcher');
  watchers.set(id, { topics, then });
  changeWanted();
  return () => {
    watchers.delete(id);
    changeWanted();
  };
}

const topicsOf = (query: Query): readonly string[] => (query.meta?.['topics'] as readonly string[] | undefined) ?? [];
const isWatched = (query: Query): boolean => query.isActive();

function changeWanted(): void {
  const queries = client.getQueryCache().getAll().filter(isWatched).flatMap(topicsOf);
  const all = isSeen() && isOn() ? [...queries, ...[...watchers.values()].flatMap(({ topics }) => topics)] : [];
  const next = [...new Set(all)].sort();
  if (next.join() === wanted.join()) return;
  wanted = next;
  post({ kind: 'want', from: me, topics: next });
  wake?.();
}

/** The last hint, if what is passed on was told of. */
let lastHint: string | undefined;
/** Asks again for what these topics are about, if it is shown here. */
const pass = (topics: ReadonlySet<string>): void => {
  if (!isSeen()) return;
  follow(lastHint, () => {
    void client.invalidateQueries({ predicate: (query) => isWatched(query) && topicsOf(query).some((topic) => topics.has(topic)) });
    for (const { topics: own, then } of [...watchers.values()]) if (own.some((topic) => topics.has(topic))) then();
  });
};
const passOn = floored(pass, isBroad);
function apply(topics: readonly string[], hint: string | undefined): void {
  lastHint = hint;
  passOn(topics);
}
/** All that is shown here: after a time in which nothing was told. */
const applyAll = () => apply(wanted, undefined);

const everything = (): string[] => [...new Set([...wanted, ...[...others.values()].flat()])];

function tellAll(topics: string[], hint?: string): void {
  if (topics.length === 0) return;
  post({ kind: 'changed', from: me, topics, hint });
  apply(topics, hint);
}

function say(next: Link): void {
  if (link() !== next) post({ kind: 'link', from: me, link: next });
  setLink(next);
}

/** Ends a pause, or a request that does not ask for all that is wanted. */
let wake: (() => void) | undefined;

function pause(ms: number, isOver: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    isOver.addEventListener('abort', () => (clearTimeout(timer), done()), { once: true });
  });
}

/** Waits until somebody wants something. */
function idle(isOver: AbortSignal): Promise<void> {
  return new Promise((done) => {
    wake = done;
    isOver.addEventListener('abort', () => done(), { once: true });
  });
}

function reach(next: string): void {
  place = next;
  post({ kind: 'place', from: me, place });
}

/** Asks once for what is wanted, and tells of it. */
async function askOnce(stop: AbortController): Promise<void> {
  if (place === undefined) {
    reach((await call(awaitChanges, { body: { topics: [ANY] }, signal: stop.signal })).after);
    // Reads that began before there was a place may have missed a change.
    tellAll(isPlaced() ? everything() : [...others.values()].flat());
    setPlaced(true);
    say('live');
    return;
  }
  const all = everything();
  const topics = all.slice(0, TOPICS_MAX);
  const asked = new Set(topics);
  const areNew = () => everything().slice(0, TOPICS_MAX).some((topic) => !asked.has(topic));
  wake = () => {
    if (areNew() || everything().length === 0) setTimeout(() => stop.abort(), SETTLE_MS);
  };
  const { after, changed } = await call(awaitChanges, { body: { after: place, topics }, signal: stop.signal });
  // Reads that failed meanwhile are asked again, whatever has changed.
  if (link() === 'away') tellAll(all);
  else tellAll(changed, after);
  // Topics that came meanwhile are asked for from the old place on.
  if (!areNew()) reach(after);
  say('live');
  // More than can be asked for goes by time.
  if (all.length > TOPICS_MAX) setTimeout(() => tellAll(all.slice(TOPICS_MAX)), TIMED_MS);
}

/** Asks for as long as this tab is the one that asks. */
async function ask(isOver: AbortSignal): Promise<void> {
  let failures = 0;
  post({ kind: 'who', from: me });
  while (!isOver.aborted) {
    if (place !== undefined && everything().length === 0) {
      await idle(isOver);
      continue;
    }
    const stop = new AbortController();
    const onOver = () => stop.abort();
    isOver.addEventListener('abort', onOver, { once: true });
    const began = Date.now();
    try {
      await askOnce(stop);
      failures = 0;
    } catch (error) {
      if (stop.signal.aborted) continue;
      setPlaced(true);
      if (error instanceof Problem && !error.isPassing && error.status < 500) {
        // There is no store, or something that is asked for is no topic to this server: pages ask by time.
        say(error.code === 'NO_SECONDARY_STORAGE' ? 'none' : 'timed');
        await forever(isOver);
      } else {
        say('away');
        await pause(pauseAfter(failures), isOver);
        failures += 1;
      }
    } finally {
      isOver.removeEventListener('abort', onOver);
      wake = undefined;
    }
    await pause(Math.max(0, PACE_MS - (Date.now() - began)), isOver);
  }
}

const forever = (isOver: AbortSignal): Promise<void> => new Promise((done) => isOver.addEventListener('abort', () => done(), { once: true }));

/** Tries to be the tab that asks, while this one is looked at. */
let turn: AbortController | undefined;
function takePart(): void {
  turn?.abort();
  turn = undefined;
  if (!isSeen() || !isOn()) return;
  const mine = new AbortController();
  turn = mine;
  // Other tabs can't be told of, or told by whom: each asks on its own.
  if (!channel) void ask(mine.signal);
  else void navigator.locks.request(NAME, { signal: mine.signal }, () => ask(mine.signal)).catch(() => undefined);
}

channel?.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (data.kind === 'want') {
    if (data.topics.length > 0) others.set(data.from, data.topics);
    else others.delete(data.from);
    wake?.();
  } else if (data.kind === 'who') post({ kind: 'want', from: me, topics: [...wanted] });
  else if (data.kind === 'changed') apply(data.topics, data.hint);
  else if (data.kind === 'place') place = data.place;
  else setLink(data.link);
});

/** Lets reads begin where this tab has no place to ask for, or another one has it. */
function placeWithoutAsking(): void {
  if (!isSeen() || !isOn()) setPlaced(true);
  else if (channel) void navigator.locks.query().then(({ held }) => held?.some(({ name }) => name === NAME) && setPlaced(true));
  setTimeout(() => setPlaced(true), PLACE_MS);
}

let isStarted = false;
/** Begins to listen. Called once somebody is signed in. */
export function startLive(): void {
  if (isStarted) return;
  isStarted = true;
  placeWithoutAsking();
  client.getQueryCache().subscribe(({ type }) => {
    if (type === 'observerAdded' || type === 'observerRemoved' || type === 'observerOptionsUpdated' || type === 'removed') changeWanted();
  });
  document.addEventListener('visibilitychange', () => {
    changeWanted();
    takePart();
    // Changes of this time were not told.
    if (isSeen()) applyAll();
  });
  addEventListener('pagehide', () => post({ kind: 'want', from: me, topics: [] }));
  createRoot(() =>
    createEffect(() => {
      isOn();
      changeWanted();
      takePart();
    }),
  );
}
