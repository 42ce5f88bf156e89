import { createSignal, createUniqueId, For, type JSX, Show } from 'solid-js';
import { searchProcessDefinitions } from '../api/generated/operations';
import { locale, t } from '../language';
import { useRead } from '../query';
import { ALTERNATIVES_MAX, type Filter, parse, STATES, type StateName, type VariableCondition } from './filters';
import { MoreFilters } from './MoreFilters';

const PICKED = 50;

/** A condition on a variable in words. */
function variableText({ name, operator, value }: VariableCondition): string {
  if (operator === 'exists') return value === 'false' ? t('lists.chip.missing', { name }) : t('lists.chip.exists', { name });
  return t(`lists.chip.${operator}`, { name, value }).trim();
}

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
    const date = (text: string) => new Date(text).toLocaleString(locale());
    const named: [string | undefined, Partial<Filter>][] = [
      [filter.element && t('lists.chip.element', { id: filter.element }), { element: undefined }],
      [filter.keys.length > 0 ? (filter.keys.length === 1 ? filter.keys[0] : t('lists.chip.keys', { count: filter.keys.length })) : undefined, { keys: [] }],
      [filter.parentKey && t('lists.chip.parent', { key: filter.parentKey }), { parentKey: undefined }],
      [filter.businessId && t('lists.chip.businessId', { id: filter.businessId }), { businessId: undefined }],
      [filter.errorMessage && t('lists.chip.error', { message: filter.errorMessage }), { errorMessage: undefined }],
      [filter.errorHash !== undefined ? t('lists.chip.errorNumber', { number: filter.errorHash }) : undefined, { errorHash: undefined }],
      [filter.batch && t('lists.chip.batch', { key: filter.batch }), { batch: undefined }],
      [filter.retriesLeft ? t('lists.chip.retriesLeft') : undefined, { retriesLeft: false }],
      [filter.startAfter && t('lists.chip.startedAfter', { date: date(filter.startAfter) }), { startAfter: undefined }],
      [filter.startBefore && t('lists.chip.startedBefore', { date: date(filter.startBefore) }), { startBefore: undefined }],
      [filter.endAfter && t('lists.chip.endedAfter', { date: date(filter.endAfter) }), { endAfter: undefined }],
      [filter.endBefore && t('lists.chip.endedBefore', { date: date(filter.endBefore) }), { endBefore: undefined }],
      [filter.tenant && t('start.tenant', { tenant: filter.tenant }), { tenant: undefined }],
      [filter.tags.length > 0 ? t('lists.chip.tags', { tags: filter.tags.join(', ') }) : undefined, { tags: [] }],
      ...filter.variables.map((one): [string, Partial<Filter>] => [variableText(one), { variables: filter.variables.filter((other) => other !== one) }]),
    ];
    return named.flatMap(([text, without]) => (text ? [{ text, without }] : []));
  };
  return (
    <div class="stack" role="search" aria-label={t('lists.filter')}>
      <div class="chips">
        <ProcessPicker filter={props.filter} onChange={change} />
        <For each={STATES}>
          {(state) => (
            <button aria-pressed={props.filter.states.has(state)} class={props.filter.states.has(state) ? 'primary' : ''} onClick={() => toggle(state)}>
              {t(`lists.state.${state}`)}
            </button>
          )}
        </For>
        <For each={chips()}>
          {(chip) => (
            <span class="chip">
              <span title={chip.text}>{chip.text}</span>
              <button class="plain" aria-label={t('lists.filter.remove', { filter: chip.text })} onClick={() => change(chip.without)}>
                ✕
              </button>
            </span>
          )}
        </For>
        <button onClick={() => setAdding(true)}>{t('lists.filter.add')}</button>
        <button disabled={props.filter.or.length >= ALTERNATIVES_MAX} onClick={() => setAlternative(props.filter.or.length)}>
          {t('lists.alternative.add')}
        </button>
      </div>
      <Show when={props.filter.or.length > 0}>
        <div class="chips" role="group" aria-label={t('lists.alternatives')}>
          <span class="muted">{t('lists.alternatives.one')}</span>
          <For each={props.filter.or}>
            {(one, at) => {
              const parts = () => [
                ...STATES.filter((state) => one.states.has(state)).map((state) => t(`lists.inState.${state}`)),
                ...chips(one).map((chip) => chip.text),
                ...(one.process ? [t('lists.chip.process', { id: one.process })] : []),
              ];
              const text = () => parts().slice(1).reduce((all, more) => t('lists.alternative.and', { all, more }), parts()[0] ?? '');
              return (
                <span class="chip">
                  <button class="plain" aria-label={t('lists.alternative.change', { alternative: text() })} onClick={() => setAlternative(at())}>
                    {text()}
                  </button>
                  <button class="plain" aria-label={t('lists.alternative.remove', { alternative: text() })} onClick={() => withAlternative(at(), undefined)}>
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
          title={t('lists.alternative')}
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
          title={t('lists.filters')}
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
        aria-label={t('lists.process')}
        placeholder={t('lists.allProcesses')}
        list={list}
        value={props.filter.process ?? ''}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      <datalist id={list}>
        <For each={found.data?.items}>{(one) => <option value={one.processDefinitionId}>{one.name ?? ''}</option>}</For>
        <Show when={(found.data?.page.totalItems ?? 0) > PICKED}>
          <option value={text()} disabled>
            {t('lists.filter.typeOn')}
          </option>
        </Show>
      </datalist>
      <Show when={props.filter.process}>
        <select aria-label={t('lists.version')} value={props.filter.version ?? ''} onChange={(event) => props.onChange({ version: Number(event.currentTarget.value) || undefined, element: undefined })}>
          <option value="">{t('lists.allVersions')}</option>
          <For each={versions.data?.items}>
            {(one) => (
              <option value={one.version} selected={one.version === props.filter.version}>
                {t('lists.versionOf', { version: one.version })}
                {one.versionTag ? ` (${one.versionTag})` : ''}
              </option>
            )}
          </For>
        </select>
      </Show>
    </>
  );
}
