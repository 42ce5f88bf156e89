// Of the instances that a filter matches, those that a bulk action changes.
import type { ProcessInstanceFilter, ProcessInstanceStateEnum } from '../api/generated/types';
import type { BulkKind } from './Bulk';

const STATES: Partial<Record<BulkKind, ProcessInstanceStateEnum[]>> = {
  retry: ['ACTIVE', 'SUSPENDED'],
  suspend: ['ACTIVE'],
  resume: ['SUSPENDED'],
  cancel: ['ACTIVE', 'SUSPENDED'],
  delete: ['COMPLETED', 'TERMINATED'],
  modify: ['ACTIVE'],
};
/** No key is this one: the filter matches nothing. */
const NOBODY = '1';

export function restricted(filter: ProcessInstanceFilter, kind: BulkKind, element = ''): ProcessInstanceFilter {
  const wanted = STATES[kind]!;
  const asked = filter.state;
  const isOut = typeof asked === 'string' && !wanted.includes(asked as ProcessInstanceStateEnum);
  if (isOut || (kind === 'retry' && filter.hasIncident === false)) return { ...filter, processInstanceKey: NOBODY };
  const state = typeof asked === 'string' ? asked : wanted.length === 1 ? wanted[0]! : { $in: wanted };
  const there = kind === 'modify' && element !== '' ? { elementId: element, elementInstanceState: 'ACTIVE' as const } : {};
  return { ...filter, state, ...(kind === 'retry' ? { hasIncident: true } : {}), ...there };
}
