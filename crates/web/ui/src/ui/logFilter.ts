// Words and times of an operations log, for the filters of its pages.
import type { AuditLogFilter, AuditLogOperationTypeEnum, AuditLogResultEnum } from '../api/generated/types';

export const OPERATIONS: readonly AuditLogOperationTypeEnum[] = ['ASSIGN', 'CANCEL', 'COMPLETE', 'CREATE', 'DELETE', 'EVALUATE', 'MIGRATE', 'MODIFY', 'RESOLVE', 'RESUME', 'SUSPEND', 'UNASSIGN', 'UPDATE'];
export const RESULTS: readonly AuditLogResultEnum[] = ['SUCCESS', 'FAIL'];

/** A moment of a field or an address, as the API takes it. */
export const moment = (text: string | undefined): string | undefined => (text && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : undefined);

/** The part of a filter between two moments. */
export function between(from: string | undefined, to: string | undefined): AuditLogFilter {
  const [$gte, $lte] = [moment(from), moment(to)];
  return $gte || $lte ? { timestamp: { ...($gte ? { $gte } : {}), ...($lte ? { $lte } : {}) } } : {};
}
