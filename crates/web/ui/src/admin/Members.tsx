import { A, useParams, useSearchParams } from '@solidjs/router';
import { For, type JSX, Show } from 'solid-js';
import * as api from '../api/generated/operations';
import type { SearchQueryPageResponse } from '../api/generated/types';
import { call } from '../api/http';
import type { Operation, Read } from '../api/operation';
import { type Key, t } from '../language';
import { useRead } from '../query';
import { need } from '../rights';
import type { Find } from '../ui/Picker';
import { type Column, Table, usePlace } from '../ui/Table';
import { Create, Delete } from './Create';
import { findClients, findGroups, findMappingRules, findRoles, findUsers } from './finders';

type Path = Record<string, string>;
type Change = Operation<Path, object, void, unknown>;
type Search = Read<Path, object, object, { items: Path[]; page: SearchQueryPageResponse }>;
interface Operations {
  search: unknown;
  add: unknown;
  remove: unknown;
}

/** Kinds of members: their field in the API, title, suggestions. */
const KINDS = {
  users: { field: 'username', title: 'page.Users', find: findUsers },
  groups: { field: 'groupId', title: 'page.Groups', find: findGroups },
  roles: { field: 'roleId', title: 'page.Roles', find: findRoles },
  clients: { field: 'clientId', title: 'admin.members.title.clients', find: findClients },
  'mapping-rules': { field: 'mappingRuleId', title: 'page.Mapping rules', find: findMappingRules },
} satisfies Record<string, { field: string; title: Key; find: Find }>;
type Kind = keyof typeof KINDS;

const OF: Record<'group' | 'role' | 'tenant', { id: string; members: Partial<Record<Kind, Operations>> }> = {
  group: {
    id: 'groupId',
    members: {
      users: { search: api.searchUsersForGroup, add: api.assignUserToGroup, remove: api.unassignUserFromGroup },
      roles: { search: api.searchRolesForGroup, add: api.assignRoleToGroup, remove: api.unassignRoleFromGroup },
      clients: { search: api.searchClientsForGroup, add: api.assignClientToGroup, remove: api.unassignClientFromGroup },
      'mapping-rules': { search: api.searchMappingRulesForGroup, add: api.assignMappingRuleToGroup, remove: api.unassignMappingRuleFromGroup },
    },
  },
  role: {
    id: 'roleId',
    members: {
      users: { search: api.searchUsersForRole, add: api.assignRoleToUser, remove: api.unassignRoleFromUser },
      groups: { search: api.searchGroupsForRole, add: api.assignRoleToGroup, remove: api.unassignRoleFromGroup },
      clients: { search: api.searchClientsForRole, add: api.assignRoleToClient, remove: api.unassignRoleFromClient },
      'mapping-rules': { search: api.searchMappingRulesForRole, add: api.assignRoleToMappingRule, remove: api.unassignRoleFromMappingRule },
    },
  },
  tenant: {
    id: 'tenantId',
    members: {
      users: { search: api.searchUsersForTenant, add: api.assignUserToTenant, remove: api.unassignUserFromTenant },
      groups: { search: api.searchGroupIdsForTenant, add: api.assignGroupToTenant, remove: api.unassignGroupFromTenant },
      roles: { search: api.searchRolesForTenant, add: api.assignRoleToTenant, remove: api.unassignRoleFromTenant },
      clients: { search: api.searchClientsForTenant, add: api.assignClientToTenant, remove: api.unassignClientFromTenant },
      'mapping-rules': { search: api.searchMappingRulesForTenant, add: api.assignMappingRuleToTenant, remove: api.unassignMappingRuleFromTenant },
    },
  },
};

/** The members of a group, a role or a tenant, by kind; `members=clients` in the address chooses one. */
export default function Members(props: { of: 'group' | 'role' | 'tenant' }): JSX.Element {
  const params = useParams<{ id: string }>();
  const [query] = useSearchParams<{ members: string }>();
  const id = () => decodeURIComponent(params.id);
  const kinds = () => Object.keys(OF[props.of].members) as Kind[];
  const kind = () => kinds().find((one) => one === query.members) ?? 'users';
  return (
    <main class="page">
      <h1>{t(`admin.members.of.${props.of}`, { id: id() })}</h1>
      <p>
        <Show when={props.of !== 'tenant'}>
          <A href={`/admin/access?kind=${props.of.toUpperCase()}&id=${encodeURIComponent(id())}`}>{t('admin.members.may')}</A>
        </Show>
      </p>
      <div class="tabs" role="tablist" aria-label={t('admin.members.kinds')}>
        <For each={kinds()}>
          {(one) => (
            <A href={`?members=${one}`} role="tab" aria-selected={one === kind()} noScroll>
              {t(KINDS[one].title)}
            </A>
          )}
        </For>
      </div>
      <Show when={kind()} keyed>
        {(one) => <OfKind of={props.of} id={id()} kind={one} />}
      </Show>
    </main>
  );
}

function OfKind(props: { of: 'group' | 'role' | 'tenant'; id: string; kind: Kind }): JSX.Element {
  const { field, find } = KINDS[props.kind];
  const label = () => t(`admin.members.label.${props.kind}`);
  const { id: parameter, members } = OF[props.of];
  const operations = members[props.kind];
  if (!operations) throw new Error(`${props.of} has no ${props.kind}`);
  const { sort, page } = usePlace([field], { field, order: 'ASC' });
  const found = useRead(operations.search as Search, () => ({ path: { [parameter]: props.id }, body: { sort: sort(), page: page() }, live: true, keep: false }));
  const may = () => need(props.of === 'group' ? 'GROUP' : props.of === 'role' ? 'ROLE' : 'TENANT', 'UPDATE', props.id);
  const path = (member: string) => ({ path: { [parameter]: props.id, [field]: member } });
  const columns = (): Column<Path>[] => [
    { head: label(), cell: (row) => row[field], sort: field },
    {
      head: t('admin.actions'),
      cell: (row) => (
        <Delete
          needs={may()}
          what={t('admin.members.from', { member: row[field]!, of: props.id })}
          effect={t(`admin.members.effect.${props.kind}`, { of: t(`admin.members.this.${props.of}`) })}
          do={() => call(operations.remove as Change, path(row[field]!))}
        />
      ),
    },
  ];
  return (
    <>
      <div class="row">
        <span class="spacer" />
        <Create needs={may()} label={t('admin.new.member')} inputs={[{ name: 'member', label: label(), required: true, find }]} create={(text) => call(operations.add as Change, path(text('member').trim()))} />
      </div>
      <Table label={t('admin.members')} query={found} columns={columns()} usual={`${field}:asc`} empty={t(`admin.members.none.${props.kind}`)} />
    </>
  );
}
