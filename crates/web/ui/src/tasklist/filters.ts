// The filter of the list of tasks, in the URL: `filter` names a built-in one, and each criterion of an own one stands beside.
import type { UserTaskFilter } from '../api/generated/types';

export const FILTERS = ['all-open', 'assigned-to-me', 'unassigned', 'completed', 'custom'] as const;
export type FilterName = (typeof FILTERS)[number];
export const WORDS: Record<FilterName, string> = {
  'all-open': 'All open',
  'assigned-to-me': 'Assigned to me',
  unassigned: 'Unassigned',
  completed: 'Completed',
  custom: 'Custom',
};
export const ORDERS = ['creation', 'due', 'follow-up', 'completion', 'priority'] as const;
export type OrderName = (typeof ORDERS)[number];

const FIELDS = {
  creation: { field: 'creationDate', order: 'DESC' },
  due: { field: 'dueDate', order: 'ASC' },
  'follow-up': { field: 'followUpDate', order: 'ASC' },
  completion: { field: 'completionDate', order: 'DESC' },
  priority: { field: 'priority', order: 'DESC' },
} as const;

export interface Criteria {
  filter?: string;
  sortBy?: string;
  assignee?: string;
  candidateGroup?: string;
  state?: string;
  process?: string;
  dueBefore?: string;
  businessId?: string;
}

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
    case 'custom': {
      const api: UserTaskFilter = criteria.state === 'completed' ? { state: 'COMPLETED' } : criteria.state === 'all' ? {} : { ...OPEN };
      if (criteria.assignee) api.assignee = criteria.assignee;
      if (criteria.candidateGroup) api.candidateGroup = criteria.candidateGroup;
      if (criteria.process) api.processDefinitionId = criteria.process;
      if (criteria.businessId) api.businessId = criteria.businessId;
      const due = criteria.dueBefore ? Date.parse(criteria.dueBefore) : Number.NaN;
      if (!Number.isNaN(due)) api.dueDate = { $lte: new Date(due).toISOString() };
      return api;
    }
  }
}
