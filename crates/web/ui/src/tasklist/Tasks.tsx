import { A, useLocation, useParams, useSearchParams } from '@solidjs/router';
import { createSignal, For, type JSX, Show } from 'solid-js';
import { searchUserTasks } from '../api/generated/operations';
import { useRead } from '../query';
import { user } from '../session';
import { total } from '../ui/numbers';
import { Dialog, Failure, Field } from '../ui/parts';
import { Time } from '../ui/time';
import { Views } from '../views/Views';
import { type Criteria, FILTERS, filterName, ORDERS, orderName, order, toApi, WORDS } from './filters';
import { Task } from './Task';

const PAGE = 50;

/** Tasks left, the chosen one right. */
export default function Tasks(): JSX.Element {
  const params = useParams<{ key?: string }>();
  const place = useLocation();
  const [criteria, setCriteria] = useSearchParams<Criteria & Record<string, string>>();
  const [limit, setLimit] = createSignal(PAGE);
  const [choosing, setChoosing] = createSignal(false);
  const found = useRead(searchUserTasks, () => ({
    body: { filter: toApi(criteria, user()?.username), sort: order(criteria), page: { limit: limit() } },
    live: true,
  }));
  const names = () => FILTERS.filter((one) => one !== 'assigned-to-me' || user() !== undefined);
  const custom = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? '').trim() || null;
    setCriteria({ filter: 'custom', assignee: text('assignee'), candidateGroup: text('candidateGroup'), state: text('state'), process: text('process'), dueBefore: text('dueBefore'), businessId: text('businessId') } as never);
    setChoosing(false);
  };
  const next = () => found.data?.items.find((one) => one.userTaskKey !== params.key)?.userTaskKey;
  return (
    <main class="tasks" classList={{ chosen: params.key !== undefined }}>
      <aside aria-label="Tasks">
        <h1 class="hidden-label">Tasks</h1>
        <div class="filters row">
          <select
            aria-label="Filter"
            onChange={(event) => (event.currentTarget.value === 'custom' ? setChoosing(true) : setCriteria({ filter: event.currentTarget.value } as never))}
          >
            <For each={names()}>
              {(one) => (
                <option value={one} selected={one === filterName(criteria)}>
                  {WORDS[one]}
                </option>
              )}
            </For>
          </select>
          <select aria-label="Order" onChange={(event) => setCriteria({ sortBy: event.currentTarget.value } as never)}>
            <For each={ORDERS}>
              {(one) => (
                <option value={one} selected={one === orderName(criteria)}>
                  by {one}
                </option>
              )}
            </For>
          </select>
          <Views page="tasklist" />
          <Show when={filterName(criteria) === 'custom'}>
            <button onClick={() => setChoosing(true)}>Change …</button>
          </Show>
          <span class="muted" role="status">
            {total(found.data?.page)} tasks
          </span>
        </div>
        <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
        <nav class="list" aria-label="Tasks that match">
          <For each={found.data?.items} fallback={<Show when={found.data}><p class="empty">There are no such tasks.</p></Show>}>
            {(one) => (
              <A href={`/tasklist/${one.userTaskKey}${place.search}`} aria-current={one.userTaskKey === params.key ? 'true' : undefined} noScroll>
                <strong>{one.name || one.elementId}</strong>
                <div class="muted">{one.processName || one.processDefinitionId}</div>
                <div class="row muted">
                  <span>{one.assignee ?? 'unassigned'}</span>
                  <Show when={one.dueDate}>
                    {(due) => (
                      <span>
                        due <Time of={due()} />
                      </span>
                    )}
                  </Show>
                  <span class="spacer" />
                  <Time of={one.completionDate ?? one.creationDate} />
                </div>
              </A>
            )}
          </For>
          <Show when={(found.data?.items.length ?? 0) === limit()}>
            <button onClick={() => setLimit(limit() + PAGE)}>Show more</button>
          </Show>
        </nav>
      </aside>
      <div>
        <Show when={params.key} fallback={<p class="empty">Choose a task.</p>} keyed>
          {(key) => <Task taskKey={key} search={place.search} next={next} />}
        </Show>
      </div>
      <Show when={choosing()}>
        <Dialog title="Custom filter" onClose={() => setChoosing(false)}>
          <form class="stack" onSubmit={custom}>
            <Field label="Assignee">
              <input name="assignee" value={criteria.assignee ?? ''} />
            </Field>
            <Field label="Candidate group">
              <input name="candidateGroup" value={criteria.candidateGroup ?? ''} />
            </Field>
            <Field label="State">
              <select name="state">
                <option value="open">Open</option>
                <option value="completed" selected={criteria.state === 'completed'}>
                  Completed
                </option>
                <option value="all" selected={criteria.state === 'all'}>
                  All
                </option>
              </select>
            </Field>
            <Field label="ID of the process">
              <input name="process" value={criteria.process ?? ''} />
            </Field>
            <Field label="Business ID">
              <input name="businessId" value={criteria.businessId ?? ''} />
            </Field>
            <Field label="Due before">
              <input type="datetime-local" name="dueBefore" value={criteria.dueBefore ?? ''} />
            </Field>
            <div class="actions">
              <button class="primary" type="submit">
                Apply
              </button>
            </div>
          </form>
        </Dialog>
      </Show>
    </main>
  );
}
