import { createMemo, createSignal, For, type JSX, lazy, Show } from 'solid-js';
import { createElementInstanceVariables, getVariable, searchElementInstances, searchVariables } from '../api/generated/operations';
import type { VariableSearchResult } from '../api/generated/types';
import { call, plan } from '../api/http';
import { t, withParts } from '../language';
import { useRead } from '../query';
import { ofVariable } from '../rights';
import { fit } from '../ui/fit';
import { isLong, jsonObject, jsonProblem, pretty } from '../ui/json';
import { total, totalOf } from '../ui/numbers';
import { Action, Copy, Dialog, Failure, Field } from '../ui/parts';
import { say } from '../ui/toast';
import { CopyCommands, CopyList } from '../views/CopyAs';

const JsonEditor = lazy(() => withParts(import('../ui/JsonEditor'), 'instance'));

const PAGE = 50;
/** Scopes whose elements are named. */
const NAMED_MAX = 500;

/** Whose variables are shown: those of the process, of the scope that is chosen, or of all. */
type Which = 'instance' | 'selected' | 'all';

const whole = async (one: VariableSearchResult) =>
  one.isTruncated ? (await call(getVariable, { path: { variableKey: one.variableKey } })).value : one.value;

interface Edited {
  name: string;
  /** As it was read; absent for a new one. */
  before: string | undefined;
  scopeKey: string;
}

/** The variables of an instance, of a scope in it or of all of them: found by name, added, changed, and shown whole. */
export function Variables(props: {
  instanceKey: string;
  processId: string;
  /** The element instance that is chosen, and the element of which it is one. */
  scopeKey: string | undefined;
  elementId: string | undefined;
  nameOf: (item: { elementId: string; elementName: string | null }) => string;
  /** `instance` and `all`, as the address has it; else those of the scope, or without one those of the process. */
  shown: string | undefined;
  onShow: (shown: string | null) => void;
  canChange: boolean;
  again: () => Promise<void>;
}): JSX.Element {
  const may = (scopeKey: string) => ofVariable(props.processId, scopeKey === props.instanceKey);
  const [text, setText] = createSignal('');
  const [limit, setLimit] = createSignal(PAGE);
  const [edited, setEdited] = createSignal<Edited>();
  const [shown, setShown] = createSignal<{ name: string; value: string }>();
  const usual = (): Which => (props.scopeKey === undefined ? 'instance' : 'selected');
  const which = (): Which => (props.shown === 'all' || props.shown === 'instance' ? props.shown : usual());
  const offered = (): Which[] => (props.scopeKey === undefined ? ['instance', 'all'] : ['instance', 'selected', 'all']);
  const scopeOf = (of: Which) => (of === 'instance' ? props.instanceKey : (props.scopeKey ?? props.instanceKey));
  /** The scope that new variables get. */
  const scope = () => scopeOf(which());
  const filter = (of: Which) => ({
    processInstanceKey: props.instanceKey,
    ...(of === 'all' ? {} : { scopeKey: scopeOf(of) }),
    ...(text() ? { name: { $like: `*${text().replace(/[\\*?]/g, '\\$&')}*` } } : {}),
  });
  const found = useRead(searchVariables, () => ({
    body: {
      filter: filter(which()),
      sort: [{ field: 'name' as const, order: 'ASC' as const }],
      page: { limit: limit() },
    },
    live: props.canChange,
  }));
  const counting = (of: Which) =>
    useRead(searchVariables, () => ({ body: { filter: filter(of), page: { limit: 1 } }, enabled: of !== which() && offered().includes(of), live: props.canChange }));
  const counts = { instance: counting('instance'), selected: counting('selected'), all: counting('all') };
  const choice = (of: Which) => {
    const count = total((of === which() && !found.isPlaceholderData ? found : counts[of]).data?.page);
    return of === 'selected' ? t('instance.variables.selected', { name: selected(), count }) : t(`instance.variables.which.${of}`, { count });
  };
  const selected = () => (props.elementId ? props.nameOf({ elementId: props.elementId, elementName: null }) : props.scopeKey!);
  const scopes = createMemo(
    () => [...new Set(found.data?.items.map((one) => one.scopeKey))].filter((key) => key !== props.instanceKey).slice(0, NAMED_MAX),
    [],
    { equals: (a, b) => a.join() === b.join() },
  );
  const elements = useRead(searchElementInstances, () => ({
    body: { filter: { processInstanceKey: props.instanceKey, $or: scopes().map((elementInstanceKey) => ({ elementInstanceKey })) }, page: { limit: NAMED_MAX } },
    enabled: scopes().length > 0 && which() === 'all',
  }));
  const names = createMemo(() => new Map(elements.data?.items.map((one) => [one.elementInstanceKey, props.nameOf(one)])));
  const nameOf = (scopeKey: string) => (scopeKey === props.instanceKey ? t('instance.variables.ofInstance') : scopeKey === props.scopeKey ? selected() : names().get(scopeKey));
  const edit = async (one: VariableSearchResult) => setEdited({ name: one.name, before: await whole(one), scopeKey: one.scopeKey });
  return (
    <div class="stack">
      <div class="row" role="group" aria-label={t('instance.variables.which')}>
        <For each={offered()}>
          {(of) => (
            <button aria-pressed={of === which()} class={of === which() ? 'primary' : ''} onClick={() => props.onShow(of === usual() ? null : of)}>
              {choice(of)}
            </button>
          )}
        </For>
      </div>
      <div class="row">
        <input type="search" aria-label={t('instance.variables.find')} placeholder={t('instance.head.name')} value={text()} onInput={(event) => setText(event.currentTarget.value)} />
        <span class="muted" role="status">
          {totalOf(found.data?.page, 'instance.variables.count.one', 'instance.variables.count.other')}
        </span>
        <span class="spacer" />
        <CopyList of={found} />
        <Show when={props.canChange}>
          <Action needs={may(scope())} do={() => setEdited({ name: '', before: undefined, scopeKey: scope() })}>{t('instance.variables.add')}</Action>
        </Show>
      </div>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data && found.data.items.length > 0} fallback={<Show when={found.data}><p class="empty">{t(text() ? 'instance.variables.notFound' : 'instance.variables.none')}</p></Show>}>
        <div ref={fit} class="scroll" tabindex="0" role="region" aria-label={t('instance.tab.variables')}>
          <table aria-label={t('instance.tab.variables')}>
            <thead>
              <tr>
                <th scope="col">{t('instance.head.name')}</th>
                <th scope="col">{t('instance.head.value')}</th>
                <th scope="col">{t('instance.head.scope')}</th>
                <th scope="col">
                  <span class="hidden-label">{t('instance.head.actions')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              <For each={found.data?.items}>
                {(one) => (
                  <tr>
                    <td>{one.name}</td>
                    <td class="clip">
                      <code>{one.value.slice(0, 300)}</code>
                      {one.isTruncated || one.value.length > 300 ? ' …' : ''}
                    </td>
                    <td>
                      {nameOf(one.scopeKey)}
                      <Show when={one.scopeKey !== props.instanceKey}>
                        {' '}
                        <span class="key muted">{one.scopeKey}</span>
                      </Show>
                    </td>
                    <td>
                      <div class="row" style={{ 'flex-wrap': 'nowrap' }}>
                        <Action class="plain" do={async () => setShown({ name: one.name, value: await whole(one) })}>
                          {t('instance.variables.show')}
                        </Action>
                        <Show when={props.canChange}>
                          <Action class="plain" needs={may(one.scopeKey)} do={() => edit(one)}>
                            {t('instance.variables.edit')}
                          </Action>
                        </Show>
                      </div>
                    </td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
        <Show when={(found.data?.items.length ?? 0) === limit()}>
          <button onClick={() => setLimit(limit() + PAGE)}>{t('part.more')}</button>
        </Show>
      </Show>
      <Show when={shown()}>
        {(one) => (
          <Dialog title={one().name} onClose={() => setShown(undefined)} wide>
            <Copy text={one().value} label={t('instance.variables.theValue')} />
            <Show when={isLong(pretty(one().value))} fallback={<pre tabindex="0">{pretty(one().value)}</pre>}>
              <JsonEditor label={one().name} value={pretty(one().value)} isReadOnly />
            </Show>
          </Dialog>
        )}
      </Show>
      <Show when={edited()} keyed>
        {(one) => (
          <Editor
            edited={one}
            onClose={() => setEdited(undefined)}
            onSaved={async () => {
              await props.again();
              setEdited(undefined);
            }}
          />
        )}
      </Show>
    </div>
  );
}

/** The value that a scope has under a name now, as JSON text. */
async function valueNow(scopeKey: string, name: string): Promise<string | undefined> {
  const { items } = await call(searchVariables, { body: { filter: { scopeKey, name }, page: { limit: 1 } } });
  return items[0] && whole(items[0]);
}

function Editor(props: { edited: Edited; onClose: () => void; onSaved: () => Promise<void> }): JSX.Element {
  const before = props.edited.before === undefined ? '' : pretty(props.edited.before);
  const [name, setName] = createSignal(props.edited.name);
  const [value, setValue] = createSignal(before);
  /** The value by that name that is there, as far as it was shown. */
  const [known, setKnown] = createSignal<string | undefined>(props.edited.before);
  const problem = () => (value().trim() === '' ? t('instance.variables.valueMissing') : jsonProblem(value()));
  const planned = () =>
    plan(createElementInstanceVariables, { path: { elementInstanceKey: props.edited.scopeKey }, text: `{"variables":${jsonObject([[name().trim(), value()]])},"local":true}` });
  const save = async () => {
    // A value that others have written since is shown before it is overwritten.
    const now = await valueNow(props.edited.scopeKey, name().trim());
    if (now !== undefined && now !== known()) {
      setKnown(now);
      return;
    }
    await planned().send();
    await props.onSaved();
    say(t('instance.variables.saved'));
  };
  return (
    <Dialog title={props.edited.before === undefined ? t('instance.variables.add') : t('instance.variables.editOne', { name: props.edited.name })} onClose={props.onClose} wide>
      <div class="stack">
        <Show when={props.edited.before === undefined}>
          <Field label={t('instance.head.name')}>
            <input
              required
              value=""
              onInput={(event) => {
                setName(event.currentTarget.value);
                setKnown(undefined);
              }}
            />
          </Field>
        </Show>
        <Show
          when={isLong(before)}
          fallback={
            <Field label={t('instance.variables.json')} hint={t('instance.variables.jsonHint')}>
              <textarea
                rows={12}
                spellcheck={false}
                aria-invalid={problem() !== undefined}
                value={before}
                ref={(one) => (one.defaultValue = before)}
                onInput={(event) => setValue(event.currentTarget.value)}
              />
            </Field>
          }
        >
          <JsonEditor label={t('instance.variables.json')} value={before} onInput={setValue} />
        </Show>
        <p class="muted" role="status">
          {problem() ?? (value() === before ? '' : t('instance.variables.changed'))}
        </p>
        <Show when={props.edited.before !== undefined && value() !== before}>
          <details>
            <summary>{t('instance.variables.before')}</summary>
            <pre>{before}</pre>
          </details>
        </Show>
        <Show when={known() !== props.edited.before ? known() : undefined}>
          {(now) => (
            <div class="failure" role="alert">
              <p>{props.edited.before === undefined ? t('instance.variables.exists') : t('instance.variables.meanwhile')}</p>
              <pre tabindex="0">{pretty(now())}</pre>
              <p>{t('instance.variables.overwrite')}</p>
            </div>
          )}
        </Show>
        <div class="actions">
          <Show when={problem() === undefined && name().trim() !== ''}>
            <CopyCommands of={() => [planned().asked]} />
          </Show>
          <Action class="primary" do={save} disabled={problem() !== undefined || name().trim() === '' || value() === before}>
            {t('instance.variables.save')}
          </Action>
        </div>
      </div>
    </Dialog>
  );
}
