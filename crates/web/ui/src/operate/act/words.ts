// Words for what an element instance waits for.
import type {
  ConditionWaitStateDetails,
  ElementInstanceWaitStateResult,
  JobWaitStateDetails,
  MessageWaitStateDetails,
  SignalWaitStateDetails,
  TimerWaitStateDetails,
  UserTaskWaitStateDetails,
} from '../../api/generated/types';
import { wordOf } from '../../ui/words';
import { exactText, relativeText } from '../../ui/time';

/** The details by kind; the contract tells them apart by their type alone. */
export type Waiting =
  | ({ kind: 'JOB' } & JobWaitStateDetails)
  | ({ kind: 'MESSAGE' } & MessageWaitStateDetails)
  | ({ kind: 'USER_TASK' } & UserTaskWaitStateDetails)
  | ({ kind: 'TIMER' } & TimerWaitStateDetails)
  | ({ kind: 'SIGNAL' } & SignalWaitStateDetails)
  | ({ kind: 'CONDITION' } & ConditionWaitStateDetails);

export const waitingOf = (state: ElementInstanceWaitStateResult): Waiting => ({ kind: state.details.waitStateType, ...state.details }) as Waiting;

const momentText = (moment: string): string => `${exactText(moment)} (${relativeText(moment)})`;

/** The end of a sentence that begins with the name of an element. */
export function waitText(waiting: Waiting): string {
  switch (waiting.kind) {
    case 'JOB': {
      const listener = waiting.jobKind === 'EXECUTION_LISTENER' || waiting.jobKind === 'TASK_LISTENER';
      const whose = listener ? `, for its ${wordOf(waiting.jobKind).toLowerCase()} (${(waiting.listenerEventType ?? '').toLowerCase().replaceAll('_', ' ')})` : '';
      const retries = waiting.retries === 0 ? '; the job has no retries left' : waiting.retries === null ? '' : `; ${waiting.retries} ${waiting.retries === 1 ? 'retry' : 'retries'} left`;
      return `waits for a worker of the type ${waiting.jobType}${whose}${retries}`;
    }
    case 'MESSAGE':
      return `waits for the message ${waiting.messageName}${waiting.correlationKey ? ` with the key ${waiting.correlationKey}` : ''}`;
    case 'USER_TASK':
      return `waits for a person${waiting.dueDate ? `, due ${momentText(waiting.dueDate)}` : ''}`;
    case 'TIMER': {
      const more = waiting.repetitions !== null && waiting.repetitions > 1 ? `, ${waiting.repetitions} times in all` : waiting.repetitions === -1 ? ', again and again' : '';
      return waiting.dueDate === null ? `waits for a timer${more}` : `waits until ${momentText(new Date(waiting.dueDate).toISOString())}${more}`;
    }
    case 'SIGNAL':
      return `waits for the signal ${waiting.signalName}`;
    case 'CONDITION':
      return `waits until ${waiting.expression.replace(/^=\s*/, '')} is true`;
  }
}

/** Why a text is no JSON object, or nothing. */
export function objectProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'Variables are a JSON object, such as {"paid": true}.';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const MS: Record<string, number> = { ms: 1, s: 1000, min: 60_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `90 s`, `5 min`, `2 h` or `1 d`; a bare number is in seconds. */
export function durationOf(text: string): number | undefined {
  const found = /^(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)?$/.exec(text.trim());
  const value = found ? Math.round(Number(found[1]) * MS[found[2] ?? 's']!) : undefined;
  return value !== undefined && Number.isSafeInteger(value) ? value : undefined;
}
