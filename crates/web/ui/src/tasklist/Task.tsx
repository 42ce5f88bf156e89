import { A, useNavigate } from '@solidjs/router';
import { createEffect, For, type JSX, Match, on, Show, Switch } from 'solid-js';
import { getUserTask } from '../api/generated/operations';
import type { UserTaskResult } from '../api/generated/types';
import { Problem } from '../api/http';
import { BpmnDiagram } from '../diagram/BpmnDiagram';
import { useTitle } from '../frame/title';
import { t } from '../language';
import { useRead } from '../query';
import { mayUse } from '../session';
import { LogOfTask } from '../log/LogTable';
import { Failure, State } from '../ui/parts';
import { Time } from '../ui/time';
import { Owner } from './Owner';
import { Work } from './Work';

const TABS = ['form', 'process', 'history'] as const;
type Tab = (typeof TABS)[number];
const FIELDS = ':is(input:not([type=file]), select, textarea):not(:disabled, [readonly])';
/** A task that was opened by keyboard; another one each time. */
export interface Entered {
  key: string;
}

/** A task: whose it is, its form or variables, its process, and what was done with it. */
export function Task(props: { taskKey: string; tab: string | undefined; search: string; next: () => string | undefined; entered: Entered | undefined }): JSX.Element {
  const isKey = () => /^\d{1,19}$/.test(props.taskKey);
  const task = useRead(getUserTask, () => ({ path: { userTaskKey: props.taskKey }, enabled: isKey(), live: true, keep: false }));
  const isMissing = () => !isKey() || (task.error instanceof Problem && task.error.status === 404);
  return (
    <div class="page">
      <A href={`/tasklist${props.search}`} class="muted">
        ‹ {t('task.all')}
      </A>
      <Show when={isMissing()}>
        <h2>{t('task.missing')}</h2>
        <p>{t('task.missing.text', { key: props.taskKey.slice(0, 100) })}</p>
      </Show>
      <Show when={!isMissing() && !task.data && task.error}>{(error) => <Failure of={error()} again={() => void task.refetch()} />}</Show>
      <Show when={task.data}>{(one) => <Loaded task={one()} tab={TABS.find((tab) => tab === props.tab) ?? 'form'} search={props.search} next={props.next} entered={props.entered} />}</Show>
    </div>
  );
}

function Loaded(props: { task: UserTaskResult; tab: Tab; search: string; next: () => string | undefined; entered: Entered | undefined }): JSX.Element {
  useTitle(() => props.task.name || props.task.elementId);
  let heading!: HTMLHeadingElement;
  let fields: HTMLElement | undefined;
  /** Goes on from the heading to the first field, as soon as there is one. */
  const goOn = () => {
    if (document.activeElement === heading) [...(fields?.querySelectorAll<HTMLElement>(FIELDS) ?? [])].find((one) => one.offsetParent !== null)?.focus();
  };
  createEffect(
    on(() => props.entered, (entered) => {
      if (entered?.key !== props.task.userTaskKey) return;
      heading.focus();
      goOn();
    }),
  );
  const navigate = useNavigate();
  const path = (tab: Tab) => `/tasklist/${props.task.userTaskKey}${tab === 'form' ? '' : `/${tab}`}${props.search}`;
  const onDone = () => {
    const next = props.next();
    navigate(next ? `/tasklist/${next}${props.search}` : `/tasklist${props.search}`);
  };
  return (
    <>
      <div class="row">
        <h2 ref={heading} tabindex={-1} style={{ margin: '0' }}>{props.task.name || props.task.elementId}</h2>
        <State of={props.task.state} word={t(`task.state.${props.task.state}`)} />
        <span class="spacer" />
        <Owner task={props.task} />
      </div>
      <Facts task={props.task} />
      <div class="tabs" role="tablist" aria-label={t('task.tabs')}>
        <For each={TABS}>
          {(tab) => (
            <A href={path(tab)} role="tab" aria-selected={tab === props.tab} noScroll>
              {t(`task.tab.${tab}`)}
            </A>
          )}
        </For>
      </div>
      <Switch>
        <Match when={props.tab === 'form'}>
          <Work
            task={props.task}
            onDone={onDone}
            onFields={(place) => {
              fields = place;
              goOn();
            }}
          />
        </Match>
        <Match when={props.tab === 'process'}>
          <BpmnDiagram definitionKey={props.task.processDefinitionKey} selected={props.task.elementId} />
        </Match>
        <Match when={props.tab === 'history'}>
          <LogOfTask taskKey={props.task.userTaskKey} />
        </Match>
      </Switch>
    </>
  );
}

function Facts(props: { task: UserTaskResult }): JSX.Element {
  const moment = (label: () => string, of: string | null) => (
    <Show when={of}>
      {(date) => (
        <span>
          {label()} <Time of={date()} mayBeAhead />
        </span>
      )}
    </Show>
  );
  return (
    <div class="row muted">
      <span>{props.task.processName || props.task.processDefinitionId}</span>
      <Show when={mayUse('operate')} fallback={<span>{t('task.instance', { key: props.task.processInstanceKey })}</span>}>
        <A href={`/operate/processes/${props.task.processInstanceKey}`}>{t('task.instance', { key: props.task.processInstanceKey })}</A>
      </Show>
      {moment(() => t('tasks.created'), props.task.creationDate)}
      {moment(() => t('tasks.due'), props.task.dueDate)}
      {moment(() => t('tasks.followUp'), props.task.followUpDate)}
      {moment(() => t('tasks.completed'), props.task.completionDate)}
      <span>{t('task.priority', { priority: props.task.priority })}</span>
      <Show when={props.task.candidateGroups.length > 0}>
        <span>{t('task.groups', { groups: props.task.candidateGroups.join(', ') })}</span>
      </Show>
    </div>
  );
}
