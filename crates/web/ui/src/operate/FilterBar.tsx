import { createSignal, createUniqueId, For, type JSX, Show } from 'solid-js';
import { searchProcessDefinitions } from '../api/generated/operations';
import { useRead } from '../query';
import { ALTERNATIVES_MAX, type Filter, parse, STATES, type StateName, type VariableCondition } from './filters';
import { MoreFilters } from './MoreFilters';

const PICKED = 50;
const WORDS: Record<StateName, string> = { active: 'Active', incidents: 'Incidents', suspended: 'Suspended', completed: 'Completed', canceled: 'Canceled' };
const OPERATOR_WORDS: Record<VariableCondition['operator'], string> = { eq: 'is', neq: 'is not', like: 'is like', exists: 'exists' };

/** The filter as chips: states to switch, what is chosen to take away, and one way to add more. */
export function FilterBar(props: { filter: Filter; onChange: (filter: Filter) => void; definitionKey: string | undefined }): JSX.Element {
  const [adding, setAdding] = createSignal(false);
  /** The alternative that is edited: its place, or the end for a new one. */
  const [alternative, setAlternative] = createSignal<number>();
  const none = parse(new URLSearchParams());
  const withAlternative = (at: number, one: Filter | undefined) => change({ or: [...props.filter.or.slice(0, at), ...(one ? [one] : []), ...props.filter.or.slice(at + 1)] });
  const change = (part: Partial<Filter>) => props.onChange({ ...props.filter, ...part });
  const toggle = (state: StateName) => {
    const states = new Set(props.filter.states);
    if (!states.delete(state)) states.add(state);
    change({ states });
  };
  const chips = (filter = props.filter): { text: string; without: Partial<Filter> }[] => {
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
      [filter.tags.length > 0 ? `tags ${filter.tags.join(', ')}` : undefined, { tags: [] }],
      ...filter.variables.map((one): [string, Partial<Filter>] => [
        `${one.name} ${OPERATOR_WORDS[one.operator]} ${one.operator === 'exists' ? (one.value === 'false' ? 'not' : '') : one.value}`.trim(),
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
        <button disabled={props.filter.or.length >= ALTERNATIVES_MAX} onClick={() => setAlternative(props.filter.or.length)}>
          + Alternative
        </button>
      </div>
      <Show when={props.filter.or.length > 0}>
        <div class="chips" role="group" aria-label="Alternatives">
          <span class="muted">and at least one of</span>
          <For each={props.filter.or}>
            {(one, at) => {
              const text = () => [...STATES.filter((state) => one.states.has(state)).map((state) => WORDS[state].toLowerCase()), ...chips(one).map((chip) => chip.text), ...(one.process ? [`process ${one.process}`] : [])].join(' and ');
              return (
                <span class="chip">
                  <button class="plain" aria-label={`Change the alternative: ${text()}`} onClick={() => setAlternative(at())}>
                    {text()}
                  </button>
                  <button class="plain" aria-label={`Remove the alternative: ${text()}`} onClick={() => withAlternative(at(), undefined)}>
                    ✕
                  </button>
                </span>
              );
            }}
          </For>
        </div>
      </Show>
      <Show when={alternative() !== undefined}>
        <MoreFilters
          title="Alternative"
          filter={props.filter.or[alternative()!] ?? none}
          definitionKey={props.definitionKey}
          withStates
          onClose={() => setAlternative(undefined)}
          onChange={(one) => {
            const at = alternative()!;
            setAlternative(undefined);
            withAlternative(at, one);
          }}
        />
      </Show>
      <Show when={adding()}>
        <MoreFilters
          title="Filters"
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
