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
const none = (filter: ProcessInstanceFilter): ProcessInstanceFilter => ({ ...filter, processInstanceKey: NOBODY });

/** Instances in a state that the action is for. */
export function fitting(filter: ProcessInstanceFilter, kind: BulkKind, element = ''): ProcessInstanceFilter {
  const wanted = STATES[kind]!;
  const asked = typeof filter.state === 'string' ? [filter.state] : filter.state?.$in;
  const states = wanted.filter((state) => asked?.includes(state) ?? true);
  if (states.length === 0 || (kind === 'retry' && filter.hasIncident === false)) return none(filter);
  const state = states.length === 1 ? states[0]! : { $in: states };
  const there = kind === 'modify' && element !== '' ? { elementId: element, elementInstanceState: 'ACTIVE' as const } : {};
  return { ...filter, state, ...(kind === 'retry' ? { hasIncident: true } : {}), ...there };
}

/** Instances that the action changes: a called instance is canceled with its caller alone. */
export function changed(filter: ProcessInstanceFilter, kind: BulkKind, element = ''): ProcessInstanceFilter {
  const fits = fitting(filter, kind, element);
  if (kind !== 'cancel') return fits;
  return filter.parentProcessInstanceKey === undefined ? { ...fits, parentProcessInstanceKey: { $exists: false } } : none(fits);
}
