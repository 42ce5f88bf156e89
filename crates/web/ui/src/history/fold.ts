// Steps of an instance, folded into what was so at a moment, and into where its time went. The server does the same for
// one moment (`at`, `timeline`): `steps/cases.json` of the gateway holds both to the same answers.
import type { BatonStep } from '../api/generated/types';
import type { Counts } from '../diagram/bpmn';

export interface ElementThen {
  key: string;
  elementId: string;
  type: string;
  state: 'ACTIVE' | 'COMPLETED' | 'TERMINATED';
  hasIncident: boolean;
  since: string;
  until: string | undefined;
}
export interface VariableThen {
  key: string;
  scopeKey: string;
  name: string;
  /** JSON text, as it was written. */
  value: string;
  since: string;
}
export interface IncidentThen {
  key: string;
  elementId: string | null;
  elementKey: string | null;
  type: string;
  message: string;
  since: string;
}
export interface JobThen {
  key: string;
  elementId: string | null;
  type: string;
  state: 'CREATED' | 'ACTIVATED' | 'FAILED' | 'TIMED_OUT';
  worker: string;
}

/** The state of an instance at a moment. */
export interface Then {
  elements: Map<string, ElementThen>;
  variables: Map<string, VariableThen>;
  incidents: Map<string, IncidentThen>;
  jobs: Map<string, JobThen>;
  isSuspended: boolean;
}

/** The number of steps until a position, and with it. Without a position: all of them. */
export function countUntil(steps: readonly BatonStep[], position: number | undefined): number {
  if (position === undefined) return steps.length;
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle]!.position <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

const JOB_STATES = { JOB_CREATED: 'CREATED', JOB_ACTIVATED: 'ACTIVATED', JOB_FAILED: 'FAILED', JOB_TIMED_OUT: 'TIMED_OUT' } as const;

/** Folds the first steps, as many as `count`. */
export function fold(steps: readonly BatonStep[], count: number): Then {
  const then: Then = { elements: new Map(), variables: new Map(), incidents: new Map(), jobs: new Map(), isSuspended: false };
  for (let at = 0; at < count; at += 1) apply(then, steps[at]!);
  for (const { elementKey } of then.incidents.values()) {
    const element = then.elements.get(elementKey ?? '');
    if (element) element.hasIncident = true;
  }
  return then;
}

function apply(then: Then, step: BatonStep): void {
  const key = step.key ?? '';
  const elementKey = step.elementInstanceKey ?? '';
  switch (step.kind) {
    case 'ELEMENT_ACTIVATED':
      then.elements.set(elementKey, { key: elementKey, elementId: step.elementId ?? '', type: step.name ?? '', state: 'ACTIVE', hasIncident: false, since: step.time, until: undefined });
      return;
    case 'ELEMENT_COMPLETED':
    case 'ELEMENT_TERMINATED': {
      const element = then.elements.get(elementKey);
      if (!element) return;
      element.state = step.kind === 'ELEMENT_COMPLETED' ? 'COMPLETED' : 'TERMINATED';
      element.until = step.time;
      // A migration may have put it on another element.
      element.elementId = step.elementId ?? element.elementId;
      // Variables of the instance itself stay in sight.
      if (element.type !== 'PROCESS') for (const [id, { scopeKey }] of then.variables) if (scopeKey === elementKey) then.variables.delete(id);
      return;
    }
    case 'VARIABLE_SET':
      then.variables.set(`${elementKey} ${step.name}`, { key, scopeKey: elementKey, name: step.name ?? '', value: step.value ?? '', since: step.time });
      return;
    case 'JOB_CREATED':
    case 'JOB_ACTIVATED':
    case 'JOB_FAILED':
    case 'JOB_TIMED_OUT':
      then.jobs.set(key, { key, elementId: step.elementId, type: step.name ?? '', state: JOB_STATES[step.kind], worker: step.kind === 'JOB_ACTIVATED' ? (step.value ?? '') : '' });
      return;
    case 'JOB_COMPLETED':
    case 'JOB_CANCELED':
      then.jobs.delete(key);
      return;
    case 'INCIDENT_CREATED':
      then.incidents.set(key, { key, elementId: step.elementId, elementKey: step.elementInstanceKey, type: step.name ?? '', message: step.value ?? '', since: step.time });
      return;
    case 'INCIDENT_RESOLVED':
      then.incidents.delete(key);
      return;
    case 'SUSPENDED':
      then.isSuspended = true;
      return;
    case 'RESUMED':
      then.isSuspended = false;
      return;
    default:
  }
}

/** How many element instances were in each element, as diagrams show it. */
export function countsOf(then: Then): Map<string, Counts> {
  const counts = new Map<string, Required<Counts>>();
  for (const { elementId, type, state, hasIncident } of then.elements.values()) {
    if (type === 'PROCESS') continue;
    const of = counts.get(elementId) ?? { active: 0, incidents: 0, completed: 0, canceled: 0 };
    counts.set(elementId, of);
    if (hasIncident && state === 'ACTIVE') of.incidents += 1;
    else of[({ ACTIVE: 'active', COMPLETED: 'completed', TERMINATED: 'canceled' } as const)[state]] += 1;
  }
  return counts;
}

export const WAYS = ['waiting', 'working', 'incident', 'other'] as const;
export type Way = (typeof WAYS)[number];
/** The time of all instances of an element, in milliseconds. */
export interface Spent extends Record<Way, number> {
  elementId: string;
  count: number;
  total: number;
}

/** An element instance that has not ended, with its time by ways. */
interface Open extends Record<Way, number> {
  elementId: string;
  since: number;
  way: Way;
  incidents: number;
}

/** Elements that have no time of their own: what is in them has. */
const SCOPES = new Set(['PROCESS', 'SUB_PROCESS', 'EVENT_SUB_PROCESS', 'AD_HOC_SUB_PROCESS', 'AD_HOC_SUB_PROCESS_INNER_INSTANCE', 'MULTI_INSTANCE_BODY']);

/** Where the time went until `end`: waiting for a worker, at work, in incidents, or none of these; the most first. */
export function timeSpent(steps: readonly BatonStep[], end: number): Spent[] {
  const spent = new Map<string, Spent>();
  const open = new Map<string, Open>();
  const move = (key: string, time: number, change: (one: Open) => void) => {
    const one = open.get(key);
    if (!one) return;
    one[one.incidents > 0 ? 'incident' : one.way] += Math.max(0, time - one.since);
    one.since = time;
    change(one);
  };
  const close = (key: string, { elementId, ...one }: Open) => {
    open.delete(key);
    const of = spent.get(elementId) ?? { elementId, count: 0, total: 0, waiting: 0, working: 0, incident: 0, other: 0 };
    spent.set(elementId, of);
    of.count += 1;
    for (const way of WAYS) {
      of[way] += one[way];
      of.total += one[way];
    }
  };
  for (const step of steps) {
    const time = Date.parse(step.time);
    const key = step.elementInstanceKey ?? '';
    if (step.kind === 'ELEMENT_ACTIVATED') {
      if (SCOPES.has(step.name ?? '')) continue;
      open.set(key, { elementId: step.elementId ?? '', since: time, way: 'other', incidents: 0, waiting: 0, working: 0, incident: 0, other: 0 });
    } else if (step.kind === 'ELEMENT_COMPLETED' || step.kind === 'ELEMENT_TERMINATED') {
      move(key, time, (one) => close(key, { ...one, elementId: step.elementId ?? one.elementId }));
    } else if (step.kind === 'JOB_CREATED' || step.kind === 'JOB_FAILED' || step.kind === 'JOB_TIMED_OUT') {
      move(key, time, (one) => (one.way = 'waiting'));
    } else if (step.kind === 'JOB_ACTIVATED') move(key, time, (one) => (one.way = 'working'));
    else if (step.kind === 'JOB_COMPLETED' || step.kind === 'JOB_CANCELED') move(key, time, (one) => (one.way = 'other'));
    else if (step.kind === 'INCIDENT_CREATED') move(key, time, (one) => (one.incidents += 1));
    else if (step.kind === 'INCIDENT_RESOLVED') move(key, time, (one) => (one.incidents = Math.max(0, one.incidents - 1)));
  }
  for (const key of [...open.keys()]) move(key, end, (one) => close(key, one));
  return [...spent.values()].sort((a, b) => b.total - a.total);
}
