// Topics of `POST /baton/v1/changes` that a read depends on: the contract names them, the question has their keys.

type Fields = Record<string, unknown>;
type Topics = readonly string[];

const isKey = (value: unknown): value is string => typeof value === 'string' && /^[1-9]\d{0,18}$/.test(value);

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

/** Fills in keys; nothing if one of them is none. */
function filled(topics: string, keys: Fields, filter: Fields): Topics | undefined {
  let isWhole = topics !== '';
  const text = topics.replace(/\{(filter\.)?(\w+)\}/g, (_, ofFilter: string | undefined, name: string) => {
    const key = (ofFilter ? filter : keys)[name];
    isWhole &&= isKey(key);
    return String(key);
  });
  return isWhole ? text.split(' ') : undefined;
}

/**
 * The topics whose changes may change the answer; nothing where no topic covers it, so that it is asked again by time.
 * `topics`: those of the operation.
 */
export function topicsOf(topics: string, inPath: unknown, body: unknown): Topics | undefined {
  const filter = ((body as Fields | undefined)?.['filter'] ?? {}) as Fields;
  if (topics === 'instances') return ofInstances(filter);
  for (const some of topics.split(' | ')) {
    const found = filled(some, (inPath ?? {}) as Fields, filter);
    if (found) return found;
  }
  return undefined;
}

/** Topics that change with every second thing that happens. */
export const isBroad = (topic: string): boolean => !/^(process-instance|batch-operation):/.test(topic);
