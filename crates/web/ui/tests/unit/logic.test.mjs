// The logic beside the pages: filters and the URL, rows of a tree, JSON text.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startSources } from '../sources.mjs';

let vite;
let filters;
let plan;
let rows;
let json;
before(async () => {
  vite = await startSources({ parts: ['change'] });
  filters = await vite.ssrLoadModule('/src/operate/filters.ts');
  plan = await vite.ssrLoadModule('/src/operate/modify/plan.ts');
  rows = await vite.ssrLoadModule('/src/operate/rows.ts');
  json = await vite.ssrLoadModule('/src/ui/json.ts');
});
after(() => vite?.close());

const api = (search) => filters.toApi(filters.parse(new URLSearchParams(search)));

test("the reference's parameters are understood", () => {
  const active = { state: 'ACTIVE', hasIncident: false };
  const broken = { state: { $in: ['ACTIVE', 'SUSPENDED'] }, hasIncident: true };
  const cases = [
    ['', {}],
    ['active=true', active],
    ['incidents=true', broken],
    ['active=true&incidents=true', { $or: [active, broken] }],
    ['active=true&incidents=true&suspended=true', { state: { $in: ['ACTIVE', 'SUSPENDED'] } }],
    ['active=false&completed=true', { state: 'COMPLETED' }],
    ['canceled=true&completed=true', { $or: [{ state: 'COMPLETED' }, { state: 'TERMINATED' }] }],
    ['suspended=true', { state: 'SUSPENDED' }],
    ['active=true&incidents=true&suspended=true&completed=true&canceled=true', {}],
    ['process=p', { processDefinitionId: 'p' }],
    ['process=p&version=3', { processDefinitionId: 'p', processDefinitionVersion: 3 }],
    ['process=p&version=all', { processDefinitionId: 'p' }],
    ['version=3', {}],
    ['ids=1', { processInstanceKey: '1' }],
    ['ids=1,2%203%0A4,x', { processInstanceKey: { $in: ['1', '2', '3', '4'] } }],
    ['parentInstanceId=7', { parentProcessInstanceKey: '7' }],
    ['flowNodeId=e', { elementId: 'e' }],
    ['elementId=e&active=true', { ...active, elementId: 'e', elementInstanceState: 'ACTIVE' }],
    ['errorMessage=m', { errorMessage: 'm' }],
    ['incidentErrorHashCode=-5', { incidentErrorHashCode: -5 }],
    ['operationId=b', { batchOperationKey: 'b' }],
    ['batchOperationId=b', { batchOperationKey: 'b' }],
    ['retriesLeft=true', { hasRetriesLeft: true }],
    ['businessId=x%20y', { businessId: 'x y' }],
    ['tenant=t', { tenantId: 't' }],
    ['startDateAfter=2026-01-02T03:04:05Z', { startDate: { $gte: '2026-01-02T03:04:05.000Z' } }],
    ['endDateAfter=2026-01-01T00:00:00Z&endDateBefore=2026-02-01T00:00:00Z', { endDate: { $gte: '2026-01-01T00:00:00.000Z', $lte: '2026-02-01T00:00:00.000Z' } }],
    ['variableName=v&variableValues=%22a%22', { variables: [{ name: 'v', value: { $eq: '"a"' } }] }],
    ['var=v:like:"a*"&var=w:exists:', { variables: [{ name: 'v', value: { $like: '"a*"' } }, { name: 'w', value: { $exists: true } }] }],
    ['var=a%253Ab:neq:1:2', { variables: [{ name: 'a:b', value: { $neq: '1:2' } }] }],
    ['tags=a,b%20a', { tags: ['a', 'b'] }],
    ['var=v:exists:false', { variables: [{ name: 'v', value: { $exists: false } }] }],
    // One of the alternatives holds, beside the rest; with several states each goes with each.
    ['process=p&or=businessId%3Da&or=var%3Dv%253Aeq%253A1', { processDefinitionId: 'p', $or: [{ businessId: 'a' }, { variables: [{ name: 'v', value: { $eq: '1' } }] }] }],
    ['active=true&or=businessId%3Da', { ...active, $or: [{ businessId: 'a' }] }],
    [
      'completed=true&canceled=true&or=businessId%3Da&or=businessId%3Db',
      { $or: [{ state: 'COMPLETED', businessId: 'a' }, { state: 'COMPLETED', businessId: 'b' }, { state: 'TERMINATED', businessId: 'a' }, { state: 'TERMINATED', businessId: 'b' }] },
    ],
    ['or=suspended%3Dtrue%26completed%3Dtrue%26tenant%3Dt&or=nonsense%3D1', { $or: [{ state: 'SUSPENDED', tenantId: 't' }, { state: 'COMPLETED', tenantId: 't' }] }],
    // A parameter without sense is as if it were not there.
    ['version=x&ids=abc&incidentErrorHashCode=99999999999&startDateAfter=soon&var=nothing&var=%25:eq:1&active=yes', {}],
  ];
  for (const [search, expected] of cases) assert.deepEqual(api(search), expected, search);
});

test('a filter comes back from its URL', () => {
  for (const search of [
    'process=p&version=2&elementId=e&active=true&completed=true&ids=1%2C2&parentInstanceId=3&businessId=b&errorMessage=m&incidentErrorHashCode=4&batchOperationId=5&retriesLeft=true&startDateAfter=2026-01-01T00%3A00%3A00.000Z&tenant=t&var=a%253Ab%3Aeq%3A%22c%3Ad%22',
    'process=p&tags=x%2Cy&or=businessId%3Da%26var%3Dv%253Aeq%253A%2522b%2522&or=suspended%3Dtrue',
    '',
  ]) {
    const filter = filters.parse(new URLSearchParams(search));
    assert.deepEqual(filters.parse(filters.write(filter)), filter);
    assert.equal(filters.write(filter).toString(), search);
  }
});

test('values of conditions have types', () => {
  const cases = [
    ['eq', 'text', 'ann', '"ann"'],
    ['neq', 'text', 'a "b"', '"a \\"b\\""'],
    ['eq', 'number', '12345678901234567890.10', '12345678901234567890.10'],
    ['eq', 'true or false', 'true', 'true'],
    ['eq', 'null', '', 'null'],
    ['eq', 'JSON', '{"a":[1]}', '{"a":[1]}'],
    ['like', 'text', 'an*', '"an*"'],
  ];
  for (const [operator, type, text, value] of cases) {
    assert.deepEqual(filters.valueOf(operator, type, text), { value }, value);
    assert.deepEqual(filters.typedOf({ name: 'v', operator, value }), { type, text }, value);
  }
  for (const [type, text] of [['number', '1x'], ['number', ''], ['true or false', ''], ['JSON', '{']]) assert.ok(filters.valueOf('eq', type, text).problem, text);
});

test('a plan of modification is one request, with every digit', () => {
  const { differences, isTaken, request, sentence } = plan;
  const changes = [
    { kind: 'add', element: 'a', place: { kind: 'below', key: '7' }, variables: [{ scope: 'a', values: [['v', '1.10']] }] },
    { kind: 'move', element: 'b', key: undefined, tokens: 2, to: 'a', place: { kind: 'found' }, variables: [] },
    { kind: 'cancel', element: 'c', key: '9', tokens: 1 },
  ];
  assert.equal(
    request(changes),
    '{"activateInstructions":[{"elementId":"a","ancestorElementInstanceKey":"7","variableInstructions":[{"variables":{"v":1.10},"scopeId":"a"}]}],' +
      '"moveInstructions":[{"sourceElementInstruction":{"sourceType":"byId","sourceElementId":"b"},"targetElementId":"a","ancestorScopeInstruction":{"ancestorScopeType":"inferred"}}],' +
      '"terminateInstructions":[{"elementInstanceKey":"9"}]}',
  );
  assert.deepEqual([...differences(changes)], [['a', 3], ['b', -2], ['c', -1]]);
  assert.equal(isTaken(changes, 'b', '5'), true);
  assert.equal(isTaken(changes, 'c', '8'), false);
  assert.equal(sentence(changes[1], (id) => id.toUpperCase()), 'Move all 2 tokens from “B” to “A”.');
});

test('rows of a tree are where a walk of it has them', () => {
  const { newNode, rowAt, size, PAGE } = rows;
  const node = (key, total) => {
    const made = newNode(key);
    made.total = total;
    for (let at = 0; at < total; at += 1) {
      const page = Math.floor(at / PAGE);
      if (!made.pages.has(page)) made.pages.set(page, []);
      made.pages.get(page).push(`${key}.${at}`);
    }
    return made;
  };
  const root = node('r', 250);
  const child = node('c', 3);
  child.open.set(2, node('d', 2));
  root.open.set(1, child);
  root.open.set(2, node('e', 0));
  root.open.set(249, node('f', 120));
  const walked = [];
  const walk = (of, level) => {
    for (let at = 0; at < of.total; at += 1) {
      walked.push([`${of.key}.${at}`, level]);
      if (of.open.has(at)) walk(of.open.get(at), level + 1);
    }
  };
  walk(root, 1);
  assert.equal(size(root), walked.length);
  assert.deepEqual(walked.map((_, at) => [rowAt(root, at).item, rowAt(root, at).level]), walked);
  assert.equal(rowAt(root, walked.length), undefined);
});

test('a place among all children tells the number of an iteration, from both ends', () => {
  const { iterationOf } = rows;
  assert.deepEqual([0, 1, 2].map((place) => iterationOf(place, 3, 'ASC')), [1, 2, 3]);
  assert.deepEqual([0, 1, 2].map((place) => iterationOf(place, 3, 'DESC')), [3, 2, 1]);
});

test('JSON text keeps its literals', () => {
  const text = '{"a":12345678901234567890.10,"b":[ ],"c":{},"d":[1,{"e":"x, {y}: \\"z\\""}],"f":null}';
  const shown = json.pretty(text);
  assert.match(shown, /12345678901234567890\.10/);
  assert.deepEqual(JSON.parse(shown), JSON.parse(text));
  assert.equal(shown.split('\n').length, 12);
  assert.equal(json.jsonObject([['a"b', '1'], ['c', '"d"']]), '{"a\\"b":1,"c":"d"}');
  assert.equal(json.jsonProblem('12'), undefined);
  assert.ok(json.jsonProblem('{a}'));
});

test('the path before all paths is added to addresses and taken from them', async () => {
  globalThis.document = { querySelector: () => ({ content: '/tools/baton' }) };
  const { at, BASE, own, within } = await vite.ssrLoadModule('/src/base.ts');
  delete globalThis.document;
  assert.equal(BASE, '/tools/baton');
  assert.deepEqual([at('/'), at('/operate?a=1'), own('baton-live')], ['/tools/baton/', '/tools/baton/operate?a=1', 'baton-live/tools/baton']);
  for (const [address, path] of [
    ['/tools/baton', '/'],
    ['/tools/baton/', '/'],
    ['/tools/baton/operate', '/operate'],
    ['/tools/batonic', '/tools/batonic'],
    ['/operate', '/operate'],
  ]) {
    assert.equal(within(address), path);
  }
});
