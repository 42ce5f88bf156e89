import { For, type JSX, Show } from 'solid-js';
import { t } from '../../language';

/** The choice between tenants that have a process of the same ID. */
export function TenantChoice(props: { tenants: string[]; chosen: string | undefined; choose: (tenant: string) => void }): JSX.Element {
  return (
    <Show when={props.tenants.length > 1}>
      <select aria-label={t('word.TENANT')} onChange={(event) => props.choose(event.currentTarget.value)}>
        <For each={props.tenants}>
          {(one) => (
            <option value={one} selected={one === props.chosen}>
              {one}
            </option>
          )}
        </For>
      </select>
    </Show>
  );
}
