// Addresses of the reference's pages, with their parameters, and what each shows here of six instances of two processes (with
// an incident, running, suspended, canceled; one calls another) and two evaluations. `docs/web-links.md` is made of it.

/** Lists by their names on pages. */
export const LISTS = { instances: 'Process instances', variables: 'Variables', called: 'Called instances', evaluations: 'Evaluations', batches: 'Batch operations', log: 'Operations log' };

/** Address, rows of its list, or what stands on its page. Rows count in the list of instances unless another is named. */
export const links = (keys) => [
  ['/operate/processes', 6],
  ['/operate/processes?active=true', 3],
  ['/operate/processes?incidents=true', 1],
  ['/operate/processes?active=true&incidents=true', 4],
  ['/operate/processes?active=true&incidents=true&suspended=true', 5],
  ['/operate/processes?suspended=true', 1],
  ['/operate/processes?completed=true', 0],
  ['/operate/processes?canceled=true', 1],
  ['/operate/processes?completed=true&canceled=true', 1],
  ['/operate/processes?active=true&incidents=true&completed=true&canceled=true&suspended=true', 6],
  ['/operate/processes?active=false&canceled=true', 1],
  ['/operate/processes?process=order', 5],
  ['/operate/processes?process=order&version=1', 1],
  ['/operate/processes?process=order&version=2&active=true', 2],
  ['/operate/processes?process=order&version=all&canceled=true', 1],
  ['/operate/processes?process=order&version=1&flowNodeId=pay&incidents=true', 1],
  ['/operate/processes?process=order&version=2&elementId=pay&active=true', 2],
  ['/operate/processes?process=nothing', 'No process has the ID nothing'],
  [`/operate/processes?ids=${keys.broken}`, 1],
  [`/operate/processes?ids=${keys.broken},${keys.active}`, 2],
  [`/operate/processes?ids=${keys.broken}%20${keys.active}%0A${keys.parent}`, 3],
  ['/operate/processes?ids=none', 6],
  [`/operate/processes?parentInstanceId=${keys.parent}`, 1],
  ['/operate/processes?errorMessage=no%20money', 1],
  ['/operate/processes?errorMessage=no%20luck', 0],
  [`/operate/processes?incidentErrorHashCode=${keys.hash}&incidents=true`, 1],
  ['/operate/processes?businessId=link-1', 1],
  ['/operate/processes?tags=red', 2],
  ['/operate/processes?tags=red,urgent', 1],
  ['/operate/processes?tenant=%3Cdefault%3E', 6],
  ['/operate/processes?tenant=nobody', 0],
  ['/operate/processes?retriesLeft=true', 0],
  [`/operate/processes?operationId=${keys.batch}`, 1],
  [`/operate/processes?batchOperationId=${keys.batch}`, 1],
  ['/operate/processes?startDateAfter=2020-01-01T00%3A00%3A00.000%2B0000', 6],
  ['/operate/processes?startDateAfter=2020-01-01T00:00:00Z&startDateBefore=2020-02-01T00:00:00Z', 0],
  ['/operate/processes?startDateBefore=2020-02-01T00:00:00Z', 0],
  ['/operate/processes?endDateAfter=2020-01-01T00:00:00Z', 1],
  ['/operate/processes?endDateBefore=2020-01-01T00:00:00Z', 0],
  ['/operate/processes?startDateAfter=soon', 6],
  ['/operate/processes?variableName=customer&variableValues=%22ann%22', 1],
  ['/operate/processes?variableName=amount&variableValues=7', 1],
  ['/operate/processes?var=customer:like:%22%2A%22', 3],
  ['/operate/processes?var=customer:eq:null', 1],
  ['/operate/processes?var=customer:exists:&var=amount:exists:', 2],
  ['/operate/processes?var=customer:exists:false', 2],
  ['/operate/processes?var=customer:exists:&var=amount:exists:false', 2],
  ['/operate/processes?or=businessId%3Dlink-1&or=suspended%3Dtrue', 2],
  ['/operate/processes?sort=startDate%2Bdesc', 6],
  ['/operate/processes?sort=processInstanceKey:asc', 6],
  ['/operate/processes?active=true&active=false', 3],
  ['/operate/processes?unknown=%3Cscript%3E', 6],
  ['/operate/instances?process=order&canceled=true', 1],
  [`/operate/instances/${keys.broken}`, 'business ID link-1'],
  [`/operate/processes/${keys.broken}`, 'business ID link-1'],
  [`/operate/processes/${keys.broken}/variables`, 2, LISTS.variables],
  [`/operate/processes/${keys.broken}/incidents`, 'no money'],
  [`/operate/processes/${keys.broken}/details`, 'Definition key'],
  [`/operate/processes/${keys.broken}/input-mappings?element=pay`, 'There are no input mappings'],
  [`/operate/processes/${keys.broken}/output-mappings?element=pay`, 'There are no output mappings'],
  [`/operate/processes/${keys.broken}/listeners`, 'No listener has run here.'],
  [`/operate/processes/${keys.broken}/operations-log`, 'Create process instance'],
  [`/operate/processes/${keys.broken}/instance-history`, 'so far'],
  [`/operate/processes/${keys.parent}/called`, 1, LISTS.called],
  [`/operate/processes/${keys.child}`, 'version 2'],
  [`/operate/processes/${keys.broken}/nothing`, 'business ID link-1'],
  ['/operate/processes/12', 'There is no such instance'],
  ['/operate/processes/abc', 'There is no such instance'],
  ['/operate', 'Processes with running instances'],
  ['/operate/decisions', 2, LISTS.evaluations],
  ['/operate/decisions?evaluated=true', 1, LISTS.evaluations],
  ['/operate/decisions?failed=true', 1, LISTS.evaluations],
  ['/operate/decisions?evaluated=true&failed=true', 2, LISTS.evaluations],
  ['/operate/decisions?name=rate&version=1', 2, LISTS.evaluations],
  ['/operate/decisions?decision=nothing', 'No decision has the ID nothing'],
  [`/operate/decisions?decisionInstanceIds=${keys.evaluation}`, 1, LISTS.evaluations],
  [`/operate/decisions?processInstanceId=${keys.broken}`, 'No evaluation matches.'],
  ['/operate/decisions?evaluationDateAfter=2020-01-01T00:00:00Z', 2, LISTS.evaluations],
  ['/operate/decisions?evaluationDateBefore=2020-01-01T00:00:00Z', 'No evaluation matches.'],
  ['/operate/decisions?tenant=nobody', 'No evaluation matches.'],
  [`/operate/decisions/${keys.evaluation}`, 'evaluated'],
  ['/operate/decisions/1-1', 'There is no such evaluation'],
  ['/operate/batch-operations', 1, LISTS.batches],
  [`/operate/batch-operations/${keys.batch}`, '1 done, 0 failed, 1 in all'],
  ['/operate/batch-operations/1', 'There is no such batch operation'],
  ['/operate/operations-log', 'Create'],
  ['/operate/operations-log?operationType=SUSPEND', 1, LISTS.log],
  ['/operate/login', 'Continue'],
  ['/operate/nothing', 'There is no such page'],
];

/** What an address shows, in words. */
const words = (expected, list = LISTS.instances) => (typeof expected === 'string' ? `“${expected}”` : `${list}: ${expected === 0 ? 'none' : expected}`);

/** The page of docs/ that has the table. */
export function page() {
  const names = { broken: 'KEY', active: 'KEY-2', parent: 'CALLER', child: 'CALLED', batch: 'BATCH', evaluation: 'EVALUATION', hash: 'HASH' };
  const rows = links(names).map(([path, ...shown]) => `| \`${path}\` | ${words(...shown)} |`);
  return `# Addresses

Addresses of the pages of [the web application](web.md) that the reference has, too, with their parameters, and the content
that each shows: rows of a list, or a text. The store has six instances of two processes (one with an incident, three that
run, one suspended, one canceled; one calls another) and two evaluations of a decision. The browser test \`links\` opens each
of the ${rows.length}; a unit test compares this page.

| address | shows |
|---|---|
${rows.join('\n')}
`;
}
