import type { BatonStep } from '../api/generated/types';
import { t } from '../language';

const LONG = 80;
const short = (text: string | null): string => (text === null ? '' : text.length > LONG ? `${text.slice(0, LONG)} …` : text);

/** A step as a sentence without its end. */
export function wordsOf(step: BatonStep, nameOf: (elementId: string) => string): string {
  const element = step.elementId === null ? '' : nameOf(step.elementId);
  const name = short(step.name);
  const value = short(step.value);
  const by = value && t('history.by', { name: value });
  switch (step.kind) {
    case 'ELEMENT_ACTIVATED':
      return t('history.step.elementActivated', { element });
    case 'ELEMENT_COMPLETED':
      return t('history.step.elementCompleted', { element });
    case 'ELEMENT_TERMINATED':
      return t('history.step.elementTerminated', { element });
    case 'VARIABLE_SET':
      return t('history.step.variableSet', { name, value });
    case 'JOB_CREATED':
      return t('history.step.jobCreated', { name });
    case 'JOB_ACTIVATED':
      return value ? t('history.step.jobActivatedBy', { worker: value, name }) : t('history.step.jobActivated', { name });
    case 'JOB_COMPLETED':
      return t('history.step.jobCompleted', { name });
    case 'JOB_FAILED':
      return value ? t('history.step.jobFailed', { name, reason: value }) : t('history.step.jobFailedSilently', { name });
    case 'JOB_TIMED_OUT':
      return t('history.step.jobTimedOut', { name });
    case 'JOB_CANCELED':
      return t('history.step.jobCanceled', { name });
    case 'INCIDENT_CREATED':
      return t('history.step.incidentCreated', { element, reason: value || name });
    case 'INCIDENT_RESOLVED':
      return t('history.step.incidentResolved', { element });
    case 'MODIFIED':
      return t('history.step.modified', { by });
    case 'MIGRATED':
      return t('history.step.migrated', { by });
    case 'SUSPENDED':
      return t('history.step.suspended', { by });
    case 'RESUMED':
      return t('history.step.resumed', { by });
    case 'CANCELED':
      return t('history.step.canceled', { by });
  }
}

/** Steps that stand out: incidents, and what people did. */
export const standsOut = (step: BatonStep): boolean => ['INCIDENT_CREATED', 'MODIFIED', 'MIGRATED', 'SUSPENDED', 'CANCELED'].includes(step.kind);
