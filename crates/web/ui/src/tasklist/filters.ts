// The filter of the list of tasks, in the URL: `filter` names a built-in one, and each criterion of an own one stands beside.
// Own filters with a name are kept in the browser: what they keep is a part of the URL.
import { own } from '../base';
import type { UserTaskFilter } from '../api/generated/types';
import { jsonProblem } from '../ui/json';

export const FILTERS = ['all-open', 'assigned-to-me', 'unassigned', 'completed', 'custom'] as const;
export type FilterName = (typeof FILTERS)[number];
export const ORDERS = ['creation', 'due', 'follow-up', 'completion', 'priority'] as const;
export type OrderName = (typeof ORDERS)[number];

const FIELDS = {
  creation: { field: 'creationDate', order: 'DESC' },
  due: { field: 'dueDate', order: 'ASC' },
  'follow-up': { field: 'followUpDate', order: 'ASC' },
  completion: { field: 'completionDate', order: 'DESC' },
  priority: { field: 'priority', order: 'DESC' },
} as const;

/** Criteria of own filters, by their names in the URL. */
export const CRITERIA = ['assignee', 'candidateGroup', 'candidateUser', 'state', 'process', 'businessId', 'key', 'instance', 'dueAfter', 'dueBefore', 'followUpAfter', 'followUpBefore', 'variables'] as const;
export type Criterion = (typeof CRITERIA)[number];

export type Criteria = { filter?: string; sortBy?: string } & { [Name in Criterion]?: string };

export const filterName = (criteria: Criteria): FilterName => FILTERS.find((one) => one === criteria.filter) ?? 'all-open';
export const orderName = (criteria: Criteria): OrderName =>
  ORDERS.find((one) => one === criteria.sortBy) ?? (filterName(criteria) === 'completed' ? 'completion' : 'creation');
export const order = (criteria: Criteria) => [FIELDS[orderName(criteria)]];

const OPEN: UserTaskFilter = { state: { $in: ['CREATED', 'ASSIGNING', 'UPDATING', 'COMPLETING'] } };

export function toApi(criteria: Criteria, me: string | undefined): UserTaskFilter {
  switch (filterName(criteria)) {
    case 'all-open':
      return OPEN;
    case 'assigned-to-me':
      // An empty name has no tasks.
      return { ...OPEN, assignee: me ?? { $in: [] } };
    case 'unassigned':
      return { ...OPEN, assignee: { $exists: false } };
    case 'completed':
      return { state: 'COMPLETED' };
    case 'custom':
      return custom(criteria);
  }
}

/** A name and JSON in each line; what is none is left out here, and told by {@link wrongLine}. */
const variablesOf = (lines: string) =>
  lines.split('\n').flatMap((line) => {
    const at = line.indexOf('=');
    const [name, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    return at > 0 && name !== '' && jsonProblem(value) === undefined ? [{ name, value: { $eq: value } }] : [];
  });

/** The first line of variables that is none. */
export const wrongLine = (lines: string): string | undefined => lines.split('\n').find((line) => line.trim() !== '' && variablesOf(line).length === 0);

function between(after: string | undefined, before: string | undefined) {
  const moment = (text: string | undefined) => {
    const at = text ? Date.parse(text) : Number.NaN;
    return Number.isNaN(at) ? undefined : new Date(at).toISOString();
  };
  const [from, to] = [moment(after), moment(before)];
  return from || to ? { ...(from ? { $gte: from } : {}), ...(to ? { $lte: to } : {}) } : undefined;
}

const isKey = (text: string | undefined): text is string => /^\d{1,19}$/.test(text ?? '');

function custom(criteria: Criteria): UserTaskFilter {
  const api: UserTaskFilter = criteria.state === 'completed' ? { state: 'COMPLETED' } : criteria.state === 'all' ? {} : { ...OPEN };
  if (criteria.assignee) api.assignee = criteria.assignee;
  if (criteria.candidateGroup) api.candidateGroup = criteria.candidateGroup;
  if (criteria.candidateUser) api.candidateUser = criteria.candidateUser;
  if (criteria.process) api.processDefinitionId = criteria.process;
  if (criteria.businessId) api.businessId = criteria.businessId;
  const due = between(criteria.dueAfter, criteria.dueBefore);
  if (due) api.dueDate = due;
  const followUp = between(criteria.followUpAfter, criteria.followUpBefore);
  if (followUp) api.followUpDate = followUp;
  const variables = variablesOf(criteria.variables ?? '');
  if (variables.length > 0) api.processInstanceVariables = variables;
  if (isKey(criteria.key)) api.userTaskKey = criteria.key;
  if (isKey(criteria.instance)) api.processInstanceKey = criteria.instance;
  return api;
}

/** An own filter with its name. */
export interface OwnFilter {
  name: string;
  criteria: { [Name in Criterion]?: string };
}
const STORED = own('baton.task-filters');

export function ownFilters(): OwnFilter[] {
  try {
    const told: unknown = JSON.parse(localStorage.getItem(STORED) ?? '[]');
    return Array.isArray(told) ? told.filter((one: OwnFilter) => typeof one?.name === 'string' && typeof one.criteria === 'object') : [];
  } catch {
    return [];
  }
}

const keep = (filters: OwnFilter[]): OwnFilter[] => {
  localStorage.setItem(STORED, JSON.stringify(filters));
  return filters;
};
export const keepFilter = (filter: OwnFilter): OwnFilter[] => keep([...ownFilters().filter(({ name }) => name !== filter.name), filter]);
export const dropFilter = (name: string): OwnFilter[] => keep(ownFilters().filter((one) => one.name !== name));

/** The own filter that the URL has, if it is one. */
export const ownOf = (criteria: Criteria, filters: readonly OwnFilter[]): OwnFilter | undefined =>
  filterName(criteria) === 'custom' ? filters.find((one) => CRITERIA.every((name) => (one.criteria[name] ?? '') === (criteria[name] ?? ''))) : undefined;
