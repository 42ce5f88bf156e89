// What pages ask of the server, counted: in the browser, and in the metrics of the server.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, withPage } from '../page.mjs';
import { bpmn, deploy, fail, search, start, startServer, until } from '../server.mjs';

const AWAIT_MS = 3000;
/** Long enough for pages that ask by time. */
const QUIET_MS = 7000;
/** Pages with something that no hint tells of: they ask by time, with pauses that grow, the first of five seconds. */
const TIMED = ['/operate', '/operate/jobs', '/admin/cluster'];
const NODES_MAX = 1500;
const CHANGES = '/baton/v1/changes';
const LIST = '/v2/process-instances/search';
let server;
const keys = {};

before(async () => {
  server = await startServer([`secondary_storage.await_timeout=${AWAIT_MS}ms`]);
  await deploy(server, {
    'one.bpmn': bpmn('one', [['job', 'first', 'first'], ['user', 'second']]),
    'one.dmn': '<?xml version="1.0"?><definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d" namespace="n"><decision id="dec" name="Dec"><variable id="v" name="x"/><literalExpression id="l"><text>1</text></literalExpression></decision></definitions>',
  });
  keys.instance = await start(server, 'one', { a: 1 });
  await fail(server, 'first', 'no power');
  for (let at = 0; at < 120; at += 1) await start(server, 'one');
  const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type: 'first', timeout: 60_000, maxJobsToActivate: 60, requestTimeout: 5000 });
  for (const { jobKey } of jobs) await server.rest('POST', `/v2/jobs/${jobKey}/completion`, {});
  await server.rest('POST', '/v2/decision-definitions/evaluation', { decisionDefinitionId: 'dec', variables: {} });
  await until(async () => (await search(server, 'user-tasks', {})).page.totalItems === 60, 'the tasks are found');
  await until(async () => (await search(server, 'incidents', {})).page.totalItems === 1, 'the incident is found');
  keys.task = (await search(server, 'user-tasks', {})).items[0].userTaskKey;
  keys.evaluation = (await until(async () => (await search(server, 'decision-instances', {})).items[0], 'the evaluation is found')).decisionEvaluationInstanceKey;
});
after(async () => {
  await closeBrowser();
  await server?.stop();
});

/** Pages, each with what shows that it is there, and how many requests it may take. Boot is one of them. */
const pages = () => [
  ['/operate', 'main a[href^="/operate/processes?"]', 12],
  ['/operate/processes', 'table tbody tr', 3],
  ['/operate/processes?process=one&active=true', '.counts', 7],
  [`/operate/processes/${keys.instance}`, '.counts', 15],
  [`/operate/processes/${keys.instance}/incidents`, '.counts', 15],
  [`/operate/processes/${keys.instance}/jobs`, '.counts', 14],
  [`/operate/processes/${keys.instance}/timeline`, '.counts', 15],
  ['/operate/incidents', 'table tbody tr', 9],
  ['/operate/definitions', 'table tbody tr', 2],
  ['/operate/definitions/one', '.diagram[data-drawn]', 5],
  ['/operate/decisions', 'table tbody tr', 3],
  [`/operate/decisions/${keys.evaluation}`, '.dmn[data-drawn]', 4],
  ['/operate/jobs', 'table tbody tr', 2],
  ['/operate/messages', 'main', 2],
  ['/operate/batch-operations', 'main', 2],
  ['/operate/operations-log', 'table tbody tr', 2],
  ['/tasklist', '.task', 2],
  [`/tasklist/${keys.task}`, '.task', 4],
  ['/tasklist/processes', '.tiles section', 2],
  ['/admin/users', 'main', 2],
  ['/admin/roles', 'table tbody tr', 2],
  ['/admin/authorizations', 'main', 2],
  ['/admin/operations-log', 'table tbody tr', 2],
  ['/admin/cluster', 'main', 4],
];

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
/** Questions of a page: what it asks for, but for whether something has changed. */
function questionsOf(page) {
  const asked = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (/^\/(v2|baton)\//.test(pathname) && pathname !== CHANGES) asked.push(`${request.method()} ${pathname}${search} ${request.postData() ?? ''}`.trim());
  });
  return asked;
}
const settled = async (asked, ms = 400) => {
  for (let count = -1; count !== asked.length; await pause(ms)) count = asked.length;
};

/** Requests that the server has answered so far, by operation and status, without those for changes and its metrics. */
async function answered() {
  const text = await (await fetch(`${server.management}/metrics`)).text();
  const counts = new Map();
  for (const [, labels, count] of text.matchAll(/^http_server_requests_seconds_count\{(.*)\} (\d+)$/gm)) {
    const uri = /uri="([^"]*)"/.exec(labels)[1];
    if (/^\/(v2|baton)\//.test(uri) && uri !== CHANGES) counts.set(labels, Number(count));
  }
  return counts;
}
const sum = (counts) => [...counts.values()].reduce((all, one) => all + one, 0);

test('a page asks for each thing once, as the server sees it, too, and has few nodes', async () => {
  const found = {};
  for (const [path, shown, most] of pages()) {
    await withPage(server, async (page) => {
      const asked = questionsOf(page);
      const before = sum(await answered());
      await page.goto(server.url + path);
      await page.locator(shown).first().waitFor();
      await settled(asked);
      const twice = asked.filter((one, at) => asked.indexOf(one) !== at);
      const nodes = await page.evaluate(() => document.getElementsByTagName('*').length);
      const seen = sum(await answered()) - before;
      console.log(`${path.replace(/\d{6,}/, 'KEY')}: ${asked.length} requests, ${nodes} nodes`);
      if (twice.length > 0) found[`${path}, asked again`] = twice;
      if (asked.length > most) found[`${path}, requests`] = asked;
      if (asked.length === 0 || seen !== asked.length) found[`${path}, seen by the server`] = `${seen} of ${asked.length}`;
      if (nodes > NODES_MAX) found[`${path}, nodes`] = nodes;
    });
  }
  assert.deepEqual(found, {});
});

test('no page asks again when nothing has changed', () =>
  withPage(server, async (_, context) => {
    const open = [];
    for (const [path, shown] of pages()) {
      const page = await context.newPage();
      const asked = questionsOf(page);
      await page.goto(server.url + path);
      await page.locator(shown).first().waitFor();
      open.push({ path, asked });
    }
    for (const { asked } of open) await settled(asked, 300);
    const before = open.map(({ asked }) => asked.length);
    await pause(QUIET_MS);
    const again = open.map(({ path, asked }, at) => [path, asked.slice(before[at])]);
    assert.deepEqual(again.filter(([path, asked]) => asked.length > 0 && !TIMED.includes(path)), []);
    assert.deepEqual(again.filter(([, asked]) => asked.length > 2), [], 'what is asked by time is asked for once or twice');
  }));

test('leaving a page cancels its queries, and the server drops them', () =>
  withPage(
    server,
    async (page) => {
      const late = async () => [...(await answered())].filter(([labels]) => labels.includes(`"${LIST}"`) && labels.includes('504')).reduce((all, [, count]) => all + count, 0);
      // A position that is never reached: the server waits for it as long as it may.
      await page.route(`**${LIST}`, (route) => route.continue({ headers: { ...route.request().headers(), 'baton-await-position': '1:4000000000000' } }));
      const ask = async () => {
        const sent = page.waitForRequest((request) => request.url().endsWith(LIST));
        await page.goto(`${server.url}/operate/processes`);
        return sent;
      };
      const before = await late();
      const request = await ask();
      await pause(300);
      await page.getByRole('link', { name: 'Banned instances' }).click();
      await page.getByRole('heading', { level: 1, name: 'Banned instances' }).waitFor();
      await until(() => request.failure() !== null, 'the browser has given it up');
      await pause(AWAIT_MS + 1000);
      assert.equal(await late(), before, 'nobody waits any more, so nothing is answered');
      // The same, by somebody who stays.
      await ask();
      await until(async () => (await late()) > before, 'a query that somebody waits for ends in time');
    },
    { statuses: [504] },
  ));

test('a diagram that was drawn is there again as it was, without marks of the page before, and its counts change in place', () =>
  withPage(server, async (page) => {
    const counts = (element) => page.locator(`.counts[data-element="${element}"]`);
    const active = async () => Number(/● (\d+)/.exec(await counts('first').innerText())?.[1]);
    await page.goto(`${server.url}/operate/processes?process=one&active=true&incidents=true`);
    await counts('first').waitFor();
    await page.locator('.djs-element[data-element-id="second"]').click();
    await page.locator('.djs-element.selected[data-element-id="second"]').waitFor();
    await page.evaluate(() => {
      document.querySelector('.djs-container').dataset.mine = 'yes';
      document.querySelector('.counts[data-element="first"]').dataset.mine = 'yes';
    });
    await page.getByRole('link', { name: 'Definitions' }).click();
    await page.getByRole('table', { name: 'Definitions' }).waitFor();
    assert.equal(await page.locator('.djs-container').count(), 0);
    await page.goBack();
    await page.goBack();
    await page.locator('.diagram[data-drawn] .djs-container[data-mine]').waitFor();
    assert.equal(await page.locator('.djs-element.selected').count(), 0, 'nothing is chosen in this address');
    await counts('first').waitFor();
    const before = await active();
    await start(server, 'one');
    await until(async () => (await active()) === before + 1, 'the count has changed');
    assert.equal(await counts('first').getAttribute('data-mine'), 'yes', 'in its place');
  }));
