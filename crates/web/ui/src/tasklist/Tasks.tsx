import { A, useLocation, useNavigate, useParams, useSearchParams } from '@solidjs/router';
import { createEffect, createMemo, createSignal, For, type JSX, on, Show } from 'solid-js';
import { createStore, reconcile } from 'solid-js/store';
import { assignUserTask, searchUserTasks } from '../api/generated/operations';
import type { UserTaskResult } from '../api/generated/types';
import { call } from '../api/http';
import { count, t } from '../language';
import { refresh, useRead } from '../query';
import { ofTask } from '../rights';
import { user } from '../session';
import { total } from '../ui/numbers';
import { Action, Failure } from '../ui/parts';
import { Time } from '../ui/time';
import { say, textOf } from '../ui/toast';
import { CopyList } from '../views/CopyAs';
import { Views } from '../views/Views';
import { Assign } from './Assign';
import { CustomFilter } from './CustomFilter';
import { type Criteria, type Criterion, CRITERIA, dropFilter, FILTERS, filterName, keepFilter, ORDERS, order, orderName, ownFilters, ownOf, toApi } from './filters';
import { hold } from './held';
import { canNotify, tell, want, wants } from './notify';
import { type Entered, Task } from './Task';

const PAGE = 50;
const OPEN_NEXT = 'baton.open-next';
/** Begins the value of an own filter in the choice of filters. */
const OWN = 'own:';
const keyOf = (task: UserTaskResult): string => task.userTaskKey;

/** Tasks left, the chosen one right. */
export default function Tasks(): JSX.Element {
  const params = useParams<{ key?: string; tab?: string }>();
  const place = useLocation();
  const navigate = useNavigate();
  const [criteria, setCriteria] = useSearchParams<Criteria & Record<string, string>>();
  const [limit, setLimit] = createSignal(PAGE);
  const [choosing, setChoosing] = createSignal(false);
  const [assigning, setAssigning] = createSignal(false);
  const [own, setOwn] = createSignal(ownFilters());
  const [chosen, setChosen] = createSignal<ReadonlySet<string>>(new Set());
  const [opensNext, setOpensNext] = createSignal(localStorage.getItem(OPEN_NEXT) !== 'false');
  const filter = createMemo(() => toApi(criteria, user()?.username));
  const asked = () => JSON.stringify([filter(), order(criteria), limit()]);
  const found = useRead(searchUserTasks, () => ({
    body: { filter: filter(), sort: order(criteria), page: { limit: limit() } },
    live: true,
    // A user who wants notifications is told while looking elsewhere.
    background: wants(),
  }));
  // The order that the rows keep, for which question, and the creation of the latest of them.
  const [held, setHeld] = createSignal<{ asked: string; keys: string[]; latest: string }>({ asked: '', keys: [], latest: '' });
  const [rows, setRows] = createStore<{ shown: UserTaskResult[] }>({ shown: [] });
  const [waiting, setWaiting] = createSignal<UserTaskResult[]>([]);
  const latestOf = (items: readonly UserTaskResult[]) => items.reduce((latest, { creationDate }) => (creationDate > latest ? creationDate : latest), '');
  const take = () => setHeld({ asked: asked(), keys: (found.data?.items ?? []).map(keyOf), latest: latestOf(found.data?.items ?? []) });
  createEffect(
    on([() => found.data, () => found.isPlaceholderData, held], ([data, isOld]) => {
      if (!data || isOld) return;
      if (held().asked !== asked()) {
        take();
        return;
      }
      const now = hold(held().keys, data.items, keyOf);
      const before = new Set(waiting().map(keyOf));
      setRows('shown', reconcile(now.shown, { key: 'userTaskKey' }));
      setWaiting(now.waiting);
      const isNew = (one: UserTaskResult) => one.creationDate > held().latest;
      tell([...now.waiting, ...now.added.filter(isNew)].filter((one) => !before.has(one.userTaskKey)), (key) => navigate(`/tasklist/${key}${place.search}`));
      if (now.added.length > 0) setHeld({ ...held(), keys: now.shown.map(keyOf), latest: latestOf([...now.shown, ...now.waiting]) });
      const there = new Set(data.items.map(keyOf));
      if ([...chosen()].some((key) => !there.has(key))) setChosen(new Set([...chosen()].filter((key) => there.has(key))));
    }),
  );
  const [entered, setEntered] = createSignal<Entered>();
  let pane!: HTMLDivElement;
  // Another task begins at its top, in its pane, or in the page where there is room for one pane only.
  createEffect(
    on(() => params.key, () => {
      pane.scrollTop = 0;
      scrollTo(0, 0);
    }, { defer: true }),
  );
  const names = () => FILTERS.filter((one) => one !== 'assigned-to-me' || user() !== undefined);
  const setFilter = (value: string) => {
    if (value === 'custom') setChoosing(true);
    const one = own().find(({ name }) => `${OWN}${name}` === value);
    const none = Object.fromEntries(CRITERIA.map((name) => [name, null]));
    if (one) setCriteria({ ...none, ...one.criteria, filter: 'custom' } as never);
    else if (value !== 'custom') setCriteria({ ...none, filter: value } as never);
  };
  const apply = (wanted: Record<Criterion, string | null>, name: string) => {
    const told = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== null)) as Record<string, string>;
    if (name) setOwn(keepFilter({ name, criteria: told }));
    setCriteria({ ...wanted, filter: 'custom' } as never);
    setChoosing(false);
  };
  const next = () => (opensNext() ? [...rows.shown, ...waiting()].find((one) => one.userTaskKey !== params.key)?.userTaskKey : undefined);
  const toggle = (key: string) => {
    const now = new Set(chosen());
    if (!now.delete(key)) now.add(key);
    setChosen(now);
  };
  const assignChosen = async (assignee: string) => {
    const all = [...chosen()];
    const refused: unknown[] = [];
    for (const userTaskKey of all) {
      try {
        await call(assignUserTask, { path: { userTaskKey }, body: { assignee, allowOverride: true } });
        setChosen(new Set([...chosen()].filter((key) => key !== userTaskKey)));
      } catch (error) {
        refused.push(error);
      }
    }
    await refresh();
    setAssigning(false);
    if (refused.length === 0) say(t('tasks.assignedAll'));
    else say(t('tasks.assignedSome', { done: all.length - refused.length, all: all.length, reason: textOf(refused[0]) }), true);
  };
  return (
    <main class="tasks" classList={{ chosen: params.key !== undefined }}>
      <aside aria-label={t('page.Tasks')}>
        <h1 class="hidden-label">{t('page.Tasks')}</h1>
        <div class="filters row">
          <select aria-label={t('tasks.filter')} onChange={(event) => setFilter(event.currentTarget.value)}>
            <For each={names()}>
              {(one) => (
                <option value={one} selected={one === filterName(criteria) && !ownOf(criteria, own())}>
                  {t(`tasks.filter.${one}`)}
                </option>
              )}
            </For>
            <For each={own()}>
              {(one) => (
                <option value={`${OWN}${one.name}`} selected={one === ownOf(criteria, own())}>
                  {one.name}
                </option>
              )}
            </For>
          </select>
          <select aria-label={t('tasks.order')} onChange={(event) => setCriteria({ sortBy: event.currentTarget.value } as never)}>
            <For each={ORDERS}>
              {(one) => (
                <option value={one} selected={one === orderName(criteria)}>
                  {t(`tasks.order.${one}`)}
                </option>
              )}
            </For>
          </select>
          <Views page="tasklist" />
          <CopyList of={found} chosen={rows.shown.filter((one) => chosen().has(one.userTaskKey))} />
          <Show when={filterName(criteria) === 'custom'}>
            <button onClick={() => setChoosing(true)}>{t('tasks.filter.change')}</button>
          </Show>
          <span class="muted" role="status">
            {found.data?.page.hasMoreTotalItems ? total(found.data.page) : count(found.data?.page.totalItems ?? 0, 'tasks.count.one', 'tasks.count.other')}
          </span>
          <label class="row">
            <input
              type="checkbox"
              checked={opensNext()}
              onChange={(event) => {
                setOpensNext(event.currentTarget.checked);
                localStorage.setItem(OPEN_NEXT, String(opensNext()));
              }}
            />
            {t('tasks.openNext')}
          </label>
          <Show when={canNotify()}>
            <label class="row">
              <input
                type="checkbox"
                checked={wants()}
                onChange={async (event) => {
                  const box = event.currentTarget;
                  if (!(await want(box.checked))) say(t('tasks.notify.denied'), true);
                  box.checked = wants();
                }}
              />
              {t('tasks.notify')}
            </label>
          </Show>
          <Show when={chosen().size > 0}>
            <Action class="primary" needs={rows.shown.filter((one) => chosen().has(keyOf(one))).flatMap((one) => ofTask('update', one, user()))} do={() => setAssigning(true)}>
              {count(chosen().size, 'tasks.assignChosen.one', 'tasks.assignChosen.other')}
            </Action>
            <button onClick={() => setChosen(new Set<string>())}>{t('tasks.chooseNone')}</button>
          </Show>
        </div>
        <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
        <Show when={waiting().length > 0}>
          <button class="new" onClick={take}>
            {count(waiting().length, 'tasks.new.one', 'tasks.new.other')}
          </button>
        </Show>
        <nav class="list" aria-label={t('tasks.list')}>
          <For each={rows.shown} fallback={<Show when={found.data && waiting().length === 0}>{<p class="empty">{t('tasks.none')}</p>}</Show>}>
            {(one) => <Row task={one} search={place.search} isCurrent={one.userTaskKey === params.key} isChosen={chosen().has(one.userTaskKey)} toggle={() => toggle(one.userTaskKey)} onOpen={(isByKey) => setEntered(isByKey ? { key: one.userTaskKey } : undefined)} />}
          </For>
          <Show when={(found.data?.items.length ?? 0) === limit()}>
            <button onClick={() => setLimit(limit() + PAGE)}>{t('part.more')}</button>
          </Show>
        </nav>
      </aside>
      <div ref={pane}>
        <Show when={params.key} fallback={<p class="empty">{t('tasks.choose')}</p>} keyed>
          {(key) => <Task taskKey={key} tab={params.tab} search={place.search} next={next} entered={entered()} />}
        </Show>
      </div>
      <Show when={choosing()}>
        <CustomFilter
          criteria={criteria}
          own={ownOf(criteria, own())}
          apply={apply}
          drop={(name) => {
            setOwn(dropFilter(name));
            setChoosing(false);
          }}
          onClose={() => setChoosing(false)}
        />
      </Show>
      <Show when={assigning()}>
        <Assign title={count(chosen().size, 'tasks.assignChosen.one', 'tasks.assignChosen.other')} assign={assignChosen} onClose={() => setAssigning(false)} />
      </Show>
    </main>
  );
}

function Row(props: { task: UserTaskResult; search: string; isCurrent: boolean; isChosen: boolean; toggle: () => void; onOpen: (isByKey: boolean) => void }): JSX.Element {
  const name = () => props.task.name || props.task.elementId;
  return (
    <div class="task" classList={{ current: props.isCurrent }}>
      <label class="choose">
        <input type="checkbox" checked={props.isChosen} aria-label={t('tasks.chooseTask', { name: name() })} onChange={() => props.toggle()} />
      </label>
      <A href={`/tasklist/${props.task.userTaskKey}${props.search}`} aria-current={props.isCurrent ? 'true' : undefined} onClick={(event) => props.onOpen(event.detail === 0)} noScroll>
        <strong>{name()}</strong>
        <div class="muted">{props.task.processName || props.task.processDefinitionId}</div>
        <div class="row muted">
          <span>{props.task.assignee ?? t('tasks.unassigned')}</span>
          <Show when={props.task.dueDate}>
            {(due) => (
              <span>
                {t('tasks.due')} <Time of={due()} mayBeAhead />
              </span>
            )}
          </Show>
          <span class="spacer" />
          <Time of={props.task.completionDate ?? props.task.creationDate} />
        </div>
      </A>
    </div>
  );
}
