// The filter of an operations log, as an address has it and as the API takes it.
import type { AuditLogCategoryEnum, AuditLogEntityTypeEnum, AuditLogFilter, AuditLogOperationTypeEnum, AuditLogResultEnum } from '../api/generated/types';
import { momentOf } from '../ui/times';

export const OPERATIONS: readonly AuditLogOperationTypeEnum[] = ['ASSIGN', 'CANCEL', 'COMPLETE', 'CREATE', 'DELETE', 'EVALUATE', 'MIGRATE', 'MODIFY', 'RESOLVE', 'RESUME', 'SUSPEND', 'UNASSIGN', 'UPDATE'];
export const ENTITIES: readonly AuditLogEntityTypeEnum[] = ['AUTHORIZATION', 'BATCH', 'CLIENT', 'DECISION', 'GROUP', 'INCIDENT', 'JOB', 'MAPPING_RULE', 'PROCESS_INSTANCE', 'RESOURCE', 'ROLE', 'TENANT', 'USER', 'USER_TASK', 'VARIABLE'];
export const CATEGORIES: readonly AuditLogCategoryEnum[] = ['ADMIN', 'DEPLOYED_RESOURCES', 'USER_TASKS'];
const RESULTS: readonly AuditLogResultEnum[] = ['SUCCESS', 'FAIL'];

export type LogQuery = Partial<Record<'operationType' | 'entityType' | 'category' | 'result' | 'actor' | 'key' | 'processInstance' | 'from' | 'to', string>>;

const known = <Value extends string>(all: readonly Value[], text: string | undefined) => all.find((one) => one === text);

/** The filter of an address; values that a filter does not have are left out. */
export function toApi(query: LogQuery): AuditLogFilter {
  const found = {
    operationType: known(OPERATIONS, query.operationType),
    entityType: known(ENTITIES, query.entityType),
    category: known(CATEGORIES, query.category),
    result: known(RESULTS, query.result),
    actorId: query.actor || undefined,
    entityKey: query.key || undefined,
    processInstanceKey: query.processInstance && /^\d{1,19}$/.test(query.processInstance) ? query.processInstance : undefined,
  };
  const [$gte, $lte] = [momentOf(query.from), momentOf(query.to)];
  return {
    ...(Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as AuditLogFilter),
    ...($gte || $lte ? { timestamp: { ...($gte ? { $gte } : {}), ...($lte ? { $lte } : {}) } } : {}),
  };
}
