// The filter of the list of instances: the URL, in the reference's parameters, is all of its state.
import type { ProcessInstanceFilter, ProcessInstanceFilterFields } from '../api/generated/types';

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
  variables: VariableCondition[];
}

export const STATES = ['active', 'incidents', 'suspended', 'completed', 'canceled'] as const;
export type StateName = (typeof STATES)[number];
const OPERATORS = ['eq', 'neq', 'like', 'exists'] as const;
const INT_MAX = 2 ** 31 - 1;

const integer = (text: string | null): number | undefined => {
  const value = Number(text);
  return text && Number.isInteger(value) && Math.abs(value) <= INT_MAX ? value : undefined;
};
const moment = (text: string | null): string | undefined => {
  const value = text ? Date.parse(text) : Number.NaN;
  return Number.isNaN(value) ? undefined : new Date(value).toISOString();
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

/** Reads the filter. Parameters that make no sense are as if they were not there. */
export function parse(url: URLSearchParams): Filter {
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
    startAfter: moment(url.get('startDateAfter')),
    startBefore: moment(url.get('startDateBefore')),
    endAfter: moment(url.get('endDateAfter')),
    endBefore: moment(url.get('endDateBefore')),
    tenant: text('tenant'),
    variables,
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
  for (const one of filter.variables) url.append('var', variableText(one));
  return url;
}

const STATE_CONDITIONS: Record<StateName, ProcessInstanceFilterFields> = {
  active: { state: 'ACTIVE', hasIncident: false },
  incidents: { state: 'ACTIVE', hasIncident: true },
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

/** The filter of the API. Without `withProcess` the process is left out, as the counts of one definition want it. */
export function toApi(filter: Filter, withProcess = true): ProcessInstanceFilter {
  const states = STATES.filter((state) => filter.states.has(state));
  const api: ProcessInstanceFilter = {};
  if (states.length === 1) Object.assign(api, STATE_CONDITIONS[states[0]!]);
  else if (states.length === 2 && filter.states.has('active') && filter.states.has('incidents')) api.state = 'ACTIVE';
  else if (states.length > 1 && states.length < STATES.length) api.$or = states.map((state) => STATE_CONDITIONS[state]);
  const found: ProcessInstanceFilter = {
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
    variables: filter.variables.length > 0 ? filter.variables.map(variableFilter) : undefined,
  };
  // An element that is chosen in the diagram is one where something is, not where it once was.
  if (filter.element && states.length > 0 && states.every((state) => state === 'active' || state === 'incidents')) {
    found.elementInstanceState = 'ACTIVE';
  }
  for (const [name, value] of Object.entries(found)) if (value !== undefined) Object.assign(api, { [name]: value });
  return api;
}
