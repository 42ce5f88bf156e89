// The work of an element of a model, in the language of the page.
import { type Key, t } from '../language';

/** By the words of the model. */
const WORDS = {
  'Job type': 'instance.does.jobType',
  'Retries of a job': 'instance.does.retries',
  'Calls the process': 'instance.does.process',
  'Evaluates the decision': 'instance.does.decision',
  'Result in': 'instance.does.result',
  Expression: 'instance.does.expression',
  Form: 'instance.does.form',
  Assignee: 'instance.does.assignee',
  'Candidate groups': 'instance.does.groups',
  Message: 'instance.does.message',
  Signal: 'instance.does.signal',
  Error: 'instance.does.error',
  Escalation: 'instance.does.escalation',
  'Correlation key': 'instance.does.correlationKey',
  'Timer, Date': 'instance.does.date',
  'Timer, Duration': 'instance.does.duration',
  'Timer, Cycle': 'instance.does.cycle',
  'For each of': 'instance.does.items',
  as: 'instance.does.item',
} as const satisfies Record<string, Key>;
const HEADER = /^Header (.*)$/s;

export function doingText(word: string): string {
  const header = HEADER.exec(word)?.[1];
  if (header !== undefined) return t('instance.does.header', { name: header });
  return Object.hasOwn(WORDS, word) ? t(WORDS[word as keyof typeof WORDS]) : word;
}

const EVENTS = ['message', 'timer', 'signal', 'error', 'escalation', 'conditional', 'compensate', 'link', 'terminate', 'cancel'] as const;

/** The kind of an event. */
export function eventText(kind: string): string {
  const known = EVENTS.find((one) => one === kind);
  return known ? t(`instance.event.${known}`) : kind;
}
