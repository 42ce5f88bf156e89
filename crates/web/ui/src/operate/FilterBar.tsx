import { createSignal, createUniqueId, For, type JSX, Show } from 'solid-js';
import { searchProcessDefinitionVariableNames, searchProcessDefinitions } from '../api/generated/operations';
import { useRead } from '../query';
import { Dialog, Field } from '../ui/parts';
import { type Filter, keysOf, STATES, type StateName, type VariableCondition } from './filters';

const PICKED = 50;
const WORDS: Record<StateName, string> = { active: 'Active', incidents: 'Incidents', suspended: 'Suspended', completed: 'Completed', canceled: 'Canceled' };
const OPERATOR_WORDS: Record<VariableCondition['operator'], string> = { eq: 'is', neq: 'is not', like: 'is like', exists: 'exists' };

/** The filter as chips: states to switch, what is chosen to take away, and one way to add more. */
export function FilterBar(props: { filter: Filter; onChange: (filter: Filter) => void; definitionKey: string | undefined }): JSX.Element {
  const [adding, setAdding] = createSignal(false);
  const change = (part: Partial<Filter>) => props.onChange({ ...props.filter, ...part });
  const toggle = (state: StateName) => {
    const states = new Set(props.filter.states);
    if (!states.delete(state)) states.add(state);
    change({ states });
  };
  const chips = (): { text: string; without: Partial<Filter> }[] => {
    const { filter } = props;
    const date = (text: string) => new Date(text).toLocaleString();
    const named: [string | undefined, Partial<Filter>][] = [
      [filter.element && `element ${filter.element}`, { element: undefined }],
      [filter.keys.length > 0 ? `${filter.keys.length === 1 ? filter.keys[0] : `${filter.keys.length} keys`}` : undefined, { keys: [] }],
      [filter.parentKey && `parent ${filter.parentKey}`, { parentKey: undefined }],
      [filter.businessId && `business ID ${filter.businessId}`, { businessId: undefined }],
      [filter.errorMessage && `error ${filter.errorMessage}`, { errorMessage: undefined }],
      [filter.errorHash !== undefined ? `error number ${filter.errorHash}` : undefined, { errorHash: undefined }],
      [filter.batch && `batch operation ${filter.batch}`, { batch: undefined }],
      [filter.retriesLeft ? 'retries left' : undefined, { retriesLeft: false }],
      [filter.startAfter && `started after ${date(filter.startAfter)}`, { startAfter: undefined }],
      [filter.startBefore && `started before ${date(filter.startBefore)}`, { startBefore: undefined }],
      [filter.endAfter && `ended after ${date(filter.endAfter)}`, { endAfter: undefined }],
      [filter.endBefore && `ended before ${date(filter.endBefore)}`, { endBefore: undefined }],
      [filter.tenant && `tenant ${filter.tenant}`, { tenant: undefined }],
      ...filter.variables.map((one): [string, Partial<Filter>] => [
        `${one.name} ${OPERATOR_WORDS[one.operator]} ${one.operator === 'exists' ? '' : one.value}`,
        { variables: filter.variables.filter((other) => other !== one) },
      ]),
    ];
    return named.flatMap(([text, without]) => (text ? [{ text, without }] : []));
  };
  return (
    <div class="stack" role="search" aria-label="Filter">
      <div class="chips">
        <ProcessPicker filter={props.filter} onChange={change} />
        <For each={STATES}>
          {(state) => (
            <button aria-pressed={props.filter.states.has(state)} class={props.filter.states.has(state) ? 'primary' : ''} onClick={() => toggle(state)}>
              {WORDS[state]}
            </button>
          )}
        </For>
        <For each={chips()}>
          {(chip) => (
            <span class="chip">
              <span title={chip.text}>{chip.text}</span>
              <button class="plain" aria-label={`Remove filter: ${chip.text}`} onClick={() => change(chip.without)}>
                ✕
              </button>
            </span>
          )}
        </For>
        <button onClick={() => setAdding(true)}>+ Filter</button>
      </div>
      <Show when={adding()}>
        <MoreFilters
          filter={props.filter}
          definitionKey={props.definitionKey}
          onClose={() => setAdding(false)}
          onChange={(filter) => {
            setAdding(false);
            props.onChange(filter);
          }}
        />
      </Show>
    </div>
  );
}

/** A process by what is typed, searched on the server, and its version. */
function ProcessPicker(props: { filter: Filter; onChange: (part: Partial<Filter>) => void }): JSX.Element {
  const [text, setText] = createSignal('');
  const list = createUniqueId();
  const escaped = () => text().replace(/[\\*?]/g, '\\$&');
  const found = useRead(searchProcessDefinitions, () => ({
    body: {
      filter: { isLatestVersion: true, ...(text() ? { processDefinitionId: { $like: `*${escaped()}*` } } : {}) },
      page: { limit: PICKED },
    },
  }));
  const versions = useRead(searchProcessDefinitions, () => ({
    body: { filter: { processDefinitionId: props.filter.process }, sort: [{ field: 'version' as const, order: 'DESC' as const }], page: { limit: 1000 } },
    enabled: props.filter.process !== undefined,
    keep: false,
  }));
  const choose = (id: string) => props.onChange({ process: id.trim() || undefined, version: undefined, element: undefined });
  return (
    <>
      <input
        aria-label="Process"
        placeholder="All processes"
        list={list}
        value={props.filter.process ?? ''}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      <datalist id={list}>
        <For each={found.data?.items}>{(one) => <option value={one.processDefinitionId}>{one.name ?? ''}</option>}</For>
        <Show when={(found.data?.page.totalItems ?? 0) > PICKED}>
          <option value={text()} disabled>
            There are more: type on
          </option>
        </Show>
      </datalist>
      <Show when={props.filter.process}>
        <select aria-label="Version" value={props.filter.version ?? ''} onChange={(event) => props.onChange({ version: Number(event.currentTarget.value) || undefined, element: undefined })}>
          <option value="">All versions</option>
          <For each={versions.data?.items}>
            {(one) => (
              <option value={one.version} selected={one.version === props.filter.version}>
                Version {one.version}
                {one.versionTag ? ` (${one.versionTag})` : ''}
              </option>
            )}
          </For>
        </select>
      </Show>
    </>
  );
}

const local = (moment: string | undefined): string => {
  if (!moment) return '';
  const date = new Date(moment);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

function MoreFilters(props: { filter: Filter; definitionKey: string | undefined; onClose: () => void; onChange: (filter: Filter) => void }): JSX.Element {
  const [wrong, setWrong] = createSignal('');
  const names = createUniqueId();
  const suggested = useRead(searchProcessDefinitionVariableNames, () => ({
    path: { processDefinitionKey: props.definitionKey ?? '' },
    body: { page: { limit: 100 } },
    enabled: props.definitionKey !== undefined,
  }));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? '').trim() || undefined;
    const moment = (name: string) => {
      const value = text(name);
      return value ? new Date(value).toISOString() : undefined;
    };
    const variables = [...props.filter.variables];
    const name = text('variable');
    if (name) {
      const operator = text('operator') as VariableCondition['operator'];
      const value = text('value') ?? '';
      if (operator === 'eq' || operator === 'neq') {
        try {
          JSON.parse(value);
        } catch {
          setWrong('The value is no JSON: put texts in double quotes.');
          return;
        }
      }
      variables.push({ name, operator, value });
    }
    props.onChange({
      ...props.filter,
      keys: keysOf(text('keys') ?? null),
      parentKey: text('parent'),
      businessId: text('businessId'),
      errorMessage: text('errorMessage'),
      tenant: text('tenant'),
      startAfter: moment('startAfter'),
      startBefore: moment('startBefore'),
      endAfter: moment('endAfter'),
      endBefore: moment('endBefore'),
      retriesLeft: form.get('retriesLeft') !== null,
      variables,
    });
  };
  return (
    <Dialog title="Filters" onClose={props.onClose} wide>
      <form class="stack" onSubmit={submit}>
        <div class="grid">
          <Field label="Instance keys" hint="with commas, spaces or lines between">
            <textarea name="keys" rows={2} value={props.filter.keys.join(', ')} ref={(one) => (one.defaultValue = props.filter.keys.join(', '))} />
          </Field>
          <Field label="Business ID">
            <input name="businessId" value={props.filter.businessId ?? ''} />
          </Field>
          <Field label="Key of the parent instance">
            <input name="parent" pattern="\d{1,19}" value={props.filter.parentKey ?? ''} />
          </Field>
          <Field label="Error message">
            <input name="errorMessage" value={props.filter.errorMessage ?? ''} />
          </Field>
          <Field label="Started after">
            <input type="datetime-local" name="startAfter" value={local(props.filter.startAfter)} />
          </Field>
          <Field label="Started before">
            <input type="datetime-local" name="startBefore" value={local(props.filter.startBefore)} />
          </Field>
          <Field label="Ended after">
            <input type="datetime-local" name="endAfter" value={local(props.filter.endAfter)} />
          </Field>
          <Field label="Ended before">
            <input type="datetime-local" name="endBefore" value={local(props.filter.endBefore)} />
          </Field>
          <Field label="Tenant">
            <input name="tenant" value={props.filter.tenant ?? ''} />
          </Field>
        </div>
        <label class="row">
          <input type="checkbox" name="retriesLeft" checked={props.filter.retriesLeft} /> A job has failed and has retries left
        </label>
        <fieldset class="row">
          <legend>Variable</legend>
          <input name="variable" aria-label="Name of the variable" placeholder="Name" list={names} />
          <datalist id={names}>
            <For each={suggested.data?.items}>{(one) => <option value={one.name} />}</For>
          </datalist>
          <select name="operator" aria-label="Condition">
            <option value="eq">is</option>
            <option value="neq">is not</option>
            <option value="like">is like (* and ?)</option>
            <option value="exists">exists</option>
          </select>
          <input name="value" aria-label="Value as JSON" placeholder='Value as JSON: "text", 12, true' />
        </fieldset>
        <Show when={wrong()}>
          <p class="failure" role="alert">
            {wrong()}
          </p>
        </Show>
        <div class="actions">
          <button type="button" onClick={() => props.onChange({ ...props.filter, keys: [], parentKey: undefined, businessId: undefined, errorMessage: undefined, errorHash: undefined, batch: undefined, tenant: undefined, startAfter: undefined, startBefore: undefined, endAfter: undefined, endBefore: undefined, retriesLeft: false, variables: [], element: undefined })}>
            Remove all
          </button>
          <button class="primary" type="submit">
            Apply
          </button>
        </div>
      </form>
    </Dialog>
  );
}
