// Words for what an element instance waits for.
import type { BatonAwaited, BatonAwaitedJob } from '../../api/generated/types';
import { wordOf } from '../../ui/words';
import { durationText, exactText, relativeText } from '../../ui/time';

const momentText = (moment: string): string => `${exactText(moment)} (${relativeText(moment)})`;

/** Whether anybody is there for a job; nothing where that is not known. */
function servedText({ streams, polls, freePlaces }: BatonAwaitedJob): string {
  if (streams === null || polls === null) return '';
  const count = streams + polls;
  if (count === 0) return '; no worker is connected';
  return `; ${count} ${count === 1 ? 'worker is' : 'workers are'} connected${freePlaces === 0 ? ', with no place free' : ''}`;
}

function jobText(job: BatonAwaitedJob, how: string): string {
  const listener = job.jobKind === 'EXECUTION_LISTENER' || job.jobKind === 'TASK_LISTENER';
  const whose = listener ? `, for its ${wordOf(job.jobKind).toLowerCase()} (${(job.listenerEventType ?? '').toLowerCase().replaceAll('_', ' ')})` : '';
  if (job.worker && job.deadline && Date.parse(job.deadline) > Date.now()) {
    return `is worked on by ${job.worker}, of the type ${job.jobType}${whose}, until ${momentText(job.deadline)}`;
  }
  const retries = job.retries === 0 ? '; the job has no retries left' : `; ${job.retries} ${job.retries === 1 ? 'retry' : 'retries'} left`;
  return `waits for a worker of the type ${job.jobType}${whose}${how}${servedText(job)}${retries}`;
}

/** The end of a sentence that begins with the name of an element. */
export function waitText({ since, job, userTask, message, timer, signal, condition, calledInstance }: BatonAwaited): string {
  const how = ` for ${durationText(Math.max(0, Date.now() - Date.parse(since)))}`;
  if (job) return jobText(job, how);
  if (message) return `waits for the message ${message.messageName}${message.correlationKey ? ` with the key ${message.correlationKey}` : ''}${how}`;
  if (userTask) {
    const { assignee, candidateUsers, candidateGroups, dueDate } = userTask;
    const many = [...candidateUsers, ...candidateGroups];
    const whom = assignee ? ` (${assignee})` : many.length > 0 ? ` (one of ${many.join(', ')})` : '';
    return `waits for a person${whom}${how}${dueDate ? `, due ${momentText(dueDate)}` : ''}`;
  }
  if (timer) {
    const more = timer.repetitions > 1 ? `, ${timer.repetitions} times in all` : timer.repetitions === -1 ? ', again and again' : '';
    return timer.dueDate === null ? `waits for a timer${more}` : `waits until ${momentText(timer.dueDate)}${more}`;
  }
  if (signal) return `waits for the signal ${signal.signalName}${how}`;
  if (condition) return `waits until ${condition.expression.replace(/^=\s*/, '')} is true${how}`;
  return calledInstance ? `waits for an instance of ${calledInstance.processDefinitionName || calledInstance.processDefinitionId}${how}` : '';
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
