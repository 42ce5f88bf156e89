import { createEffect, createMemo, createSignal, type JSX, on, Show } from 'solid-js';
import { completeUserTask, getUserTaskForm, searchUserTaskEffectiveVariables } from '../api/generated/operations';
import type { UserTaskResult } from '../api/generated/types';
import { call } from '../api/http';
import { FormView, type Submit } from '../diagram/FormView';
import { t } from '../language';
import { refresh, useRead } from '../query';
import { ofTask } from '../rights';
import { user } from '../session';
import { documentsIn } from '../ui/documents';
import { Action, Failure } from '../ui/parts';
import { say } from '../ui/toast';
import { VariablesForm } from '../ui/VariablesForm';
import { Documents } from './Documents';
import { dropDraft, keepDraft, readDraft } from './drafts';
import { isOpen } from './Owner';

const VARIABLES_MAX = 1000;
const NONE = '{}';

/** A link that is one: nothing that runs here. */
const linkOf = (reference: string): string | undefined => (/^https?:\/\//i.test(reference) && URL.canParse(reference) ? reference : undefined);

/** The form of a task, or its variables, with the draft of what was typed; and the way to complete it. */
export function Work(props: {
  task: UserTaskResult;
  onDone: () => void;
  /** Is told where the fields are, when they are drawn and can be filled in. */
  onFields: (place: HTMLElement) => void;
}): JSX.Element {
  let fields!: HTMLDivElement;
  const key = () => props.task.userTaskKey;
  const me = () => user()?.username;
  // Without authentication everybody works as nobody in particular, and claims by a name of theirs.
  const isMine = () => (me() ? props.task.assignee === me() : props.task.assignee !== null);
  const mayWork = () => isOpen(props.task) && isMine();
  const [submit, setSubmit] = createSignal<Submit>();
  const [draft, setDraft] = createSignal(readDraft(key()));
  const [isTyped, setTyped] = createSignal(draft() !== undefined);
  /** Raised to draw the form anew. */
  const [drawn, setDrawn] = createSignal(1);
  const hasForm = () => props.task.formKey !== null;
  const form = useRead(getUserTaskForm, () => ({ path: { userTaskKey: key() }, enabled: hasForm(), keep: false }));
  const variables = useRead(searchUserTaskEffectiveVariables, () => ({
    path: { userTaskKey: key() },
    query: { truncateValues: false } as never,
    body: { sort: [{ field: 'name' as const, order: 'ASC' as const }], page: { limit: VARIABLES_MAX } },
    keep: false,
  }));
  // Typed text is not drawn anew when the same values are read again.
  const values = createMemo(() => variables.data && new Map(variables.data.items.map((one) => [one.name, one.value])), undefined, {
    equals: (a, b) => a !== undefined && b !== undefined && JSON.stringify([...a]) === JSON.stringify([...b]),
  });
  // Changes of others are shown, unless something is typed that would get lost.
  createEffect(on(values, (_, before) => before && readDraft(key()) === undefined && setDrawn(drawn() + 1)));
  const documents = createMemo(() => [...(values()?.values() ?? [])].filter((text) => text.includes('camunda.document.type')).flatMap((text) => documentsIn(JSON.parse(text))));
  const isCut = () => variables.data?.items.some((one) => one.isTruncated) || (variables.data?.page.totalItems ?? 0) > VARIABLES_MAX;
  createEffect(() => mayWork() && submit() && requestAnimationFrame(() => props.onFields(fields)));
  let isFull = false;
  const onDraft = (text: string) => {
    if (!mayWork()) return;
    const isNone = text === NONE || text === '[]';
    setTyped(!isNone);
    if (isNone) dropDraft(key());
    else if (!keepDraft(key(), text) && !isFull) {
      isFull = true;
      say(t('task.draft.full'), true);
    }
  };
  const discard = () => {
    dropDraft(key());
    setTyped(false);
    setDraft(undefined);
    setDrawn(drawn() + 1);
  };
  const complete = async () => {
    const text = await submit()?.();
    if (text === undefined) {
      say(t('task.wrong'), true);
      return;
    }
    await call(completeUserTask, { path: { userTaskKey: key() }, text: `{"variables":${text}}` });
    dropDraft(key());
    setTyped(false);
    await refresh();
    say(t('task.done'));
    props.onDone();
  };
  return (
    <>
      <Show when={props.task.externalFormReference}>
        {(reference) => (
          <p>
            {t('task.external')}{' '}
            <Show when={linkOf(reference())} fallback={reference()}>
              {(href) => (
                <a href={href()} target="_blank" rel="noreferrer noopener">
                  {reference()}
                </a>
              )}
            </Show>
          </p>
        )}
      </Show>
      <Show when={form.error ?? variables.error}>{(error) => <Failure of={error()} again={() => void refresh()} />}</Show>
      <Show when={draft() && mayWork()}>
        <p role="status">
          {t('task.draft')} <button onClick={discard}>{t('task.draft.discard')}</button>
        </p>
      </Show>
      <Show when={isTyped() && !isOpen(props.task)}>
        <div class="failure" role="alert">
          <p>{t('task.draft.late')}</p>
          <button onClick={discard}>{t('task.draft.discard')}</button>
        </div>
      </Show>
      <div ref={fields}>
        <Show when={values() && drawn()} keyed>
          <Show
            when={hasForm()}
            fallback={
              <VariablesForm values={values()!} readOnly={!mayWork()} onReady={(ready) => setSubmit(() => ready)} draft={draft()} onDraft={onDraft} takesFiles />
            }
          >
            <Show when={form.data?.schema} keyed>
              {(schema) => <FormView schema={schema} values={values()!} readOnly={!mayWork()} onReady={(ready) => setSubmit(() => ready)} draft={draft()} onDraft={onDraft} />}
            </Show>
          </Show>
        </Show>
      </div>
      <Show when={documents().length > 0}>
        <Documents of={documents()} />
      </Show>
      <Show when={isCut()}>
        <p class="muted">{t('task.cut')}</p>
      </Show>
      <Show when={isOpen(props.task)}>
        <div class="actions foot">
          <Show when={!isMine()}>
            <span class="muted">{t('task.claimFirst')}</span>
          </Show>
          <Action class="primary" key="complete" needs={ofTask('complete', props.task, user())} do={complete} disabled={!isMine() || !submit()}>
            {t('task.complete')}
          </Action>
        </div>
      </Show>
    </>
  );
}
