import { useSearchParams } from '@solidjs/router';
import { useQuery } from '@tanstack/solid-query';
import { createMemo, createSignal, For, type JSX, Show } from 'solid-js';
import { t } from '../language';
import { Failure, Field, wordOf } from '../ui/parts';
import { Picker } from '../ui/Picker';
import { plainWordOf } from '../ui/words';
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
        row.permissions.set(permission, ways.add(through.map(({ kind, id }) => t(`admin.access.${kind}`, { id })).join(' › ') || t('admin.access.itself')));
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
      <h1>{t('admin.access')}</h1>
      <form class="row" autocomplete="off" onSubmit={look}>
        <Field label={t('admin.access.kind')}>
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
            <Field label={t('admin.id')}>
              <Picker name="id" label={t('admin.id')} find={OWNER_FINDERS[one]} value={query.id} onInput={setText} />
            </Field>
          )}
        </Show>
        <button type="submit">{t('admin.access.look')}</button>
      </form>
      <Show when={access.error}>{(error) => <Failure of={error()} again={() => void access.refetch()} />}</Show>
      <Show when={query.id && access.data} fallback={<Show when={query.id && !access.error}>{<p class="empty">{t('part.loading')}</p>}</Show>}>
        <Show when={access.data?.isCut}>
          <p role="status">{t('admin.access.cut')}</p>
        </Show>
        <Show when={rows().length > 0} fallback={<p class="empty">{t('admin.access.nothing', { kind: wordOf(kind()), id: query.id ?? '' })}</p>}>
          <div class="scroll" tabindex="0" role="region" aria-label={t('admin.access.permissions')}>
            <table aria-label={t('admin.access.permissions')}>
              <thead>
                <tr>
                  <th scope="col">{t('admin.access.resource')}</th>
                  <th scope="col">{t('admin.id')}</th>
                  <th scope="col">{t('admin.access.permission')}</th>
                  <th scope="col">{t('admin.access.through')}</th>
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
                          <td>{plainWordOf(permission)}</td>
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
        <p class="muted">{t('admin.access.off')}</p>
      </Show>
    </main>
  );
}
