// Queries of the example `queries` (crates/secondary/examples) as the pages ask them, with other values each time. Pages do
// not ask for the beginning of a business ID, so 24 of its 25 are here, and orders that are served by no index of theirs.

const LIST = '^/v2/process-instances/search$';
const ELEMENT_COUNTS = '/statistics/element-instances$';
const ROWS = 'main table tbody tr, main .empty';
const TREE = '[role=treegrid] [role=row]';
const processes = (query) => `/operate/processes?${new URLSearchParams(query)}`;
const ACTIVE = { active: 'true', incidents: 'true' };
const of = (list, round) => list[round % list.length];

/** Each with the address that asks it in a round, the request that answers it, and what shows the answer. */
export const questions = (store) => [
  { name: 'latest instances', href: () => processes({}), asks: LIST },
  { name: 'latest active instances', href: () => processes(ACTIVE), asks: LIST },
  { name: 'active instances of a process', href: (round) => processes({ ...ACTIVE, process: of(store.processes, round) }), asks: LIST },
  { name: 'instances with incidents', href: () => processes({ incidents: 'true' }), asks: LIST },
  { name: 'instances ended in a time', href: (round) => processes({ completed: 'true', ...ended(of(store.moments, round)), sort: 'endDate:desc' }), asks: LIST },
  { name: 'instances after a cursor', href: (round) => processes({ after: of(store.cursors, round) }), asks: LIST },
  { name: 'active instances of two processes by name', href: (round) => ofTwo(store, round), asks: LIST },
  { name: 'an instance by key', href: (round) => processes({ ids: of(store.ended, round) }), asks: LIST },
  { name: 'instances by business ID', href: (round) => processes({ businessId: of(store.open, round).businessId }), asks: LIST },
  { name: 'instances by the value of a variable', href: (round) => processes({ var: `orderId:eq:"${of(store.open, round + 1).businessId}"` }), asks: LIST },
  { name: 'called instances of an instance', href: (round) => processes({ parentInstanceId: of(store.parents, round) }), asks: LIST },
  { name: 'elements of an instance', href: (round) => `/operate/processes/${of(store.ended, round + 1)}`, asks: '^/baton/v1/element-instances/\\d+/children$', shown: TREE },
  { name: 'flows of an instance', href: (round) => `/operate/processes/${of(store.ended, round + 2)}`, asks: '/sequence-flows$', shown: TREE },
  { name: 'variables of an instance', href: (round) => `/operate/processes/${of(store.ended, round + 3)}/variables`, asks: '^/v2/variables/search$' },
  { name: 'jobs of an instance', href: (round) => `/operate/processes/${of(store.ended, round + 4)}/jobs`, asks: '^/v2/jobs/search$' },
  { name: 'latest open incidents', href: () => '/operate/incidents', asks: '^/v2/incidents/search$' },
  { name: 'incidents of an instance', href: (round) => `/operate/processes/${of(store.troubled, round)}/incidents`, asks: '/incidents/search$' },
  { name: 'open tasks', href: () => '/tasklist?filter=all-open', asks: '^/v2/user-tasks/search$', shown: '.task, .empty' },
  { name: 'open tasks of somebody', href: (round) => `/tasklist?filter=custom&assignee=${of(store.people, round)}`, asks: '^/v2/user-tasks/search$', shown: '.task, .empty' },
  { name: 'open tasks of a group', href: () => '/tasklist?filter=custom&candidateGroup=office', asks: '^/v2/user-tasks/search$', shown: '.task, .empty' },
  { name: 'latest versions of processes', href: () => '/operate/definitions', asks: '^/v2/process-definitions/search$' },
  { name: 'active elements of a process, counted', href: (round) => processes({ ...ACTIVE, process: of(store.processes, round + 1) }), asks: ELEMENT_COUNTS },
  { name: 'ended elements of a process, counted', href: (round) => processes({ process: of(store.processes, round + 2) }), asks: ELEMENT_COUNTS },
  { name: 'incidents by error, counted', href: () => '/operate', asks: '/process-instances-by-error$', shown: 'main li, main tbody tr, main p' },
].map((one) => ({ shown: ROWS, ...one }));

/** Orders of the list that a click into its head gives, of all instances. */
export const orders = () =>
  ['startDate:asc', 'endDate:desc', 'processDefinitionName:asc', 'state:asc', 'processInstanceKey:desc', 'businessId:asc', 'processDefinitionVersion:desc'].map((sort) => ({
    name: `all instances, ${sort}`,
    href: () => processes({ sort }),
    asks: LIST,
    shown: ROWS,
  }));

function ended(moment) {
  const SPAN_MS = 10_000;
  return { endDateAfter: moment, endDateBefore: new Date(Date.parse(moment) + SPAN_MS).toISOString() };
}

function ofTwo(store, round) {
  const query = new URLSearchParams({ ...ACTIVE, sort: 'processDefinitionName:desc' });
  for (const process of [of(store.processes, round), of(store.processes, round + 1)]) query.append('or', `process=${process}`);
  return `/operate/processes?${query}`;
}
