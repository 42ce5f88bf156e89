// Resolving an incident with what was wrong: variables first, then the retries of its job, then the incident itself.
import { createElementInstanceVariables, resolveIncident, updateJob } from '../../api/generated/operations';
import type { IncidentResult } from '../../api/generated/types';
import { plan, type Planned } from '../../api/http';

export interface Repair {
  /** Retries that the job gets. A job without any would only make the next incident. */
  retries: number;
  /** A JSON object of variables, or an empty text for none. */
  variables: string;
}
export type StepName = 'variables' | 'retries' | 'incident';

export const RETRIES_MAX = 2 ** 31 - 1;

/** The commands, in their order. A variable is changed where it is, going outwards from the element; a new one becomes one of the instance. */
export function stepsOf(one: IncidentResult, repair: Repair): [StepName, Planned<unknown>][] {
  const variables = repair.variables.trim();
  const steps: [StepName, Planned<unknown>][] = [];
  if (variables !== '' && variables !== '{}') {
    steps.push(['variables', plan(createElementInstanceVariables, { path: { elementInstanceKey: one.elementInstanceKey }, text: `{"variables":${variables},"local":false}` })]);
  }
  if (one.jobKey) steps.push(['retries', plan(updateJob, { path: { jobKey: one.jobKey }, body: { changeset: { retries: repair.retries } } })]);
  steps.push(['incident', plan(resolveIncident, { path: { incidentKey: one.incidentKey }, body: {} })]);
  return steps;
}

/** Sends them one after the other, and tells each that is done. */
export async function repairOne(one: IncidentResult, repair: Repair, onDone: (step: StepName) => void = () => undefined): Promise<void> {
  for (const [step, planned] of stepsOf(one, repair)) {
    await planned.send();
    onDone(step);
  }
}

/** Resolves an incident as it is: its job gets one more attempt. */
export const retryOne = (one: IncidentResult): Promise<void> => repairOne(one, { retries: 1, variables: '' });

/** The message when that is done: a job is tried again, anything else is over. */
export const resolvedKey = (one: IncidentResult) => (one.jobKey ? 'change.resolve.retrying' : 'change.resolve.resolved');

/** Whether a text is a number of retries. */
export const isRetries = (text: string): boolean => /^[1-9]\d{0,9}$/.test(text.trim()) && Number(text) <= RETRIES_MAX;

export interface Outcome {
  done: number;
  refused: { key: string; reason: unknown }[];
}

/** Works on all that an iteration gives, a few at once, until it ends or is stopped. */
export async function repairAll(all: AsyncIterable<IncidentResult>, repair: Repair, signal: AbortSignal, tell: (outcome: Outcome) => void, atOnce = 4): Promise<void> {
  const outcome: Outcome = { done: 0, refused: [] };
  const rest = all[Symbol.asyncIterator]();
  const work = async () => {
    while (!signal.aborted) {
      const next = await rest.next();
      if (next.done || signal.aborted) return;
      try {
        await repairOne(next.value, repair);
        outcome.done += 1;
      } catch (reason) {
        outcome.refused.push({ key: next.value.incidentKey, reason });
      }
      tell({ done: outcome.done, refused: [...outcome.refused] });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
