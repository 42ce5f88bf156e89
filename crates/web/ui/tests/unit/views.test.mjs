// Requests as lines and programs for use elsewhere.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { startSources } from '../sources.mjs';

const HOSTILE = `'; echo "$(id)" \`id\` \\u0022 \\n <b>\u202e🎭`;
let vite;
let code;
let selection;
let sent;
before(async () => {
  vite = await startSources();
  code = await vite.ssrLoadModule('/src/views/code.ts');
  selection = await vite.ssrLoadModule('/src/views/selection.ts');
  sent = await vite.ssrLoadModule('/src/api/sent.ts');
});
after(() => vite?.close());

test('a shell takes each text as one word', () => {
  const line = code.curlOf('http://h', [{ method: 'POST', path: '/v2/x', body: JSON.stringify({ a: HOSTILE }) }]);
  const { stdout } = spawnSync('sh', ['-c', line.replace(/^curl/, 'printf "[%s]"')], { encoding: 'utf8' });
  assert.ok(stdout.includes(`[${JSON.stringify({ a: HOSTILE })}]`), stdout);
});

test('the command line has searches and the commands that it knows', () => {
  const at = ' --rest-address http://h';
  const cases = [
    [{ method: 'POST', path: '/v2/jobs/search', body: '{"filter":{"type":"a b"},"sort":[{"field":"jobKey","order":"DESC"}],"page":{"limit":5,"after":"x"}}' }, `baton search jobs${at} --filter '{"type":"a b"}' --sort jobKey:desc --limit 5 --after x`],
    [{ method: 'POST', path: '/v2/process-instances/7/cancellation' }, `baton cancel 7${at}`],
    [{ method: 'POST', path: '/v2/user-tasks/7/assignment', body: '{"assignee":"o\'neil"}' }, `baton tasks assign 7 'o'\\''neil'${at}`],
    [{ method: 'POST', path: '/v2/jobs/7/completion', body: '{"variables":{"a":1}}' }, `baton jobs complete 7 --variables '{"a":1}'${at}`],
    // JavaScript would change the number.
    [{ method: 'POST', path: '/v2/jobs/7/completion', body: '{"variables":{"a":12345678901234567890}}' }, undefined],
    [{ method: 'POST', path: '/v2/roles', body: '{}' }, undefined],
    [{ method: 'POST', path: '/v2/users/search', body: '{}' }, undefined],
  ];
  for (const [asked, line] of cases) assert.equal(code.batonOf('http://h', [asked]), line, asked.path);
  assert.equal(code.batonOf('http://h', [cases[1][0], cases[5][0]]), undefined, 'all of them, or none');
});

test('a selection asks for the chosen rows alone', () => {
  const asked = { method: 'POST', path: '/v2/incidents/search', body: '{"filter":{"state":"ACTIVE"},"sort":[{"field":"incidentKey"}],"page":{"limit":50}}' };
  const all = [{ incidentKey: '1' }, { incidentKey: '2' }];
  assert.deepEqual(selection.selectionOf(asked, all, []), { asked: [asked], rows: all, keys: ['1', '2'] });
  const some = selection.selectionOf(asked, all, [all[1]]);
  assert.deepEqual(JSON.parse(some.asked[0].body), { filter: { incidentKey: { $in: ['2'] } }, sort: [{ field: 'incidentKey' }], page: { limit: 1 } });
  assert.deepEqual(some.keys, ['2']);
});

test('commands that were sent are kept without passwords, contents of files and what belongs to the page', () => {
  sent.keepSent({ method: 'POST', path: '/baton/v1/views', body: '{}' });
  sent.keepSent({ method: 'POST', path: '/login', body: 'password=x' });
  const form = new FormData();
  form.append('resources', new Blob(['x']), 'a b.bpmn');
  sent.keepSent({ method: 'POST', path: '/v2/deployments', body: form });
  sent.keepSent({ method: 'POST', path: '/v2/users', body: '{"username":"a","password":"very \\"secret\\""}' });
  const [user, deployment, ...others] = sent.lastSent().map(({ asked }) => asked);
  assert.deepEqual([user.path, user.body, others], ['/v2/users', '{"username":"a","password":"…"}', []]);
  assert.deepEqual(deployment, { method: 'POST', path: '/v2/deployments', files: [['resources', 'a b.bpmn']] });
  for (let at = 0; at < 30; at += 1) sent.keepSent({ method: 'DELETE', path: `/v2/groups/${at}` });
  assert.deepEqual([sent.lastSent().length, sent.lastSent()[0].asked.path], [20, '/v2/groups/29']);
});
