import { A, useNavigate } from '@solidjs/router';
import { createMemo, createSignal, type JSX, Show } from 'solid-js';
import { assignUserTask, completeUserTask, getUserTask, getUserTaskForm, searchUserTaskEffectiveVariables, unassignUserTask } from '../api/generated/operations';
import type { UserTaskResult } from '../api/generated/types';
import { call, Problem } from '../api/http';
import { FormView, type Submit } from '../diagram/FormView';
import { refresh, useRead } from '../query';
import { user } from '../session';
import { Action, Dialog, Failure, Field, State } from '../ui/parts';
import { Time } from '../ui/time';
import { say } from '../ui/toast';
import { VariablesForm } from '../ui/VariablesForm';

const VARIABLES_MAX = 1000;
const OPEN = new Set(['CREATED', 'ASSIGNING', 'UPDATING', 'COMPLETING', 'CREATING']);

/** A task: whose it is, its form or variables, and the way to complete it. */
export function Task(props: { taskKey: string; search: string; next: () => string | undefined }): JSX.Element {
  const isKey = () => /^\d{1,19}$/.test(props.taskKey);
  const task = useRead(getUserTask, () => ({ path: { userTaskKey: props.taskKey }, enabled: isKey(), live: true, keep: false }));
  const isMissing = () => !isKey() || (task.error instanceof Problem && task.error.status === 404);
  return (
    <div class="page">
      <A href={`/tasklist${props.search}`} class="muted">
        ‹ all tasks
      </A>
      <Show when={isMissing()}>
        <h2>There is no such task</h2>
        <p>
          No task that you may see has the key <code>{props.taskKey.slice(0, 100)}</code>. It may have ended meanwhile.
        </p>
      </Show>
      <Show when={!isMissing() && !task.data && task.error}>{(error) => <Failure of={error()} again={() => void task.refetch()} />}</Show>
      <Show when={task.data}>{(one) => <Loaded task={one()} search={props.search} next={props.next} />}</Show>
    </div>
  );
}

function Loaded(props: { task: UserTaskResult; search: string; next: () => string | undefined }): JSX.Element {
  const navigate = useNavigate();
  const key = () => props.task.userTaskKey;
  const isOpen = () => OPEN.has(props.task.state);
  const me = () => user()?.username;
  // Without authentication everybody works as nobody in particular, and claims by a name of theirs.
  const isMine = () => (me() ? props.task.assignee === me() : props.task.assignee !== null);
  const [submit, setSubmit] = createSignal<Submit>();
  const [assigning, setAssigning] = createSignal(false);
  const form = useRead(getUserTaskForm, () => ({ path: { userTaskKey: key() }, enabled: props.task.formKey !== null, keep: false }));
  const variables = useRead(searchUserTaskEffectiveVariables, () => ({
    path: { userTaskKey: key() },
    query: { truncateValues: false } as never,
    body: { sort: [{ field: 'name' as const, order: 'ASC' as const }], page: { limit: VARIABLES_MAX } },
    keep: false,
  }));
  const values = createMemo(() => variables.data && new Map(variables.data.items.map((one) => [one.name, one.value])));
  const isCut = () => variables.data?.items.some((one) => one.isTruncated);
  const hasForm = () => props.task.formKey !== null;
  const assign = async (assignee: string) => {
    await call(assignUserTask, { path: { userTaskKey: key() }, body: { assignee, allowOverride: true } });
    setAssigning(false);
    await refresh();
  };
  const unassign = async () => {
    await call(unassignUserTask, { path: { userTaskKey: key() } });
    await refresh();
  };
  const complete = async () => {
    const text = submit()?.();
    if (text === undefined) {
      say('Some fields are wrong.', true);
      return;
    }
    await call(completeUserTask, { path: { userTaskKey: key() }, text: `{"variables":${text}}` });
    const next = props.next();
    await refresh();
    say('Completed');
    navigate(next ? `/tasklist/${next}${props.search}` : `/tasklist${props.search}`);
  };
  return (
    <>
      <div class="row">
        <h2 style={{ margin: '0' }}>{props.task.name || props.task.elementId}</h2>
        <State of={props.task.state} />
        <span class="spacer" />
        <span>{props.task.assignee ? `Assigned to ${props.task.assignee}` : 'Unassigned'}</span>
        <Show when={isOpen()}>
          <Show when={me() && props.task.assignee !== me()}>
            <Action do={() => assign(me()!)}>Assign to me</Action>
          </Show>
          <button onClick={() => setAssigning(true)}>Assign …</button>
          <Show when={props.task.assignee}>
            <Action do={unassign}>Unassign</Action>
          </Show>
        </Show>
      </div>
      <div class="row muted">
        <span>{props.task.processName || props.task.processDefinitionId}</span>
        <A href={`/operate/processes/${props.task.processInstanceKey}`}>instance {props.task.processInstanceKey}</A>
        <span>
          created <Time of={props.task.creationDate} />
        </span>
        <Show when={props.task.dueDate}>
          {(due) => (
            <span>
              due <Time of={due()} />
            </span>
          )}
        </Show>
        <Show when={props.task.followUpDate}>
          {(date) => (
            <span>
              follow up <Time of={date()} />
            </span>
          )}
        </Show>
        <span>priority {props.task.priority}</span>
        <Show when={props.task.candidateGroups.length > 0}>
          <span>groups {props.task.candidateGroups.join(', ')}</span>
        </Show>
      </div>
      <Show when={props.task.externalFormReference}>{(reference) => <p>The form of this task is elsewhere: {reference()}</p>}</Show>
      <Show when={form.error ?? variables.error}>{(error) => <Failure of={error()} again={() => void refresh()} />}</Show>
      <Show when={values()} keyed>
        {(known) => (
          <Show when={hasForm()} fallback={<VariablesForm values={known} readOnly={!isOpen() || !isMine()} onReady={(ready) => setSubmit(() => ready)} />}>
            <Show when={form.data?.schema} keyed>
              {(schema) => <FormView schema={schema} values={known} readOnly={!isOpen() || !isMine()} onReady={(ready) => setSubmit(() => ready)} />}
            </Show>
          </Show>
        )}
      </Show>
      <Show when={isCut()}>
        <p class="muted">Long values are cut here.</p>
      </Show>
      <Show when={isOpen()}>
        <div class="actions">
          <Show when={!isMine()}>
            <span class="muted">Assign the task first to work on it.</span>
          </Show>
          <Action class="primary" do={complete} disabled={!isMine() || !submit()}>
            Complete
          </Action>
        </div>
      </Show>
      <Show when={assigning()}>
        <Dialog title="Assign the task" onClose={() => setAssigning(false)}>
          <AssignForm assign={assign} />
        </Dialog>
      </Show>
    </>
  );
}

function AssignForm(props: { assign: (assignee: string) => Promise<void> }): JSX.Element {
  const [name, setName] = createSignal('');
  return (
    <div class="stack">
      <Field label="User name">
        <input value="" autofocus onInput={(event) => setName(event.currentTarget.value)} />
      </Field>
      <div class="actions">
        <Action class="primary" disabled={name().trim() === ''} do={() => props.assign(name().trim())}>
          Assign
        </Action>
      </div>
    </div>
  );
}
