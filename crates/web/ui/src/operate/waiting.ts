// Words for what an element instance waits for.
import type { BatonAwaited, BatonAwaitedJob, BatonAwaitedTimer, BatonAwaitedUserTask, BatonExplained } from '../api/generated/types';
import { count, t } from '../language';
import { durationText, exactText, relativeText } from '../ui/times';

const momentText = (moment: string): string => `${exactText(moment)} (${relativeText(moment)})`;

/** The end of a sentence that begins with the name of an element. */
export function waitText({ since, job, userTask, message, timer, signal, condition, calledInstance }: BatonAwaited, now: number): string {
  const how = t('instance.wait.for', { time: durationText(Math.max(0, now - Date.parse(since))) });
  if (job) return jobText(job, how);
  if (message) {
    return message.correlationKey
      ? t('instance.wait.messageWithKey', { name: message.messageName, key: message.correlationKey, how })
      : t('instance.wait.message', { name: message.messageName, how });
  }
  if (userTask) return taskText(userTask, how);
  if (timer) return timerText(timer);
  if (signal) return t('instance.wait.signal', { name: signal.signalName, how });
  if (condition) return t('instance.wait.condition', { condition: condition.expression.replace(/^=\s*/, ''), how });
  return calledInstance ? t('instance.wait.called', { process: calledInstance.processDefinitionName || calledInstance.processDefinitionId, how }) : '';
}

function jobText(job: BatonAwaitedJob, how: string): string {
  const { jobType: type, jobKind, worker, deadline, retries } = job;
  if (worker && deadline && Date.parse(deadline) > Date.now()) return t('instance.wait.worked', { worker, type, moment: momentText(deadline) });
  const event = (job.listenerEventType ?? '').toLowerCase().replaceAll('_', ' ');
  const wait =
    jobKind === 'EXECUTION_LISTENER'
      ? t('instance.wait.executionListener', { type, event, how })
      : jobKind === 'TASK_LISTENER'
        ? t('instance.wait.taskListener', { type, event, how })
        : t('instance.wait.job', { type, how });
  const served = servedText(job, wait);
  if (retries === 0) return t('instance.wait.noRetries', { wait: served });
  return t('instance.wait.withRetries', { wait: served, retries: count(retries, 'instance.wait.retries.one', 'instance.wait.retries.other') });
}

/** Whether anybody is there for a job, where that is known. */
function servedText({ streams, polls, freePlaces }: BatonAwaitedJob, wait: string): string {
  if (streams === null || polls === null) return wait;
  const workers = streams + polls;
  if (workers === 0) return t('instance.wait.nobody', { wait });
  return t(freePlaces === 0 ? 'instance.wait.workersFull' : 'instance.wait.workers', { wait, count: workers });
}

function taskText({ assignee, candidateUsers, candidateGroups, dueDate }: BatonAwaitedUserTask, how: string): string {
  const many = [...candidateUsers, ...candidateGroups];
  const wait = assignee
    ? t('instance.wait.assigned', { name: assignee, how })
    : many.length > 0
      ? t('instance.wait.candidates', { names: many.join(', '), how })
      : t('instance.wait.person', { how });
  return dueDate ? t('instance.wait.due', { wait, time: momentText(dueDate) }) : wait;
}

function timerText({ dueDate, repetitions }: BatonAwaitedTimer): string {
  const time = dueDate === null ? undefined : momentText(dueDate);
  if (repetitions > 1) return time === undefined ? t('instance.wait.timerTimes', { count: repetitions }) : t('instance.wait.untilTimes', { time, count: repetitions });
  if (repetitions === -1) return time === undefined ? t('instance.wait.timerEver') : t('instance.wait.untilEver', { time });
  return time === undefined ? t('instance.wait.timer') : t('instance.wait.until', { time });
}

/** One sentence: what an element waits for, the message of its incident, or that it has called others. */
export interface Line {
  element: BatonExplained;
  awaited?: BatonAwaited;
  message?: string;
  isCall?: boolean;
  /** Those that are so. */
  count: number;
}

/** The sentences of active elements. Those that differ by their age alone are one, with the age of the oldest, if it is wished. */
export function linesOf(items: readonly BatonExplained[], isGrouped: boolean): Line[] {
  const lines = items.flatMap((element): Line[] => [
    ...(element.type === 'CALL_ACTIVITY' && element.waitsFor.length === 0 ? [{ element, isCall: true, count: 1 }] : []),
    ...element.waitsFor.map((awaited) => ({ element, awaited, count: 1 })),
    ...element.incidents.map((incident) => ({ element, message: incident.errorMessage, count: 1 })),
  ]);
  if (!isGrouped) return lines;
  const groups = new Map<string, Line>();
  for (const line of lines) {
    const { awaited } = line;
    const key = JSON.stringify([line.element.elementId, line.isCall, line.message, awaited && waitText(awaited, Date.parse(awaited.since))]);
    const known = groups.get(key);
    const isOlder = known?.awaited !== undefined && awaited !== undefined && awaited.since < known.awaited.since;
    groups.set(key, known ? { ...(isOlder ? line : known), count: known.count + 1 } : line);
  }
  return [...groups.values()];
}
