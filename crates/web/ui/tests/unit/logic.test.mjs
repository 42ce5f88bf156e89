// The logic beside the pages: filters and the URL, rows of a tree, JSON text.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

let vite;
let filters;
let rows;
let json;
before(async () => {
  vite = await createServer({ root: fileURLToPath(new URL('../../', import.meta.url)), server: { middlewareMode: true, hmr: false, ws: false, watch: null }, appType: 'custom', logLevel: 'error', optimizeDeps: { noDiscovery: true } });
  filters = await vite.ssrLoadModule('/src/operate/filters.ts');
  rows = await vite.ssrLoadModule('/src/operate/rows.ts');
  json = await vite.ssrLoadModule('/src/ui/json.ts');
});
after(() => vite?.close());

const api = (search) => filters.toApi(filters.parse(new URLSearchParams(search)));

test("the reference's parameters are understood", () => {
  const active = { state: 'ACTIVE', hasIncident: false };
  const cases = [
    ['', {}],
    ['active=true', active],
    ['incidents=true', { state: 'ACTIVE', hasIncident: true }],
    ['active=true&incidents=true', { state: 'ACTIVE' }],
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
    // A parameter without sense is as if it were not there.
    ['version=x&ids=abc&incidentErrorHashCode=99999999999&startDateAfter=soon&var=nothing&var=%25:eq:1&active=yes', {}],
  ];
  for (const [search, expected] of cases) assert.deepEqual(api(search), expected, search);
});

test('a filter comes back from its URL', () => {
  for (const search of [
    'process=p&version=2&elementId=e&active=true&completed=true&ids=1%2C2&parentInstanceId=3&businessId=b&errorMessage=m&incidentErrorHashCode=4&batchOperationId=5&retriesLeft=true&startDateAfter=2026-01-01T00%3A00%3A00.000Z&tenant=t&var=a%253Ab%3Aeq%3A%22c%3Ad%22',
    '',
  ]) {
    const filter = filters.parse(new URLSearchParams(search));
    assert.deepEqual(filters.parse(filters.write(filter)), filter);
    assert.equal(filters.write(filter).toString(), search);
  }
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
