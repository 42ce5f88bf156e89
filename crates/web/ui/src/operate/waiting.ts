// Words for what an element instance waits for.
import type {
  ConditionWaitStateDetails,
  ElementInstanceWaitStateResult,
  JobWaitStateDetails,
  MessageWaitStateDetails,
  SignalWaitStateDetails,
  TimerWaitStateDetails,
  UserTaskWaitStateDetails,
} from '../api/generated/types';
import { count, t } from '../language';
import { exactText, relativeText } from '../ui/time';

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
    case 'JOB':
      return jobText(waiting);
    case 'MESSAGE':
      return waiting.correlationKey
        ? t('instance.wait.messageWithKey', { name: waiting.messageName, key: waiting.correlationKey })
        : t('instance.wait.message', { name: waiting.messageName });
    case 'USER_TASK':
      return waiting.dueDate ? t('instance.wait.personDue', { time: momentText(waiting.dueDate) }) : t('instance.wait.person');
    case 'TIMER':
      return timerText(waiting);
    case 'SIGNAL':
      return t('instance.wait.signal', { name: waiting.signalName });
    case 'CONDITION':
      return t('instance.wait.condition', { condition: waiting.expression.replace(/^=\s*/, '') });
  }
}

function jobText({ jobType, jobKind, listenerEventType, retries }: JobWaitStateDetails): string {
  const listener = { type: jobType, event: (listenerEventType ?? '').toLowerCase().replaceAll('_', ' ') };
  const wait =
    jobKind === 'EXECUTION_LISTENER'
      ? t('instance.wait.executionListener', listener)
      : jobKind === 'TASK_LISTENER'
        ? t('instance.wait.taskListener', listener)
        : t('instance.wait.job', { type: jobType });
  if (retries === null) return wait;
  const left = retries === 0 ? t('instance.wait.noRetries') : count(retries, 'instance.wait.retries.one', 'instance.wait.retries.other');
  return t('instance.wait.withRetries', { wait, retries: left });
}

function timerText({ dueDate, repetitions }: TimerWaitStateDetails): string {
  const time = dueDate === null ? undefined : momentText(new Date(dueDate).toISOString());
  if (repetitions !== null && repetitions > 1) {
    return time === undefined ? t('instance.wait.timerTimes', { count: repetitions }) : t('instance.wait.untilTimes', { time, count: repetitions });
  }
  if (repetitions === -1) return time === undefined ? t('instance.wait.timerEver') : t('instance.wait.untilEver', { time });
  return time === undefined ? t('instance.wait.timer') : t('instance.wait.until', { time });
}
