import { createSignal, createUniqueId, For, type JSX, Show } from 'solid-js';
import { searchProcessDefinitionVariableNames, searchVariables } from '../api/generated/operations';
import { t } from '../language';
import { useRead } from '../query';
import { number } from '../ui/numbers';
import { Dialog, Field } from '../ui/parts';
import { localText } from '../ui/times';
import { type Filter, keysOf, OPERATORS, STATES, type StateName, tagsOf, typedOf, VALUE_TYPES, type ValueType, type VariableCondition, valueOf } from './filters';

const SUGGESTED = 100;
/** More keys would make an address that servers and proxies refuse. */
const KEYS_MAX = 500;

/** A condition as it is typed. */
interface Line {
  name: string;
  operator: VariableCondition['operator'];
  type: ValueType;
  text: string;
}

/** The rest of a filter, or an alternative, in a dialog. */
export function MoreFilters(props: { title: string; filter: Filter; definitionKey: string | undefined; withStates?: boolean; onClose: () => void; onChange: (filter: Filter) => void }): JSX.Element {
  const [wrong, setWrong] = createSignal('');
  const names = createUniqueId();
  const [typed, setTyped] = createSignal('');
  const [lines, setLines] = createSignal<Line[]>([...props.filter.variables.map((one) => ({ name: one.name, operator: one.operator, ...typedOf(one) })), { name: '', operator: 'eq', type: 'text', text: '' }]);
  const change = (at: number, part: Partial<Line>) => setLines(lines().map((one, other) => (other === at ? { ...one, ...part } : one)));
  const ofDefinition = useRead(searchProcessDefinitionVariableNames, () => ({
    path: { processDefinitionKey: props.definitionKey ?? '' },
    body: { page: { limit: SUGGESTED } },
    enabled: props.definitionKey !== undefined,
  }));
  // Without a process, names are those of variables that begin with what is typed.
  const ofAll = useRead(searchVariables, () => ({
    body: { filter: { name: { $like: `${typed().replace(/[\\*?]/g, '\\$&')}*` } }, page: { limit: SUGGESTED } },
    enabled: props.definitionKey === undefined && typed() !== '',
  }));
  const suggested = () => [...new Set(((props.definitionKey === undefined ? ofAll.data?.items : ofDefinition.data?.items) ?? []).map((one) => one.name))];
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? '').trim() || undefined;
    const moment = (name: string) => {
      const value = text(name);
      return value ? new Date(value).toISOString() : undefined;
    };
    const variables: VariableCondition[] = [];
    for (const line of lines()) {
      if (line.name.trim() === '') continue;
      const found = valueOf(line.operator, line.type, line.text);
      if ('problem' in found) {
        setWrong(`${line.name}: ${found.problem}`);
        return;
      }
      variables.push({ name: line.name.trim(), operator: line.operator, value: found.value });
    }
    const keys = keysOf(text('keys') ?? null);
    if (keys.length > KEYS_MAX) {
      setWrong(t('lists.more.keys.tooMany', { most: number(KEYS_MAX), count: number(keys.length) }));
      return;
    }
    props.onChange({
      ...props.filter,
      keys,
      parentKey: text('parent'),
      businessId: text('businessId'),
      errorMessage: text('errorMessage'),
      tenant: text('tenant'),
      tags: tagsOf(text('tags') ?? null),
      states: props.withStates ? new Set(STATES.filter((state) => form.get(state) !== null)) : props.filter.states,
      startAfter: moment('startAfter'),
      startBefore: moment('startBefore'),
      endAfter: moment('endAfter'),
      endBefore: moment('endBefore'),
      retriesLeft: form.get('retriesLeft') !== null,
      variables,
    });
  };
  return (
    <Dialog title={props.title} onClose={props.onClose} wide>
      <form class="stack" onSubmit={submit}>
        <Show when={props.withStates}>
          <fieldset class="row">
            <legend>{t('lists.states')}</legend>
            <For each={STATES}>
              {(state: StateName) => (
                <label class="row">
                  <input type="checkbox" name={state} checked={props.filter.states.has(state)} /> {t(`lists.inState.${state}`)}
                </label>
              )}
            </For>
          </fieldset>
        </Show>
        <div class="grid">
          <Field label={t('lists.more.keys')} hint={t('lists.more.keys.hint')}>
            <textarea name="keys" rows={2} value={props.filter.keys.join(', ')} ref={(one) => (one.defaultValue = props.filter.keys.join(', '))} />
          </Field>
          <Field label={t('start.businessId')}>
            <input name="businessId" value={props.filter.businessId ?? ''} />
          </Field>
          <Field label={t('lists.more.parent')}>
            <input name="parent" pattern="\d{1,19}" value={props.filter.parentKey ?? ''} />
          </Field>
          <Field label={t('lists.more.error')}>
            <input name="errorMessage" value={props.filter.errorMessage ?? ''} />
          </Field>
          <Field label={t('lists.more.startedAfter')}>
            <input type="datetime-local" name="startAfter" value={localText(props.filter.startAfter)} />
          </Field>
          <Field label={t('lists.more.startedBefore')}>
            <input type="datetime-local" name="startBefore" value={localText(props.filter.startBefore)} />
          </Field>
          <Field label={t('lists.more.endedAfter')}>
            <input type="datetime-local" name="endAfter" value={localText(props.filter.endAfter)} />
          </Field>
          <Field label={t('lists.more.endedBefore')}>
            <input type="datetime-local" name="endBefore" value={localText(props.filter.endBefore)} />
          </Field>
          <Field label={t('lists.tags')} hint={t('lists.more.tags.hint')}>
            <input name="tags" value={props.filter.tags.join(', ')} />
          </Field>
          <Field label={t('lists.tenant')}>
            <input name="tenant" value={props.filter.tenant ?? ''} />
          </Field>
        </div>
        <label class="row">
          <input type="checkbox" name="retriesLeft" checked={props.filter.retriesLeft} /> {t('lists.more.retriesLeft')}
        </label>
        <fieldset class="stack">
          <legend>{t('lists.more.variables')}</legend>
          <datalist id={names}>
            <For each={suggested()}>{(name) => <option value={name} />}</For>
          </datalist>
          <For each={lines().map((_, at) => at)}>
            {(at) => (
              <div class="row">
                <input
                  aria-label={t('lists.more.name')}
                  placeholder={t('variables.name')}
                  list={names}
                  value={lines()[at]!.name}
                  onInput={(event) => {
                    setTyped(event.currentTarget.value);
                    change(at, { name: event.currentTarget.value });
                  }}
                />
                <select aria-label={t('lists.more.condition')} value={lines()[at]!.operator} onChange={(event) => change(at, { operator: event.currentTarget.value as Line['operator'] })}>
                  <For each={OPERATORS}>{(operator) => <option value={operator}>{t(`lists.operator.${operator}`)}</option>}</For>
                </select>
                <Show
                  when={lines()[at]!.operator !== 'exists'}
                  fallback={
                    <select aria-label={t('lists.more.value')} value={lines()[at]!.text === 'false' ? 'false' : ''} onChange={(event) => change(at, { text: event.currentTarget.value })}>
                      <option value="">{t('lists.yes')}</option>
                      <option value="false">{t('lists.no')}</option>
                    </select>
                  }
                >
                  <select aria-label={t('lists.more.type')} value={lines()[at]!.type} onChange={(event) => change(at, { type: event.currentTarget.value as ValueType })}>
                    <For each={VALUE_TYPES}>{(type) => <option value={type}>{t(`lists.valueType.${type}`)}</option>}</For>
                  </select>
                  <Show when={lines()[at]!.type !== 'null'}>
                    <Show
                      when={lines()[at]!.type === 'true or false' && lines()[at]!.operator !== 'like'}
                      fallback={<input aria-label={t('lists.more.value')} placeholder={t('lists.more.value')} value={lines()[at]!.text} onInput={(event) => change(at, { text: event.currentTarget.value })} />}
                    >
                      <select aria-label={t('lists.more.value')} value={lines()[at]!.text} onChange={(event) => change(at, { text: event.currentTarget.value })}>
                        <option value="">{t('lists.more.choose')}</option>
                        <option value="true">true</option>
                        <option value="false">false</option>
                      </select>
                    </Show>
                  </Show>
                </Show>
                <button type="button" class="plain" aria-label={t('lists.more.removeOne')} onClick={() => setLines(lines().filter((_, other) => other !== at))}>
                  ✕
                </button>
              </div>
            )}
          </For>
          <div>
            <button type="button" onClick={() => setLines([...lines(), { name: '', operator: 'eq', type: 'text', text: '' }])}>
              {t('lists.more.add')}
            </button>
          </div>
        </fieldset>
        <Show when={wrong()}>
          <p class="failure" role="alert">
            {wrong()}
          </p>
        </Show>
        <div class="actions">
          <button type="button" onClick={() => props.onChange({ ...props.filter, keys: [], parentKey: undefined, businessId: undefined, errorMessage: undefined, errorHash: undefined, batch: undefined, tenant: undefined, startAfter: undefined, startBefore: undefined, endAfter: undefined, endBefore: undefined, retriesLeft: false, tags: [], variables: [], or: [], element: undefined })}>
            {t('lists.more.removeAll')}
          </button>
          <button class="primary" type="submit">
            {t('tasks.filter.apply')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
