// Topics of `POST /baton/v1/changes` that a read depends on.

type Fields = Record<string, unknown>;
type Topics = readonly string[];

const isKey = (value: unknown): value is string => typeof value === 'string' && /^[1-9]\d{0,18}$/.test(value);
const instance = (key: unknown): Topics | undefined => (isKey(key) ? [`process-instance:${key}`] : undefined);
const definition = (key: unknown): Topics | undefined => (isKey(key) ? [`process-definition:${key}`] : undefined);
const batch = (key: unknown): Topics | undefined => (isKey(key) ? [`batch-operation:${key}`] : undefined);

/** Lists of the API that have a topic of their own name, or another one. */
const LISTS: Record<string, string> = {
  incidents: 'incidents',
  jobs: 'jobs',
  'user-tasks': 'user-tasks',
  variables: 'variables',
  'decision-instances': 'decision-instances',
  'message-subscriptions': 'messages',
  'correlated-message-subscriptions': 'messages',
  'process-definitions': 'process-definitions',
  'decision-definitions': 'decision-definitions',
  'batch-operations': 'batch-operations',
  'audit-logs': 'audit-log',
};
/** Kinds of Admin, each with a topic of its own name that covers the lists, the single ones and their members. */
const ADMINISTERED = ['users', 'groups', 'roles', 'tenants', 'mapping-rules', 'authorizations', 'cluster-variables', 'global-task-listeners'];

/** A list of instances changes with whatever its filter looks at; elements have no topic. */
function ofInstances(filter: Fields): Topics | undefined {
  if (filter['elementId'] !== undefined || filter['$or'] !== undefined) return undefined;
  const topics = ['process-instances'];
  if (filter['variables'] !== undefined) topics.push('variables');
  if (filter['errorMessage'] !== undefined || filter['incidentErrorHashCode'] !== undefined) topics.push('incidents');
  if (filter['hasRetriesLeft'] !== undefined) topics.push('jobs');
  const key = filter['batchOperationKey'];
  if (key === undefined) return topics;
  return isKey(key) ? [...topics, `batch-operation:${key}`] : undefined;
}

function ofSearch(list: string, filter: Fields): Topics | undefined {
  if (list === 'process-instances') return ofInstances(filter);
  if (list === 'batch-operation-items') return batch(filter['batchOperationKey']);
  return instance(filter['processInstanceKey']) ?? (list in LISTS ? [LISTS[list]!] : undefined);
}

/** The topics whose changes may change the answer; nothing where no topic covers it, so that it is asked again by time. */
export function topicsOf(path: string, inPath: unknown, body: unknown): Topics | undefined {
  const keys = (inPath ?? {}) as Fields;
  const filter = ((body as Fields | undefined)?.['filter'] ?? {}) as Fields;
  if (path.endsWith('/process-instances/count')) return ofInstances(filter);
  if (path.startsWith('/baton/')) return instance(keys['processInstanceKey']) ?? definition(keys['processDefinitionKey']);
  const [, , kind = '', second, ...rest] = path.split('/');
  if (ADMINISTERED.includes(kind)) return [kind, ...rest.filter((part) => ADMINISTERED.includes(part))];
  if (rest.at(-1) === 'process-instances-by-error') return ['incidents'];
  if (kind === 'process-definitions' && second === 'statistics') return ['process-instances', 'process-definitions'];
  if (second === 'search') return ofSearch(kind, filter);
  if (second === 'wait-states' && rest[0] === 'search') return instance(filter['processInstanceKey']);
  if (kind === 'process-instances' && keys['processInstanceKey'] !== undefined) {
    const own = instance(keys['processInstanceKey']);
    // Incidents of what it has called are those of other instances.
    return own && rest[0] === 'incidents' ? [...own, 'incidents'] : own;
  }
  if (kind === 'process-definitions') return definition(keys['processDefinitionKey']);
  if (kind === 'batch-operations') return batch(keys['batchOperationKey']);
  if (kind === 'user-tasks' && rest.length === 0) return ['user-tasks'];
  return undefined;
}

/** Topics that change with every second thing that happens. */
export const isBroad = (topic: string): boolean => !/^(process-instance|batch-operation):/.test(topic);
