import { useSearchParams } from '@solidjs/router';
import { useQuery } from '@tanstack/solid-query';
import { createMemo, createSignal, For, type JSX, Show } from 'solid-js';
import { Failure, Field, wordOf } from '../ui/parts';
import { Picker } from '../ui/Picker';
import { accessOf, type Granted, type Principal } from './access';
import { resourceOf } from './Authorizations';
import { OWNER_FINDERS } from './finders';

const KINDS: readonly Principal[] = ['USER', 'CLIENT', 'MAPPING_RULE', 'GROUP', 'ROLE'];

/** The permissions of a user, client, mapping rule, group or role, and the ways to them. */
export default function AccessPage(): JSX.Element {
  const [query, setQuery] = useSearchParams<{ kind: string; id: string }>();
  const kind = () => KINDS.find((one) => one === query.kind) ?? 'USER';
  const [text, setText] = createSignal(query.id ?? '');
  const access = useQuery(() => ({ queryKey: ['access', kind(), query.id], queryFn: ({ signal }) => accessOf(kind(), query.id!, signal), enabled: Boolean(query.id) }));
  /** Permissions of the same resource together, each with its ways. */
  const rows = createMemo(() => {
    const byResource = new Map<string, { type: string; resource: string; permissions: Map<string, Set<string>> }>();
    for (const { authorization, through } of access.data?.granted ?? ([] as Granted[])) {
      const resource = resourceOf(authorization);
      const key = `${authorization.resourceType} ${resource}`;
      const row = byResource.get(key) ?? { type: authorization.resourceType, resource, permissions: new Map<string, Set<string>>() };
      byResource.set(key, row);
      for (const permission of authorization.permissionTypes) {
        const ways = row.permissions.get(permission) ?? new Set();
        row.permissions.set(permission, ways.add(through.join(' › ') || 'itself'));
      }
    }
    return [...byResource.values()].sort((a, b) => a.type.localeCompare(b.type) || a.resource.localeCompare(b.resource));
  });
  const look = (event: SubmitEvent) => {
    event.preventDefault();
    setQuery({ id: text().trim() || null });
  };
  return (
    <main class="page">
      <h1>Who may do what</h1>
      <form class="row" autocomplete="off" onSubmit={look}>
        <Field label="Kind">
          <select onChange={(event) => setQuery({ kind: event.currentTarget.value })}>
            <For each={KINDS}>
              {(one) => (
                <option value={one} selected={one === kind()}>
                  {wordOf(one)}
                </option>
              )}
            </For>
          </select>
        </Field>
        <Show when={kind()} keyed>
          {(one) => (
            <Field label="ID">
              <Picker name="id" label="ID" find={OWNER_FINDERS[one]} value={query.id} onInput={setText} />
            </Field>
          )}
        </Show>
        <button type="submit">Look</button>
      </form>
      <Show when={access.error}>{(error) => <Failure of={error()} again={() => void access.refetch()} />}</Show>
      <Show when={query.id && access.data} fallback={<Show when={query.id && !access.error}>{<p class="empty">Loading …</p>}</Show>}>
        <Show when={access.data?.isCut}>
          <p role="status">There are more authorizations or members than are looked at here: permissions may be missing.</p>
        </Show>
        <Show when={rows().length > 0} fallback={<p class="empty">{`${wordOf(kind())} ${query.id} may do nothing that needs a permission.`}</p>}>
          <div class="scroll" tabindex="0" role="region" aria-label="Permissions">
            <table aria-label="Permissions">
              <thead>
                <tr>
                  <th scope="col">Resource</th>
                  <th scope="col">ID</th>
                  <th scope="col">Permission</th>
                  <th scope="col">Through</th>
                </tr>
              </thead>
              <tbody>
                <For each={rows()}>
                  {(row) => (
                    <For each={[...row.permissions].sort(([a], [b]) => a.localeCompare(b))}>
                      {([permission, ways]) => (
                        <tr>
                          <td>{wordOf(row.type)}</td>
                          <td>{row.resource}</td>
                          <td>{wordOf(permission)}</td>
                          <td>{[...ways].join('; ')}</td>
                        </tr>
                      )}
                    </For>
                  )}
                </For>
              </tbody>
            </table>
          </div>
        </Show>
        <p class="muted">Where authorizations are switched off, everybody may do everything.</p>
      </Show>
    </main>
  );
}
