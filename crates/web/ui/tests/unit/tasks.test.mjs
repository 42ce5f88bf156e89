// The filters of tasks, ways back after a login, and the positions that make reads follow writes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startSources } from '../sources.mjs';

let vite;
before(async () => {
  // It would keep the process alive.
  delete globalThis.BroadcastChannel;
  globalThis.location = new URL('https://baton.example/tasklist');
  globalThis.document = { cookie: 'a=b; X-CSRF-TOKEN=secret' };
  vite = await startSources();
});
after(() => vite?.close());

test('the filter of tasks is what the URL says, and what makes no sense is the usual one', async () => {
  const { filterName, order, orderName, toApi } = await vite.ssrLoadModule('/src/tasklist/filters.ts');
  const open = { $in: ['CREATED', 'ASSIGNING', 'UPDATING', 'COMPLETING'] };
  for (const [criteria, expected] of [
    [{}, { state: open }],
    [{ filter: 'nonsense' }, { state: open }],
    [{ filter: 'assigned-to-me' }, { state: open, assignee: 'me' }],
    [{ filter: 'unassigned' }, { state: open, assignee: { $exists: false } }],
    [{ filter: 'completed' }, { state: 'COMPLETED' }],
    [{ filter: 'custom', assignee: 'x', candidateGroup: 'g', process: 'p', businessId: 'b', state: 'all' }, { assignee: 'x', candidateGroup: 'g', processDefinitionId: 'p', businessId: 'b' }],
    [{ filter: 'custom', dueBefore: '2026-01-01T00:00:00Z', state: 'completed' }, { state: 'COMPLETED', dueDate: { $lte: '2026-01-01T00:00:00.000Z' } }],
    [{ filter: 'custom', dueBefore: 'soon' }, { state: open }],
  ]) {
    assert.deepEqual(toApi(criteria, 'me'), expected, JSON.stringify(criteria));
  }
  assert.equal(filterName({ filter: 'x' }), 'all-open');
  assert.equal(orderName({ filter: 'completed' }), 'completion');
  assert.deepEqual(order({ sortBy: 'due' }), [{ field: 'dueDate', order: 'ASC' }]);
});

test('after a login, only paths of ours are gone to', async () => {
  const { safeNext } = await vite.ssrLoadModule('/src/session.ts');
  for (const next of [undefined, null, '', 'tasklist', '//evil.example', '/\\evil.example', 'https://evil.example/', 'javascript:alert(1)', '/login?next=/x', '/\t/evil.example', '/a\nb']) {
    assert.equal(safeNext(next), '/', String(next));
  }
  for (const next of ['/', '/tasklist?filter=completed#x', '/operate/processes/1/variables']) assert.equal(safeNext(next), next);
});

test('reads wait for what was written, requests that change something carry the token', async () => {
  const { call, Problem } = await vite.ssrLoadModule('/src/api/http.ts');
  const { change, read } = await vite.ssrLoadModule('/src/api/operation.ts');
  const sent = [];
  const answers = [];
  globalThis.fetch = async (path, { method, headers, body }) => {
    sent.push({ path, method, wait: headers.get('baton-await-position'), token: headers.get('x-csrf-token'), body });
    return answers.shift() ?? new Response('{"items":[]}', { status: 200 });
  };
  answers.push(new Response(null, { status: 204, headers: { 'baton-position': '1:50,2:7' } }));
  assert.equal(await call(change('POST', '/v2/incidents/{incidentKey}/resolution'), { path: { incidentKey: 'a/b' }, body: {} }), undefined);
  await call(read('POST', '/v2/incidents/search', 'search', 'incidents'), { body: {} });
  await call(read('GET', '/v2/user-tasks/{key}', 'read', ''), { path: { key: 1 }, query: { a: true, b: undefined } });
  assert.deepEqual(sent, [
    { path: '/v2/incidents/a%2Fb/resolution', method: 'POST', wait: null, token: 'secret', body: '{}' },
    { path: '/v2/incidents/search', method: 'POST', wait: '1:50,2:7', token: 'secret', body: '{}' },
    { path: '/v2/user-tasks/1?a=true', method: 'GET', wait: '1:50,2:7', token: null, body: undefined },
  ]);
  answers.push(new Response('{"title":"NOT_FOUND","detail":"no task","status":404}', { status: 404, headers: { 'baton-problem': 'NOT_FOUND' } }));
  await assert.rejects(call(read('GET', '/v2/x', 'read', '')), (error) => error instanceof Problem && error.status === 404 && error.detail === 'no task' && error.code === 'NOT_FOUND' && !error.isPassing);
  answers.push(new Response('<html>', { status: 503 }));
  await assert.rejects(call(read('GET', '/v2/x', 'read', '')), (error) => error instanceof Problem && error.code === undefined && error.isPassing);
});
