// Permissions of a principal, and the ways to them: its own authorizations, those of its groups and roles, and of their roles.
import {
  searchAuthorizations,
  searchClientsForGroup,
  searchClientsForRole,
  searchGroups,
  searchGroupsForRole,
  searchMappingRulesForGroup,
  searchMappingRulesForRole,
  searchRoles,
  searchUsersForGroup,
  searchUsersForRole,
} from '../api/generated/operations';
import type { AuthorizationResult, SearchQueryPageResponse } from '../api/generated/types';
import { call } from '../api/http';
import type { Read } from '../api/operation';

export type Principal = 'USER' | 'CLIENT' | 'MAPPING_RULE' | 'GROUP' | 'ROLE';
/** The longest page of a search: what is beyond it is told as left out. */
const PAGE_MAX = 10_000;
const AT_ONCE_MAX = 6;

/** A group or role between a principal and the owner of an authorization. */
export interface Step {
  kind: 'group' | 'role';
  id: string;
}

export interface Granted {
  authorization: AuthorizationResult;
  /** From the principal to the owner; empty if it is its own. */
  through: Step[];
}

export interface Access {
  granted: Granted[];
  /** Whether there was more than is read here. */
  isCut: boolean;
}

type Search = Read<Record<string, string>, object, object, { items: Record<string, string>[]; page: SearchQueryPageResponse }>;
const MEMBERS = {
  USER: { field: 'username', group: searchUsersForGroup, role: searchUsersForRole },
  CLIENT: { field: 'clientId', group: searchClientsForGroup, role: searchClientsForRole },
  MAPPING_RULE: { field: 'mappingRuleId', group: searchMappingRulesForGroup, role: searchMappingRulesForRole },
} as const;

/** Does something with each, a few at a time. */
async function each<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = new Array(items.length);
  let next = 0;
  const run = async () => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE_MAX, items.length) }, run));
  return results;
}

/** Only groups and roles that own an authorization, or have a role that does, are looked at. */
export async function accessOf(kind: Principal, id: string, signal: AbortSignal): Promise<Access> {
  const { items: all, page } = await call(searchAuthorizations, { body: { page: { limit: PAGE_MAX } }, signal });
  let isCut = page.hasMoreTotalItems || page.totalItems > all.length;
  const members = async (search: unknown, path: Record<string, string>, field: string) => {
    const found = await call(search as Search, { path, body: { page: { limit: PAGE_MAX } }, signal });
    isCut ||= found.page.totalItems > found.items.length;
    return new Set(found.items.map((one) => one[field]));
  };
  const owners = (type: string) => [...new Set(all.filter((one) => one.ownerType === type).map((one) => one.ownerId))];
  const roles = owners('ROLE');
  const groupsOfRoles = new Map<string, Set<string | undefined>>();
  if (kind !== 'ROLE') {
    const found = await each(roles, (roleId) => members(searchGroupsForRole, { roleId }, 'groupId'));
    roles.forEach((role, at) => groupsOfRoles.set(role, found[at]!));
  }
  const mine = { groups: new Set<string>(kind === 'GROUP' ? [id] : []), roles: new Set<string>() };
  if (kind !== 'GROUP' && kind !== 'ROLE') {
    const { field, group, role } = MEMBERS[kind];
    const groups = [...new Set([...owners('GROUP'), ...[...groupsOfRoles.values()].flatMap((set) => [...set] as string[])])];
    const inGroups = await each(groups, (groupId) => members(group, { groupId }, field));
    groups.forEach((one, at) => inGroups[at]!.has(id) && mine.groups.add(one));
    const inRoles = await each(roles, (roleId) => members(role, { roleId }, field));
    roles.forEach((one, at) => inRoles[at]!.has(id) && mine.roles.add(one));
  }
  return { granted: all.flatMap((authorization) => ways(authorization, kind, id, mine, groupsOfRoles).map((through) => ({ authorization, through }))), isCut };
}

/** Groups and roles that a user has itself. */
export async function circlesOf(username: string, signal: AbortSignal): Promise<{ groups: string[]; roles: string[]; isCut: boolean }> {
  const page = { limit: PAGE_MAX };
  const [groups, roles] = await Promise.all([call(searchGroups, { body: { page }, signal }), call(searchRoles, { body: { page }, signal })]);
  const has = async (search: unknown, path: Record<string, string>) => (await call(search as Search, { path, body: { page }, signal })).items.some((one) => one['username'] === username);
  const inGroups = await each(groups.items, ({ groupId }) => has(searchUsersForGroup, { groupId }));
  const inRoles = await each(roles.items, ({ roleId }) => has(searchUsersForRole, { roleId }));
  return {
    groups: groups.items.filter((_, at) => inGroups[at]).map(({ groupId }) => groupId),
    roles: roles.items.filter((_, at) => inRoles[at]).map(({ roleId }) => roleId),
    isCut: groups.page.totalItems > groups.items.length || roles.page.totalItems > roles.items.length,
  };
}

/** Each way from the principal to the owner of an authorization. */
function ways(one: AuthorizationResult, kind: Principal, id: string, mine: { groups: Set<string>; roles: Set<string> }, groupsOfRoles: Map<string, Set<string | undefined>>): Step[][] {
  const own = one.ownerType === kind && one.ownerId === id ? [[]] : [];
  if (one.ownerType === 'GROUP' && kind !== 'GROUP' && mine.groups.has(one.ownerId)) return [[{ kind: 'group', id: one.ownerId }]];
  if (one.ownerType !== 'ROLE' || kind === 'ROLE') return own;
  const role: Step = { kind: 'role', id: one.ownerId };
  const direct = mine.roles.has(one.ownerId) ? [[role]] : [];
  const groups = [...(groupsOfRoles.get(one.ownerId) ?? [])].filter((group): group is string => group !== undefined && mine.groups.has(group));
  return [...direct, ...groups.map((group): Step[] => (kind === 'GROUP' ? [role] : [{ kind: 'group', id: group }, role]))];
}
