// The logic of following: topics of reads, floors of hints, pauses after failures, what stands in the way.
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { startSources } from '../sources.mjs';

let vite;
const modules = {};
let operations;
before(async () => {
  vite = await startSources();
  for (const name of ['topics', 'floor', 'state']) modules[name] = await vite.ssrLoadModule(`/src/live/${name}.ts`);
  operations = await vite.ssrLoadModule('/src/api/generated/operations.ts');
});
after(() => vite?.close());

test('a read has the topics that its answer depends on, or none where none covers it', () => {
  const cases = [
    ['getProcessInstance', { processInstanceKey: '7' }, undefined, ['process-instance:7']],
    ['getProcessInstanceStatistics', { processInstanceKey: '7' }, undefined, ['process-instance:7']],
    ['searchProcessInstanceIncidents', { processInstanceKey: '7' }, {}, ['process-instance:7', 'incidents']],
    ['searchProcessInstances', undefined, { filter: { state: 'ACTIVE' } }, ['process-instances']],
    ['searchProcessInstances', undefined, { filter: { variables: [], errorMessage: 'x' } }, ['process-instances', 'variables', 'incidents']],
    ['searchProcessInstances', undefined, { filter: { batchOperationKey: '5' } }, ['process-instances', 'batch-operation:5']],
    ['searchProcessInstances', undefined, { filter: { elementId: 'a' } }, undefined],
    ['searchProcessInstances', undefined, { filter: { $or: [{}] } }, undefined],
    ['searchJobs', undefined, { filter: { processInstanceKey: '7' } }, ['process-instance:7']],
    ['searchJobs', undefined, {}, ['jobs']],
    ['searchElementInstances', undefined, {}, undefined],
    ['searchElementInstanceWaitStates', undefined, { filter: { processInstanceKey: '7' } }, ['process-instance:7']],
    ['getProcessDefinitionStatistics', { processDefinitionKey: '3' }, {}, ['process-definition:3']],
    ['getProcessDefinitionInstanceStatistics', undefined, {}, ['process-instances', 'process-definitions']],
    ['searchProcessDefinitions', undefined, {}, ['process-definitions']],
    ['getProcessInstanceStatisticsByError', undefined, {}, ['incidents']],
    ['getBatchOperation', { batchOperationKey: '5' }, undefined, ['batch-operation:5']],
    ['getBatchOperation', { batchOperationKey: 'nonsense' }, undefined, undefined],
    ['searchBatchOperationItems', undefined, { filter: { batchOperationKey: '5' } }, ['batch-operation:5']],
    ['getUserTask', { userTaskKey: '5' }, undefined, ['user-tasks']],
    ['countProcessInstances', undefined, { filter: { state: 'ACTIVE' } }, ['process-instances']],
    ['getProcessInstanceExplanation', { processInstanceKey: '7' }, undefined, ['process-instance:7']],
    ['getProcessDefinitionDurations', { processDefinitionKey: '3' }, {}, ['process-definition:3']],
    ['searchUsers', undefined, {}, ['users']],
    ['searchMappingRulesForRole', { roleId: 'r' }, {}, ['roles', 'mapping-rules']],
    ['searchClientsForGroup', { groupId: 'g' }, {}, ['groups']],
    ['getTenant', { tenantId: 't' }, undefined, ['tenants']],
    ['searchClusterVariables', undefined, {}, ['cluster-variables']],
    ['getTopology', undefined, undefined, undefined],
  ];
  for (const [id, inPath, body, expected] of cases) assert.deepEqual(modules.topics.topicsOf(operations[id].topics, inPath, body), expected, id);
});

test('operations say whether they change something, and what a read follows', () => {
  const all = Object.values(operations);
  assert.ok(all.length > 200);
  for (const { path, kind, topics } of all) assert.equal(typeof topics, kind === 'change' ? 'undefined' : 'string', path);
  const { activateJobs, awaitChanges, checkPermissions, evaluateExpression, getProcessDefinitionDurations, searchJobs, searchUsers } = operations;
  // The engine answers a search for users: it does not show that the store is back.
  for (const one of [awaitChanges, checkPermissions, evaluateExpression, searchUsers]) assert.equal(one.kind, 'read', one.path);
  for (const one of [getProcessDefinitionDurations, searchJobs]) assert.equal(one.kind, 'search', one.path);
  assert.equal(activateJobs.kind, 'change');
});

test('hints pass at once and then at most once per floor, and the last one is never lost', () => {
  let now = 10_000;
  const later = [];
  const passed = [];
  const clock = { now: () => now, later: (work, ms) => later.push({ at: now + ms, work }) };
  const go = (ms) => {
    now += ms;
    for (const one of later.splice(0)) (one.at <= now ? one.work() : later.push(one));
  };
  const apply = modules.floor.floored((topics) => passed.push([now, ...topics].join()), modules.topics.isBroad, clock);
  apply(['jobs', 'process-instance:1']);
  go(100);
  apply(['jobs', 'process-instance:1']);
  apply(['jobs']);
  go(400);
  go(1500);
  go(5000);
  apply(['jobs']);
  assert.deepEqual(passed, ['10000,jobs,process-instance:1', '10500,process-instance:1', '12000,jobs', '17000,jobs']);
});

test('pauses after failures grow to a limit, half of them by chance', () => {
  const { pauseAfter } = modules.floor;
  assert.deepEqual([0, 1, 2].map((failures) => pauseAfter(failures, 1)), [500, 1000, 2000]);
  assert.deepEqual([pauseAfter(0, 0), pauseAfter(50, 1), pauseAfter(50, 0)], [250, 15_000, 7500]);
});

test('what stands in the way is known by the answer', () => {
  const of = (more) => modules.state.hindranceOf({ isSearch: true, isCommand: false, status: 200, code: undefined, lag: null, ...more });
  assert.equal(of({}), undefined);
  assert.equal(of({ lag: '3' }), 'behind');
  for (const [status, code, expected] of [
    [403, 'FORBIDDEN', undefined],
    [403, 'NO_SECONDARY_STORAGE', 'none'],
    [503, 'RESOURCE_EXHAUSTED', 'busy'],
    [503, 'DISK_FULL', 'diskFull'],
    [503, 'STORAGE_UNAVAILABLE', 'storeAway'],
    [503, 'DOCUMENTS_UNAVAILABLE', undefined],
    [503, 'UNAVAILABLE', 'serverAway'],
    [503, undefined, 'serverAway'],
    [504, 'STORAGE_BEHIND', 'behind'],
    [504, 'STORAGE_TOO_SLOW', 'behind'],
    [504, 'DEADLINE_EXCEEDED', undefined],
    [500, undefined, undefined],
  ]) {
    assert.equal(of({ status, code }), expected, `${status} ${code}`);
  }
  assert.equal(of({ status: 504, code: 'STORAGE_BEHIND', isSearch: false, isCommand: true }), undefined);
  assert.equal(of({ status: 0 }), 'serverAway');
});

test('what stands in the way is said until a later question shows that it is over, and long enough to be read', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { hindrance, note } = modules.state;
  const told = (more) => note({ askedAt: performance.now(), isSearch: true, isCommand: false, status: 200, code: undefined, lag: null, ...more });
  const earlier = performance.now();
  try {
    told({ lag: '3100' });
    told({ askedAt: earlier });
    mock.timers.tick(10_000);
    assert.equal(hindrance(), 'behind', 'a question from before shows nothing');
    told({});
    assert.equal(hindrance(), 'behind', 'it can be read');
    told({ status: 503, code: 'STORAGE_UNAVAILABLE' });
    mock.timers.tick(10_000);
    assert.equal(hindrance(), 'storeAway', 'it was told again');
    told({ isSearch: false, isCommand: true });
    mock.timers.tick(10_000);
    assert.equal(hindrance(), 'storeAway', 'a command does not ask the store');
    told({});
    mock.timers.tick(10_000);
    assert.equal(hindrance(), undefined);
  } finally {
    mock.timers.reset();
  }
});

test('what no hint tells of is asked for less often while it stays the same, and as often as before once it changes', () => {
  const same = { items: [{ count: 1 }], page: {} };
  const read = { state: { data: same, dataUpdatedAt: 1 } };
  const after = (data) => {
    read.state = { data, dataUpdatedAt: read.state.dataUpdatedAt + 1 };
    return modules.state.slowing(read);
  };
  assert.equal(modules.state.slowing(read), 5000);
  assert.equal(modules.state.slowing(read), 5000, 'the same answer, looked at again');
  assert.deepEqual([same, structuredClone(same), structuredClone(same), same, same].map(after), [10_000, 20_000, 40_000, 40_000, 40_000]);
  assert.equal(after({}), 5000);
  assert.equal(modules.state.slowing({ state: { data: same, dataUpdatedAt: 9 } }), 5000, 'each read has its own pause');
});
