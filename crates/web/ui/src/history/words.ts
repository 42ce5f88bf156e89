import type { BatonStep } from '../api/generated/types';

const LONG = 80;
const short = (text: string | null): string => (text === null ? '' : text.length > LONG ? `${text.slice(0, LONG)} …` : text);

/** A step as a sentence without its end. */
export function wordsOf(step: BatonStep, nameOf: (elementId: string) => string): string {
  const element = step.elementId === null ? '' : nameOf(step.elementId);
  const name = short(step.name);
  const value = short(step.value);
  const by = value && `, by ${value}`;
  switch (step.kind) {
    case 'ELEMENT_ACTIVATED':
      return `${element} begins`;
    case 'ELEMENT_COMPLETED':
      return `${element} completes`;
    case 'ELEMENT_TERMINATED':
      return `${element} is terminated`;
    case 'VARIABLE_SET':
      return `${name} becomes ${value}`;
    case 'JOB_CREATED':
      return `a job of the type ${name} waits for a worker`;
    case 'JOB_ACTIVATED':
      return value ? `worker ${value} takes the job ${name}` : `a worker takes the job ${name}`;
    case 'JOB_COMPLETED':
      return `the job ${name} is completed`;
    case 'JOB_FAILED':
      return `the job ${name} fails: ${value || 'without a message'}`;
    case 'JOB_TIMED_OUT':
      return `the job ${name} is given back, its time is over`;
    case 'JOB_CANCELED':
      return `the job ${name} is canceled`;
    case 'INCIDENT_CREATED':
      return `an incident at ${element}: ${value || name}`;
    case 'INCIDENT_RESOLVED':
      return `the incident at ${element} is resolved`;
    case 'MODIFIED':
      return `the instance is modified${by}`;
    case 'MIGRATED':
      return `the instance is migrated${by}`;
    case 'SUSPENDED':
      return `the instance is suspended${by}`;
    case 'RESUMED':
      return `the instance goes on${by}`;
    case 'CANCELED':
      return `the instance is canceled${by}`;
  }
}

/** Steps that stand out: incidents, and what people did. */
export const standsOut = (step: BatonStep): boolean => ['INCIDENT_CREATED', 'MODIFIED', 'MIGRATED', 'SUSPENDED', 'CANCELED'].includes(step.kind);
