import { createSignal, type JSX, Show } from 'solid-js';
import { assignUserTask, unassignUserTask, updateUserTask } from '../api/generated/operations';
import type { UserTaskResult } from '../api/generated/types';
import { FormDialog } from '../admin/Create';
import { call } from '../api/http';
import { t } from '../language';
import { refresh } from '../query';
import { ofTask } from '../rights';
import { user } from '../session';
import { Action, Dialog } from '../ui/parts';
import { Assign } from './Assign';

const OPEN = new Set(['CREATED', 'ASSIGNING', 'UPDATING', 'COMPLETING', 'CREATING']);
export const isOpen = (task: UserTaskResult): boolean => OPEN.has(task.state);
const PRIORITY_MAX = 100;

/** A moment as a field of the page has it, in the time of the browser. */
function fieldOf(moment: string | null): string {
  if (moment === null) return '';
  const at = new Date(moment);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
const lines = (text: string): string[] => text.split('\n').map((one) => one.trim()).filter((one) => one !== '');

/** Whose a task is, with the ways to change that, its dates and its priority. */
export function Owner(props: { task: UserTaskResult }): JSX.Element {
  const [assigning, setAssigning] = createSignal(false);
  const [takingOver, setTakingOver] = createSignal(false);
  const [changing, setChanging] = createSignal(false);
  const path = () => ({ userTaskKey: props.task.userTaskKey });
  const me = () => user()?.username;
  const may = (what: 'claim' | 'update') => ofTask(what, props.task, user());
  // A task of another user stays theirs, unless the page has asked: it may have noticed a moment ago that they took it.
  const claim = async (allowOverride: boolean) => {
    await call(assignUserTask, { path: path(), body: { assignee: me()!, allowOverride } });
    setTakingOver(false);
    await refresh();
  };
  const claimOrAsk = () => (props.task.assignee === null ? claim(false) : setTakingOver(true));
  const assign = async (assignee: string) => {
    await call(assignUserTask, { path: path(), body: { assignee, allowOverride: true } });
    setAssigning(false);
    await refresh();
  };
  const unassign = async () => {
    await call(unassignUserTask, { path: path() });
    await refresh();
  };
  return (
    <>
      <span>{props.task.assignee ? t('task.assignedTo', { name: props.task.assignee }) : t('task.unassigned')}</span>
      <Show when={isOpen(props.task)}>
        <Show when={me() && props.task.assignee !== me()}>
          <Action key="claim" needs={may(props.task.assignee === null ? 'claim' : 'update')} do={claimOrAsk}>
            {t('task.assignToMe')}
          </Action>
        </Show>
        <Action needs={may('update')} do={() => setAssigning(true)}>
          {t('task.assign')}
        </Action>
        <Show when={props.task.assignee}>
          <Action needs={may('update')} do={unassign}>
            {t('task.unassign')}
          </Action>
        </Show>
        <Action needs={may('update')} do={() => setChanging(true)}>
          {t('task.change')}
        </Action>
      </Show>
      <Show when={assigning()}>
        <Assign title={t('task.assign.title')} assign={assign} onClose={() => setAssigning(false)} />
      </Show>
      <Show when={takingOver() && props.task.assignee}>
        {(name) => (
          <Dialog title={t('task.takeOver.title')} onClose={() => setTakingOver(false)}>
            <p>{t('task.takeOver', { name: name() })}</p>
            <div class="actions">
              <Action class="primary" do={() => claim(true)}>
                {t('task.takeOver.button')}
              </Action>
            </div>
          </Dialog>
        )}
      </Show>
      <Show when={changing()}>
        <Change task={props.task} onClose={() => setChanging(false)} />
      </Show>
    </>
  );
}

/** Priority, dates and candidates. Only what was changed is sent, so that others' changes stay. */
function Change(props: { task: UserTaskResult; onClose: () => void }): JSX.Element {
  const before = {
    priority: String(props.task.priority),
    dueDate: fieldOf(props.task.dueDate),
    followUpDate: fieldOf(props.task.followUpDate),
    candidateUsers: props.task.candidateUsers.join('\n'),
    candidateGroups: props.task.candidateGroups.join('\n'),
  };
  type Name = keyof typeof before;
  const read: Record<Name, (text: string) => unknown> = {
    priority: Number,
    // An empty text takes the date away.
    dueDate: (text) => (text === '' ? '' : new Date(text).toISOString()),
    followUpDate: (text) => (text === '' ? '' : new Date(text).toISOString()),
    candidateUsers: lines,
    candidateGroups: lines,
  };
  const save = (text: (name: string) => string) => {
    const names = (Object.keys(before) as Name[]).filter((name) => text(name).replaceAll('\r', '') !== before[name]);
    const changeset = Object.fromEntries(names.map((name) => [name, read[name](text(name))]));
    return names.length === 0 ? Promise.resolve() : call(updateUserTask, { path: { userTaskKey: props.task.userTaskKey }, body: { changeset } });
  };
  return (
    <FormDialog
      title={t('task.change.title')}
      button={t('task.change.save')}
      done={t('task.saved')}
      inputs={[
        { name: 'priority', label: t('task.change.priority'), type: 'number', min: 0, max: PRIORITY_MAX, required: true, value: before.priority },
        { name: 'dueDate', label: t('task.change.due'), type: 'datetime-local', value: before.dueDate },
        { name: 'followUpDate', label: t('task.change.followUp'), type: 'datetime-local', value: before.followUpDate },
        { name: 'candidateUsers', label: t('task.change.users'), type: 'lines', hint: t('task.change.lines'), value: before.candidateUsers },
        { name: 'candidateGroups', label: t('task.change.groups'), type: 'lines', hint: t('task.change.lines'), value: before.candidateGroups },
      ]}
      send={save}
      onClose={props.onClose}
    />
  );
}
