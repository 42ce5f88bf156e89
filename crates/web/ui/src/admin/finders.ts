// Suggestions for owners, members and resources, as the server finds them.
import {
  searchClusterVariables,
  searchDecisionDefinitions,
  searchGlobalTaskListeners,
  searchGroups,
  searchMappingRule,
  searchProcessDefinitions,
  searchResources,
  searchRoles,
  searchTenants,
  searchUsers,
} from '../api/generated/operations';
import type { OwnerTypeEnum, ResourceTypeEnum, SearchQueryPageResponse } from '../api/generated/types';
import { call } from '../api/http';
import { t } from '../language';
import { client } from '../query';
import type { Choice, Choices, Find } from '../ui/Picker';

const SHOWN_MAX = 20;
/** The longest page of a search. */
const PAGE_MAX = 10_000;
const FRESH_MS = 5000;

const part = (text: string) => ({ $like: `*${text.replace(/[\\*?]/g, '\\$&')}*` });
const page = { limit: SHOWN_MAX };

function choices<Item>(answer: { items: Item[]; page: SearchQueryPageResponse }, of: (item: Item) => Choice): Choices {
  return { choices: answer.items.map(of), total: answer.page.totalItems, isAtLeast: answer.page.hasMoreTotalItems };
}

/** For searches that know whole texts alone: everything is read once, and looked through here. */
const within =
  (name: string, read: () => Promise<{ items: Choice[]; page: SearchQueryPageResponse }>): Find =>
  async (text) => {
    const all = await client.fetchQuery({ queryKey: ['choices', name], queryFn: read, staleTime: FRESH_MS });
    const wanted = text.toLowerCase();
    const hits = all.items.filter(({ value, label }) => `${value} ${label ?? ''}`.toLowerCase().includes(wanted));
    return { choices: hits.slice(0, SHOWN_MAX), total: hits.length, isAtLeast: all.items.length < all.page.totalItems || all.page.hasMoreTotalItems };
  };
const all = { limit: PAGE_MAX };

export const findUsers: Find = async (text, signal) =>
  choices(await call(searchUsers, { body: { filter: text ? { username: part(text) } : {}, sort: [{ field: 'username', order: 'ASC' }], page }, signal }), (one) => ({ value: one.username, label: one.name ?? '' }));
export const findGroups: Find = async (text, signal) =>
  choices(await call(searchGroups, { body: { filter: text ? { groupId: part(text) } : {}, sort: [{ field: 'groupId', order: 'ASC' }], page }, signal }), (one) => ({ value: one.groupId, label: one.name }));
export const findRoles = within('roles', async () => {
  const found = await call(searchRoles, { body: { sort: [{ field: 'roleId', order: 'ASC' }], page: all } });
  return { ...found, items: found.items.map((one) => ({ value: one.roleId, label: one.name })) };
});
export const findTenants = within('tenants', async () => {
  const found = await call(searchTenants, { body: { sort: [{ field: 'tenantId', order: 'ASC' }], page: all } });
  return { ...found, items: found.items.map((one) => ({ value: one.tenantId, label: one.name })) };
});
export const findMappingRules = within('mapping-rules', async () => {
  const found = await call(searchMappingRule, { body: { sort: [{ field: 'mappingRuleId', order: 'ASC' }], page: all } });
  return { ...found, items: found.items.map((one) => ({ value: one.mappingRuleId, label: one.name })) };
});
/** Clients are known to the issuer of their tokens alone. */
const findNothing: Find = async () => ({ choices: [], total: 0 });
export const findClients = findNothing;

const findProcesses: Find = async (text, signal) => {
  const ask = (filter: object) => call(searchProcessDefinitions, { body: { filter: { isLatestVersion: true, ...filter }, sort: [{ field: 'processDefinitionId', order: 'ASC' }], page }, signal });
  return choices(await ask(text ? { processDefinitionId: part(text) } : {}), (one) => ({ value: one.processDefinitionId, label: one.name ?? '' }));
};
const findDecisions = within('decisions', async () => {
  const found = await call(searchDecisionDefinitions, { body: { filter: { isLatestVersion: true }, sort: [{ field: 'decisionDefinitionId', order: 'ASC' }], page: all } });
  return { ...found, items: found.items.map((one) => ({ value: one.decisionDefinitionId, label: one.name })) };
});
const findRequirements = within('requirements', async () => {
  const found = await call(searchDecisionDefinitions, { body: { filter: { isLatestVersion: true }, page: all } });
  const known = new Map(found.items.map((one) => [one.decisionRequirementsId, { value: one.decisionRequirementsId, label: one.decisionRequirementsName }]));
  return { items: [...known.values()], page: { ...found.page, totalItems: known.size } };
});
const findResources: Find = async (text, signal) =>
  choices(await call(searchResources, { body: { filter: text ? { resourceId: part(text) } : {}, page }, signal }), (one) => ({ value: one.resourceId, label: one.resourceName }));
const findVariables: Find = async (text, signal) =>
  choices(await call(searchClusterVariables, { body: { filter: text ? { name: part(text) } : {}, page }, signal }), (one) => ({ value: one.name, label: one.tenantId ?? '' }));
const findListeners: Find = async (text, signal) =>
  choices(await call(searchGlobalTaskListeners, { body: { filter: text ? { id: part(text) } : {}, page }, signal }), (one) => ({ value: one.id, label: one.type }));
const COMPONENTS = ['operate', 'tasklist', 'admin', 'identity'];
const findComponents: Find = async (text) => {
  const hits = COMPONENTS.filter((one) => one.includes(text));
  return { choices: hits.map((value) => ({ value })), total: hits.length };
};

export const OWNER_FINDERS: Record<Exclude<OwnerTypeEnum, 'UNSPECIFIED'>, Find> = {
  USER: findUsers,
  GROUP: findGroups,
  ROLE: findRoles,
  CLIENT: findClients,
  MAPPING_RULE: findMappingRules,
};

const RESOURCES: Partial<Record<ResourceTypeEnum, Find>> = {
  CLUSTER_VARIABLE: findVariables,
  COMPONENT: findComponents,
  DECISION_DEFINITION: findDecisions,
  DECISION_REQUIREMENTS_DEFINITION: findRequirements,
  GLOBAL_LISTENER: findListeners,
  GROUP: findGroups,
  MAPPING_RULE: findMappingRules,
  PROCESS_DEFINITION: findProcesses,
  RESOURCE: findResources,
  ROLE: findRoles,
  TENANT: findTenants,
  USER: findUsers,
};

/** Resources of a type by text; `*`, for all of them, comes first. */
export const resourceFinder =
  (type: ResourceTypeEnum): Find =>
  async (text, signal) => {
    const wanted = text === '*' ? '' : text;
    const found = await (RESOURCES[type] ?? findNothing)(wanted, signal);
    const every = wanted === '' ? [{ value: '*', label: t('admin.finders.all') }] : [];
    return { ...found, choices: [...every, ...found.choices], total: found.total + every.length };
  };
