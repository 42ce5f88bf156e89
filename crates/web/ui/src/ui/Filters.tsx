import { useSearchParams } from '@solidjs/router';
import { For, type JSX, Match, Switch } from 'solid-js';
import { t } from '../language';
import { Field } from './parts';
import { localText, momentOf } from './times';

export interface Filter {
  name: string;
  label: string;
  /** Values with their words; without them, the filter is a text. */
  options?: readonly (readonly [string, string])[];
  type?: 'text' | 'datetime-local' | 'date';
}

/** Fields that narrow a list. Their values are in the address, and the list begins anew. */
export function Filters(props: { of: readonly Filter[] }): JSX.Element {
  const [query, setQuery] = useSearchParams<Record<string, string>>();
  const set = (name: string, value: string) => setQuery({ [name]: value || null, after: null, before: null });
  return (
    <div class="row" role="search" aria-label={t('ui.filter')}>
      <For each={props.of}>
        {(filter) => (
          <Field label={filter.label}>
            <Switch
              fallback={<input type={filter.type ?? 'search'} value={query[filter.name] ?? ''} onChange={(event) => set(filter.name, event.currentTarget.value.trim())} />}
            >
              <Match when={filter.type === 'datetime-local'}>
                <input type="datetime-local" value={localText(momentOf(query[filter.name]))} onChange={(event) => set(filter.name, momentOf(event.currentTarget.value) ?? '')} />
              </Match>
              <Match when={filter.options}>
                <select onChange={(event) => set(filter.name, event.currentTarget.value)}>
                  <option value="">{t('ui.any')}</option>
                  <For each={filter.options}>
                    {([value, word]) => (
                      <option value={value} selected={query[filter.name] === value}>
                        {word}
                      </option>
                    )}
                  </For>
                </select>
              </Match>
            </Switch>
          </Field>
        )}
      </For>
    </div>
  );
}
