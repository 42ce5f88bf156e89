import { For, type JSX, Show } from 'solid-js';
import { wordOf } from '../../ui/words';

/** The choice between tenants that have a process of the same ID. */
export function TenantChoice(props: { tenants: string[]; chosen: string | undefined; choose: (tenant: string) => void }): JSX.Element {
  return (
    <Show when={props.tenants.length > 1}>
      <select aria-label={wordOf('TENANT')} onChange={(event) => props.choose(event.currentTarget.value)}>
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
