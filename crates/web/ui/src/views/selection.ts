// The part of a list that is taken along.
import type { Asked } from '../api/http';
import type { Taken } from './CopyDialog';

/** The property that tells rows apart, by the list of the API. */
const KEYS: Record<string, string> = {
  'audit-logs': 'auditLogKey',
  authorizations: 'authorizationKey',
  'batch-operation-items': 'itemKey',
  'batch-operations': 'batchOperationKey',
  'cluster-variables': 'name',
  'correlated-message-subscriptions': 'messageKey',
  'decision-definitions': 'decisionDefinitionKey',
  'decision-instances': 'decisionEvaluationInstanceKey',
  'element-instances': 'elementInstanceKey',
  'global-task-listeners': 'id',
  groups: 'groupId',
  incidents: 'incidentKey',
  jobs: 'jobKey',
  'mapping-rules': 'mappingRuleId',
  'message-subscriptions': 'messageSubscriptionKey',
  'process-definitions': 'processDefinitionKey',
  'process-instances': 'processInstanceKey',
  roles: 'roleId',
  tenants: 'tenantId',
  'user-tasks': 'userTaskKey',
  users: 'username',
  variables: 'variableKey',
};

const keyOf = (path: string): string | undefined => {
  const parts = path.replace(/\?.*$/, '').split('/');
  return parts.at(-1) === 'search' ? KEYS[parts.at(-2) ?? ''] : undefined;
};

/** Rows with the request that finds them; with chosen ones, the request that finds those alone. */
export function selectionOf(asked: Asked, shown: readonly unknown[], chosen: readonly unknown[]): Taken {
  const key = keyOf(asked.path);
  const rows = chosen.length > 0 ? chosen : shown;
  const keys = key === undefined ? [] : rows.map((row) => String((row as Record<string, unknown>)[key]));
  if (chosen.length === 0 || key === undefined) return { asked: [asked], rows, keys };
  const { sort } = JSON.parse(String(asked.body)) as { sort?: unknown };
  const body = JSON.stringify({ filter: { [key]: { $in: keys } }, ...(sort === undefined ? {} : { sort }), page: { limit: keys.length } });
  return { asked: [{ ...asked, body }], rows, keys };
}
