import { A, useParams } from '@solidjs/router';
import { useQuery } from '@tanstack/solid-query';
import { For, type JSX, Show } from 'solid-js';
import { assignRoleToUser, assignUserToGroup, unassignRoleFromUser, unassignUserFromGroup } from '../api/generated/operations';
import { call } from '../api/http';
import { t } from '../language';
import { need } from '../rights';
import { Failure } from '../ui/parts';
import { circlesOf } from './access';
import { Create, Delete } from './Create';
import { findGroups, findRoles } from './finders';

/** Kinds of what a user belongs to, with their ways in and out. */
const KINDS = {
  groups: {
    path: '/admin/groups',
    resource: 'GROUP',
    find: findGroups,
    add: (id: string, username: string) => call(assignUserToGroup, { path: { groupId: id, username } }),
    remove: (id: string, username: string) => call(unassignUserFromGroup, { path: { groupId: id, username } }),
  },
  roles: {
    path: '/admin/roles',
    resource: 'ROLE',
    find: findRoles,
    add: (id: string, username: string) => call(assignRoleToUser, { path: { roleId: id, username } }),
    remove: (id: string, username: string) => call(unassignRoleFromUser, { path: { roleId: id, username } }),
  },
} as const;

/** A user with the groups and roles that it has itself; those of its groups are told by its access. */
export default function User(): JSX.Element {
  const params = useParams<{ id: string }>();
  const name = () => decodeURIComponent(params.id);
  const found = useQuery(() => ({ queryKey: ['circles', name()], queryFn: ({ signal }) => circlesOf(name(), signal) }));
  return (
    <main class="page">
      <h1>{t('admin.user', { name: name() })}</h1>
      <p>
        <A href={`/admin/access?kind=USER&id=${encodeURIComponent(name())}`}>{t('admin.members.may')}</A>
      </p>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <div class="grid">
        <For each={['groups', 'roles'] as const}>
          {(kind) => (
            <section class="panel stack" aria-label={t(`admin.user.${kind}`)}>
              <div class="row">
                <h2>{t(`admin.user.${kind}`)}</h2>
                <span class="spacer" />
                <Create
                  needs={need(KINDS[kind].resource, 'UPDATE')}
                  label={t(`admin.user.add.${kind}`)}
                  inputs={[{ name: 'id', label: t('admin.id'), required: true, find: KINDS[kind].find }]}
                  create={(text) => KINDS[kind].add(text('id').trim(), name())}
                />
              </div>
              <Show when={found.data?.[kind].length} fallback={<p class="empty">{found.data ? t(`admin.user.none.${kind}`) : t('part.loading')}</p>}>
                <table aria-label={t(`admin.user.${kind}`)}>
                  <tbody>
                    <For each={found.data?.[kind]}>
                      {(id) => (
                        <tr>
                          <td>
                            <A href={`${KINDS[kind].path}/${encodeURIComponent(id)}`}>{id}</A>
                          </td>
                          <td class="number">
                            <Delete
                              needs={need(KINDS[kind].resource, 'UPDATE', id)}
                              what={t('admin.members.from', { member: name(), of: id })}
                              effect={t('admin.members.effect.users', { of: t(`admin.members.this.${kind === 'groups' ? 'group' : 'role'}`) })}
                              do={() => KINDS[kind].remove(id, name())}
                            />
                          </td>
                        </tr>
                      )}
                    </For>
                  </tbody>
                </table>
              </Show>
              <Show when={found.data?.isCut}>
                <p class="muted">{t('admin.user.cut')}</p>
              </Show>
            </section>
          )}
        </For>
      </div>
    </main>
  );
}
