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
import { count, t } from '../../language';

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
      const whose = listener ? t('change.waits.listener', { kind: wordOf(waiting.jobKind).toLowerCase(), event: (waiting.listenerEventType ?? '').toLowerCase().replaceAll('_', ' ') }) : '';
      const retries = waiting.retries === 0 ? t('change.waits.noRetries') : waiting.retries === null ? '' : count(waiting.retries, 'change.waits.retries.one', 'change.waits.retries.other');
      return t('change.waits.job', { type: waiting.jobType, listener: whose, retries });
    }
    case 'MESSAGE':
      return waiting.correlationKey ? t('change.waits.messageKey', { name: waiting.messageName, key: waiting.correlationKey }) : t('change.waits.message', { name: waiting.messageName });
    case 'USER_TASK':
      return waiting.dueDate ? t('change.waits.personDue', { moment: momentText(waiting.dueDate) }) : t('change.waits.person');
    case 'TIMER': {
      const more = waiting.repetitions !== null && waiting.repetitions > 1 ? t('change.waits.times', { count: waiting.repetitions }) : waiting.repetitions === -1 ? t('change.waits.forever') : '';
      return waiting.dueDate === null ? t('change.waits.timer', { more }) : t('change.waits.until', { moment: momentText(new Date(waiting.dueDate).toISOString()), more });
    }
    case 'SIGNAL':
      return t('change.waits.signal', { name: waiting.signalName });
    case 'CONDITION':
      return t('change.waits.condition', { expression: waiting.expression.replace(/^=\s*/, '') });
  }
}

/** Why a text is no JSON object, or nothing. */
export function objectProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : t('change.variables.object', { example: '{"paid": true}' });
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
