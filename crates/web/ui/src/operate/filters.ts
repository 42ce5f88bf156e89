// The filter of the list of instances: the URL, in the reference's parameters, is all of its state.
import type { ProcessInstanceFilter, ProcessInstanceFilterFields } from '../api/generated/types';
import { t } from '../language';
import { momentOf } from '../ui/times';

/** A condition on a variable; `value` is JSON text unless the operator takes none or a text. */
export interface VariableCondition {
  name: string;
  operator: 'eq' | 'neq' | 'like' | 'exists';
  value: string;
}

export interface Filter {
  process?: string | undefined;
  version?: number | undefined;
  element?: string | undefined;
  states: ReadonlySet<StateName>;
  keys: string[];
  parentKey?: string | undefined;
  businessId?: string | undefined;
  errorMessage?: string | undefined;
  errorHash?: number | undefined;
  batch?: string | undefined;
  retriesLeft: boolean;
  startAfter?: string | undefined;
  startBefore?: string | undefined;
  endAfter?: string | undefined;
  endBefore?: string | undefined;
  tenant?: string | undefined;
  tags: string[];
  variables: VariableCondition[];
  /** Alternatives: at least one of them holds, too. They have none of their own. */
  or: Filter[];
}

export const STATES = ['active', 'incidents', 'suspended', 'completed', 'canceled'] as const;
export type StateName = (typeof STATES)[number];
export const OPERATORS = ['eq', 'neq', 'like', 'exists'] as const;
/** With states they are multiplied, and the server takes no request of any size. */
export const ALTERNATIVES_MAX = 20;
const INT_MAX = 2 ** 31 - 1;

const integer = (text: string | null): number | undefined => {
  const value = Number(text);
  return text && Number.isInteger(value) && Math.abs(value) <= INT_MAX ? value : undefined;
};
/** Keys as people paste them: with commas, spaces or lines between. What is no key is dropped. */
export const keysOf = (text: string | null): string[] => [...new Set((text ?? '').split(/[\s,;]+/).filter((one) => /^\d{1,19}$/.test(one)))];

function variableOf(text: string): VariableCondition | undefined {
  const [name, operator, ...rest] = text.split(':');
  const known = OPERATORS.find((one) => one === operator);
  return name && known ? { name: decodeURIComponent(name), operator: known, value: rest.join(':') } : undefined;
}

const variableText = ({ name, operator, value }: VariableCondition): string =>
  `${name.replaceAll('%', '%25').replaceAll(':', '%3A')}:${operator}:${value}`;

/** Tags with commas between. */
export const tagsOf = (text: string | null): string[] => [...new Set((text ?? '').split(/[\s,]+/).filter(Boolean))];

/** Reads the filter. Parameters that make no sense are as if they were not there. */
export function parse(url: URLSearchParams, isAlternative = false): Filter {
  const text = (...names: string[]) => names.map((name) => url.get(name)).find((value) => value) ?? undefined;
  const variables = url.getAll('var').flatMap((one) => {
    try {
      return variableOf(one) ?? [];
    } catch {
      return [];
    }
  });
  const [name, value] = [text('variableName'), text('variableValues', 'variableValue')];
  if (name && value !== undefined) variables.push({ name, operator: 'eq', value });
  return {
    process: text('process'),
    version: integer(url.get('version')),
    element: text('elementId', 'flowNodeId'),
    states: new Set(STATES.filter((state) => url.get(state) === 'true')),
    keys: keysOf(url.get('ids')),
    parentKey: keysOf(url.get('parentInstanceId'))[0],
    businessId: text('businessId'),
    errorMessage: text('errorMessage'),
    errorHash: integer(url.get('incidentErrorHashCode')),
    batch: text('batchOperationId', 'operationId'),
    retriesLeft: url.get('retriesLeft') === 'true',
    startAfter: momentOf(url.get('startDateAfter')),
    startBefore: momentOf(url.get('startDateBefore')),
    endAfter: momentOf(url.get('endDateAfter')),
    endBefore: momentOf(url.get('endDateBefore')),
    tenant: text('tenant'),
    tags: tagsOf(url.get('tags')),
    variables,
    or: isAlternative ? [] : url.getAll('or').slice(0, ALTERNATIVES_MAX).map((one) => parse(new URLSearchParams(one), true)).filter((one) => write(one).size > 0),
  };
}

/** The parameters of a filter. */
export function write(filter: Filter): URLSearchParams {
  const url = new URLSearchParams();
  const put = (name: string, value: string | number | undefined) => {
    if (value !== undefined && value !== '') url.set(name, String(value));
  };
  put('process', filter.process);
  put('version', filter.version);
  put('elementId', filter.element);
  for (const state of STATES) if (filter.states.has(state)) put(state, 'true');
  put('ids', filter.keys.join(','));
  put('parentInstanceId', filter.parentKey);
  put('businessId', filter.businessId);
  put('errorMessage', filter.errorMessage);
  put('incidentErrorHashCode', filter.errorHash);
  put('batchOperationId', filter.batch);
  put('retriesLeft', filter.retriesLeft ? 'true' : undefined);
  put('startDateAfter', filter.startAfter);
  put('startDateBefore', filter.startBefore);
  put('endDateAfter', filter.endAfter);
  put('endDateBefore', filter.endBefore);
  put('tenant', filter.tenant);
  put('tags', filter.tags.join(','));
  for (const one of filter.variables) url.append('var', variableText(one));
  for (const one of filter.or) url.append('or', write(one).toString());
  return url;
}

/** Instances that have not ended, as a condition and as an address. Numbers of running instances count these, too. */
export const RUNNING = { state: { $in: ['ACTIVE', 'SUSPENDED'] } } satisfies ProcessInstanceFilterFields;
export const RUNNING_QUERY = 'active=true&incidents=true&suspended=true';
/** Of these, the ones with open incidents. */
export const BROKEN = { ...RUNNING, hasIncident: true } satisfies ProcessInstanceFilterFields;

const RUNNING_STATES: readonly StateName[] = ['active', 'incidents', 'suspended'];
const STATE_CONDITIONS: Record<StateName, ProcessInstanceFilterFields> = {
  active: { state: 'ACTIVE', hasIncident: false },
  incidents: BROKEN,
  suspended: { state: 'SUSPENDED' },
  completed: { state: 'COMPLETED' },
  canceled: { state: 'TERMINATED' },
};

const between = (after: string | undefined, before: string | undefined) =>
  after || before ? { ...(after ? { $gte: after } : {}), ...(before ? { $lte: before } : {}) } : undefined;

function variableFilter({ name, operator, value }: VariableCondition) {
  const of = { eq: { $eq: value }, neq: { $neq: value }, like: { $like: value }, exists: { $exists: value !== 'false' } };
  return { name, value: of[operator] };
}

/** The conditions on states: one of them holds, or anything if there is none. */
function stateConditions(filter: Filter): ProcessInstanceFilterFields[] {
  const states = STATES.filter((state) => filter.states.has(state));
  if (states.length === STATES.length) return [];
  if (states.join() === RUNNING_STATES.join()) return [RUNNING];
  return states.map((state) => STATE_CONDITIONS[state]);
}

/** All conditions but those on states. */
function fields(filter: Filter, withProcess: boolean): ProcessInstanceFilterFields {
  const found: ProcessInstanceFilterFields = {
    processDefinitionId: withProcess ? filter.process : undefined,
    processDefinitionVersion: withProcess && filter.process ? filter.version : undefined,
    elementId: filter.element,
    processInstanceKey: filter.keys.length > 1 ? { $in: filter.keys } : filter.keys[0],
    parentProcessInstanceKey: filter.parentKey,
    businessId: filter.businessId,
    errorMessage: filter.errorMessage,
    incidentErrorHashCode: filter.errorHash,
    batchOperationKey: filter.batch,
    hasRetriesLeft: filter.retriesLeft ? true : undefined,
    startDate: between(filter.startAfter, filter.startBefore),
    endDate: between(filter.endAfter, filter.endBefore),
    tenantId: filter.tenant,
    tags: filter.tags.length > 0 ? filter.tags : undefined,
    variables: filter.variables.length > 0 ? filter.variables.map(variableFilter) : undefined,
  };
  // An element that is chosen in the diagram is one where something is, not where it once was.
  if (filter.element && filter.states.size > 0 && [...filter.states].every((state) => RUNNING_STATES.includes(state))) {
    found.elementInstanceState = 'ACTIVE';
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as ProcessInstanceFilterFields;
}

/** Each of the one with each of the other; nothing with something is the something. */
const products = (ones: ProcessInstanceFilterFields[], others: ProcessInstanceFilterFields[]): ProcessInstanceFilterFields[] =>
  ones.length === 0 ? others : others.length === 0 ? ones : ones.flatMap((one) => others.map((other) => ({ ...one, ...other })));

/** The filter of the API. Without `withProcess` the process is left out, as the counts of one definition want it. */
export function toApi(filter: Filter, withProcess = true): ProcessInstanceFilter {
  const states = stateConditions(filter);
  const alternatives = filter.or.flatMap((one) => products(stateConditions(one), [fields(one, withProcess)]));
  const api: ProcessInstanceFilter = states.length === 1 ? { ...states[0] } : {};
  const or = products(states.length > 1 ? states : [], alternatives);
  if (or.length > 0) api.$or = or;
  return { ...api, ...fields(filter, withProcess) };
}

export const VALUE_TYPES = ['text', 'number', 'true or false', 'null', 'JSON'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

/** The type of a condition's value, and the value as people type it. */
export function typedOf({ operator, value }: VariableCondition): { type: ValueType; text: string } {
  if (operator === 'like') return /^".*"$/s.test(value) ? { type: 'text', text: value.slice(1, -1) } : { type: 'JSON', text: value };
  if (value === 'true' || value === 'false') return { type: 'true or false', text: value };
  if (value === 'null') return { type: 'null', text: '' };
  if (/^-?\d/.test(value)) return { type: 'number', text: value };
  try {
    const found: unknown = JSON.parse(value);
    return typeof found === 'string' ? { type: 'text', text: found } : { type: 'JSON', text: value };
  } catch {
    return { type: 'JSON', text: value };
  }
}

/** The value of a condition, or why there is none. A number keeps every digit. */
export function valueOf(operator: VariableCondition['operator'], type: ValueType, text: string): { value: string } | { problem: string } {
  if (operator === 'exists') return { value: text === 'false' ? 'false' : '' };
  if (operator === 'like') return { value: type === 'text' ? `"${text}"` : text };
  switch (type) {
    case 'text':
      return { value: JSON.stringify(text) };
    case 'number':
      return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text.trim()) ? { value: text.trim() } : { problem: t('lists.problem.number') };
    case 'true or false':
      return text === 'true' || text === 'false' ? { value: text } : { problem: t('lists.problem.boolean') };
    case 'null':
      return { value: 'null' };
    case 'JSON':
      try {
        JSON.parse(text);
        return { value: text };
      } catch (error) {
        return { problem: t('lists.problem.json', { reason: error instanceof Error ? error.message : String(error) }) };
      }
  }
}
