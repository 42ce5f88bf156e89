// The logic of following: topics of reads, floors of hints, pauses after failures, what stands in the way.
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { startSources } from '../sources.mjs';

let vite;
const modules = {};
before(async () => {
  vite = await startSources();
  for (const name of ['topics', 'floor', 'state']) modules[name] = await vite.ssrLoadModule(`/src/live/${name}.ts`);
});
after(() => vite?.close());

test('a read has the topics that its answer depends on, or none where none covers it', () => {
  const cases = [
    ['/v2/process-instances/{processInstanceKey}', { processInstanceKey: '7' }, undefined, ['process-instance:7']],
    ['/v2/process-instances/{processInstanceKey}/statistics/element-instances', { processInstanceKey: '7' }, undefined, ['process-instance:7']],
    ['/v2/process-instances/{processInstanceKey}/incidents/search', { processInstanceKey: '7' }, {}, ['process-instance:7', 'incidents']],
    ['/v2/process-instances/search', undefined, { filter: { state: 'ACTIVE' } }, ['process-instances']],
    ['/v2/process-instances/search', undefined, { filter: { variables: [], errorMessage: 'x' } }, ['process-instances', 'variables', 'incidents']],
    ['/v2/process-instances/search', undefined, { filter: { batchOperationKey: '5' } }, ['process-instances', 'batch-operation:5']],
    ['/v2/process-instances/search', undefined, { filter: { elementId: 'a' } }, undefined],
    ['/v2/process-instances/search', undefined, { filter: { $or: [{}] } }, undefined],
    ['/v2/jobs/search', undefined, { filter: { processInstanceKey: '7' } }, ['process-instance:7']],
    ['/v2/jobs/search', undefined, {}, ['jobs']],
    ['/v2/element-instances/search', undefined, {}, undefined],
    ['/v2/element-instances/wait-states/search', undefined, { filter: { processInstanceKey: '7' } }, ['process-instance:7']],
    ['/v2/process-definitions/{processDefinitionKey}/statistics/element-instances', { processDefinitionKey: '3' }, {}, ['process-definition:3']],
    ['/v2/process-definitions/statistics/process-instances', undefined, {}, ['process-instances', 'process-definitions']],
    ['/v2/process-definitions/search', undefined, {}, ['process-definitions']],
    ['/v2/incidents/statistics/process-instances-by-error', undefined, {}, ['incidents']],
    ['/v2/batch-operations/{batchOperationKey}', { batchOperationKey: '5' }, undefined, ['batch-operation:5']],
    ['/v2/batch-operations/{batchOperationKey}', { batchOperationKey: 'nonsense' }, undefined, undefined],
    ['/v2/batch-operation-items/search', undefined, { filter: { batchOperationKey: '5' } }, ['batch-operation:5']],
    ['/v2/user-tasks/{userTaskKey}', { userTaskKey: '5' }, undefined, ['user-tasks']],
    ['/baton/v1/process-instances/count', undefined, { filter: { state: 'ACTIVE' } }, ['process-instances']],
    ['/baton/v1/process-instances/{processInstanceKey}/explanation', { processInstanceKey: '7' }, undefined, ['process-instance:7']],
    ['/baton/v1/process-definitions/{processDefinitionKey}/durations', { processDefinitionKey: '3' }, {}, ['process-definition:3']],
    ['/v2/users/search', undefined, {}, ['users']],
    ['/v2/roles/{roleId}/mapping-rules/search', { roleId: 'r' }, {}, ['roles', 'mapping-rules']],
    ['/v2/groups/{groupId}/clients/search', { groupId: 'g' }, {}, ['groups']],
    ['/v2/tenants/{tenantId}', { tenantId: 't' }, undefined, ['tenants']],
    ['/v2/cluster-variables/search', undefined, {}, ['cluster-variables']],
    ['/v2/topology', undefined, undefined, undefined],
  ];
  for (const [path, inPath, body, expected] of cases) assert.deepEqual(modules.topics.topicsOf(path, inPath, body), expected, path);
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
  const of = (more) => modules.state.hindranceOf({ isSearch: true, isCommand: false, status: 200, title: '', detail: '', lag: null, ...more });
  assert.equal(of({}), undefined);
  assert.equal(of({ lag: '3' }), 'behind');
  assert.equal(of({ status: 504 }), 'behind');
  assert.equal(of({ status: 504, isSearch: false, isCommand: true }), undefined);
  assert.equal(of({ status: 403, detail: 'the permission READ is missing' }), undefined);
  assert.equal(of({ status: 403, detail: 'this operation needs secondary storage, and none is configured' }), 'none');
  assert.equal(of({ status: 503, title: 'RESOURCE_EXHAUSTED', detail: 'busy' }), 'busy');
  assert.equal(of({ status: 503, title: 'UNAVAILABLE', detail: 'secondary storage cannot answer now' }), 'storeAway');
  assert.equal(of({ status: 0 }), 'serverAway');
});

test('what stands in the way is said until a later question shows that it is over, and long enough to be read', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { hindrance, note } = modules.state;
  const told = (more) => note({ askedAt: performance.now(), isSearch: true, isCommand: false, status: 200, title: '', detail: '', lag: null, ...more });
  const earlier = performance.now();
  try {
    told({ lag: '3100' });
    told({ askedAt: earlier });
    mock.timers.tick(10_000);
    assert.equal(hindrance(), 'behind', 'a question from before shows nothing');
    told({});
    assert.equal(hindrance(), 'behind', 'it can be read');
    told({ status: 503, detail: 'secondary storage cannot answer now' });
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
