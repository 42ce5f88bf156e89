// Pages that follow what happens: hints, one poll for all tabs, nothing for pages that nobody looks at, bad servers.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, withPage } from '../page.mjs';
import { bpmn, deploy, forEach, search, start, startServer, until } from '../server.mjs';

let server;
let key;
const complete = async (type) => {
  const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type, timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 5000 });
  await server.rest('POST', `/v2/jobs/${jobs[0].jobKey}/completion`, {});
  return jobs[0].processInstanceKey;
};
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
/** Requests of a page to the API, as they are sent. */
const requestsOf = (page) => {
  const sent = [];
  page.on('request', (request) => /\/(v2|baton)\//.test(request.url()) && sent.push({ path: new URL(request.url()).pathname, headers: request.headers(), at: Date.now() }));
  return sent;
};
const reads = (sent) => sent.filter(({ path }) => path !== '/baton/v1/changes');
const polls = (sent) => sent.filter(({ path }) => path === '/baton/v1/changes');
const hide = (page, state) =>
  page.evaluate((state) => {
    Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, state);
const quiet = async (sent, ms = 1500) => {
  for (let count = -1; count !== reads(sent).length; await pause(ms)) count = reads(sent).length;
};
const header = (page, text) => page.locator('header').getByText(text, { exact: true }).first().waitFor();

before(async () => {
  server = await startServer();
  await deploy(server, { 'two.bpmn': bpmn('two', [['job', 'first', 'first'], ['job', 'second', 'second']]) });
  key = await start(server, 'two', { a: 1 });
  await until(async () => (await search(server, 'jobs', { type: 'first' })).page.totalItems === 1, 'the job is found');
});
after(async () => {
  await closeBrowser();
  await server?.stop();
});

test('a page shows at once what others do, and asks for nothing while nothing happens', () =>
  withPage(server, async (page) => {
    const sent = requestsOf(page);
    await page.goto(`${server.url}/operate/processes/${key}/jobs`);
    await page.getByRole('table', { name: 'Jobs' }).getByText('first').first().waitFor();
    await quiet(sent);
    const before = reads(sent).length;
    await pause(7000);
    assert.deepEqual(reads(sent).slice(before).map(({ path }) => path), [], 'nothing has happened, so nothing is read');
    assert.ok(polls(sent).length <= 4, `${polls(sent).length} polls`);
    const began = Date.now();
    assert.equal(await complete('first'), key);
    await page.getByRole('table', { name: 'Jobs' }).getByText('second').first().waitFor({ timeout: 4000 });
    console.log(`a change of others is shown after ${Date.now() - began} ms`);
    await page.locator('.counts[data-element="second"]').getByText('● 1').waitFor({ timeout: 4000 });
    await page.getByRole('treegrid').getByText('second').waitFor({ timeout: 4000 });
  }));

test('a change that is told while the tree is read is shown', () =>
  withPage(server, async (page) => {
    await deploy(server, { 'slow.bpmn': bpmn('slow', [['job', 'slow-first', 'slow-first'], ['job', 'slow-second', 'slow-second']]) });
    const slow = await start(server, 'slow', { a: 1 });
    await page.goto(`${server.url}/operate/processes/${slow}`);
    const tree = page.getByRole('treegrid');
    await tree.getByText('slow-first').waitFor();
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor();
    const held = [];
    let release;
    const released = new Promise((done) => (release = done));
    await page.route('**/baton/v1/element-instances/*/children*', async (route) => {
      const answer = await route.fetch();
      held.push(route);
      if (held.length === 1) await released;
      await route.fulfill({ response: answer });
    });
    await server.rest('PUT', `/v2/element-instances/${slow}/variables`, { variables: { a: 2 } });
    await until(() => held.length === 1, 'the tree is read, and its answer is under way');
    assert.equal(await complete('slow-first'), slow);
    await page.locator('.counts[data-element="slow-second"]').getByText('● 1').waitFor();
    assert.equal(held.length, 1, 'one answer at a time');
    release();
    await tree.getByText('slow-second').waitFor();
  }));

test('what is open in the tree stays open while its instance goes on', () =>
  withPage(server, async (page) => {
    await deploy(server, { 'wide.bpmn': forEach('wide', 'wide') });
    const wide = await start(server, 'wide', { items: [1, 2, 3] });
    await page.goto(`${server.url}/operate/processes/${wide}`);
    const tree = page.getByRole('treegrid');
    const rows = (text) => tree.getByRole('row').filter({ hasText: text }).count();
    await tree.getByText('Each').waitFor();
    await tree.focus();
    for (const key of ['ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    await until(async () => (await rows('Each')) === 4, 'the body and its three are shown');
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor();
    assert.equal(await complete('wide'), wide);
    await until(async () => (await rows('Completed')) === 2, 'the start and one of three have ended');
    assert.equal(await rows('Each'), 4);
  }));

test('a list shows new instances within its floor, and is not read more often', () =>
  withPage(server, async (page) => {
    const sent = requestsOf(page);
    await page.goto(`${server.url}/operate/processes?process=two&active=true`);
    await page.getByRole('table', { name: 'Process instances', exact: true }).waitFor();
    await quiet(sent);
    const before = reads(sent).length;
    const began = Date.now();
    for (let at = 0; at < 40; at += 1) {
      await start(server, 'two');
      await pause(100);
    }
    await page.getByRole('status').filter({ hasText: '41 match' }).waitFor({ timeout: 8000 });
    const lists = reads(sent).slice(before).filter(({ path }) => path === '/v2/process-instances/search');
    // One a second; how many seconds the starts take is the machine's affair.
    const seconds = (Date.now() - began) / 1000;
    assert.ok(lists.length >= 1 && lists.length <= 1 + seconds, `${lists.length} reads of the list in ${seconds} s`);
    for (const { headers } of lists) assert.match(headers['baton-after-change'] ?? '', /^[0-9a-f]+-\d+$/, 'no write of the store is made for it');
  }));

test('one tab of a browser asks for all, and what one tab does is shown by the other', () =>
  withPage(server, async (page, context) => {
    const [mine, others] = [requestsOf(page), []];
    const own = await start(server, 'two');
    await until(async () => (await search(server, 'process-instances', { processInstanceKey: own })).page.totalItems === 1, 'it is found');
    await page.goto(`${server.url}/operate/processes/${own}`);
    await header(page, 'Active');
    const other = await context.newPage();
    other.on('request', (request) => others.push({ path: new URL(request.url()).pathname, headers: request.headers() }));
    await other.goto(`${server.url}/operate/processes/${own}/jobs`);
    await header(other, 'Active');
    await pause(2000);
    assert.equal(polls(others).length, 0, 'the first tab asks for both');
    assert.ok(polls(mine).length > 0);
    const before = others.length;
    await page.getByRole('button', { name: 'Suspend' }).click();
    await header(page, 'Suspended');
    await header(other, 'Suspended');
    assert.equal((await search(server, 'process-instances', { processInstanceKey: own })).items[0].state, 'SUSPENDED');
    // The hint of the change may come before that of the other tab: then one more read follows.
    const waits = () => others.slice(before).some(({ path, headers }) => path === `/v2/process-instances/${own}` && /^\d+:\d+/.test(headers['baton-await-position'] ?? ''));
    await until(waits, "the other tab's read waits for what the first has done");
    // A page that opens just after waits, too.
    await other.reload();
    await header(other, 'Suspended');
    const first = others.filter(({ path }) => path === `/v2/process-instances/${own}`).at(-1);
    assert.match(first.headers['baton-await-position'] ?? '', /^\d+:\d+/);
    // The one that asked is gone: another takes its place.
    await page.goto('about:blank');
    await until(() => polls(others).length > 0, 'the other tab asks now');
    await server.rest('POST', `/v2/process-instances/${own}/resumption`, {});
    await header(other, 'Active');
  }));

test('a browser that cannot agree among its tabs has each of them ask', () =>
  withPage(server, async (page, context) => {
    const own = await start(server, 'two');
    await until(async () => (await search(server, 'process-instances', { processInstanceKey: own })).page.totalItems === 1, 'it is found');
    // Pages that are not from a secure place have no locks.
    await context.addInitScript(() => delete Navigator.prototype.locks);
    const other = await context.newPage();
    const sent = [requestsOf(page), requestsOf(other)];
    for (const one of [page, other]) {
      await one.goto(`${server.url}/operate/processes/${own}`);
      await header(one, 'Active');
    }
    await until(() => sent.every((one) => polls(one).length > 1), 'each asks');
    await server.rest('POST', `/v2/process-instances/${own}/suspension`, {});
    for (const one of [page, other]) await header(one, 'Suspended');
  }));

test('a page that nobody looks at asks nothing, and shows what is so when it is looked at again', () =>
  withPage(server, async (page) => {
    const own = await start(server, 'two');
    await until(async () => (await search(server, 'process-instances', { processInstanceKey: own })).page.totalItems === 1, 'it is found');
    const sent = requestsOf(page);
    await page.goto(`${server.url}/operate/processes/${own}`);
    await header(page, 'Active');
    await quiet(sent);
    await hide(page, 'hidden');
    await pause(300);
    const before = sent.length;
    await server.rest('POST', `/v2/process-instances/${own}/cancellation`, {});
    await pause(7000);
    assert.deepEqual(sent.slice(before), [], 'nothing is asked');
    await hide(page, 'visible');
    await header(page, 'Canceled');
  }));

test('pages stop to follow when they are told to, and go on', () =>
  withPage(server, async (page) => {
    const own = await start(server, 'two');
    await until(async () => (await search(server, 'process-instances', { processInstanceKey: own })).page.totalItems === 1, 'it is found');
    const sent = requestsOf(page);
    await page.goto(`${server.url}/operate/processes/${own}`);
    await header(page, 'Active');
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await page.getByRole('button', { name: 'Paused', exact: true }).waitFor();
    await quiet(sent);
    const before = sent.length;
    await server.rest('POST', `/v2/process-instances/${own}/suspension`, {});
    await pause(6000);
    assert.deepEqual(sent.slice(before), []);
    await page.getByRole('button', { name: 'Paused', exact: true }).click();
    await header(page, 'Suspended');
  }));

test('a server that is away is said so and asked with growing pauses; what happened meanwhile is shown when it is back', () =>
  withPage(
    server,
    async (page) => {
      const own = await start(server, 'two');
      await until(async () => (await search(server, 'process-instances', { processInstanceKey: own })).page.totalItems === 1, 'it is found');
      await page.goto(`${server.url}/operate/processes/${own}`);
      await header(page, 'Active');
      const sent = requestsOf(page);
      await page.route(/\/(v2|baton)\//, (route) => route.abort());
      // The request that waits is broken off, too.
      await hide(page, 'hidden');
      await hide(page, 'visible');
      await page.getByText('The server cannot be reached.').waitFor();
      await page.getByRole('button', { name: 'Not connected' }).waitFor();
      await pause(10_000);
      const asked = polls(sent).map(({ at }) => at);
      assert.ok(asked.length >= 3 && asked.length <= 8, `${asked.length} polls in 10 s`);
      assert.ok(reads(sent).length <= 60, `${reads(sent).length} reads in 10 s`);
      await server.rest('POST', `/v2/process-instances/${own}/suspension`, {});
      await page.unroute(/\/(v2|baton)\//);
      await header(page, 'Suspended');
      await page.getByRole('button', { name: 'Live', exact: true }).waitFor();
      await until(async () => (await page.getByText('The server cannot be reached.').count()) === 0, 'it is said no more');
    },
    { gone: true },
  ));

test('a store that is behind, a server with too much to do and a full disk are said in plain words', () =>
  withPage(
    server,
    async (page) => {
      await page.route('**/v2/process-instances/search', async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer, headers: { ...answer.headers(), 'baton-lag': '3100' } });
      });
      // The answers of the others, which were asked for at the same time, come later and without a lag.
      await page.route('**/v2/process-definitions/**', async (route) => {
        await pause(300);
        await route.continue();
      });
      await page.goto(`${server.url}/operate/processes`);
      await page.getByText('The store is behind').waitFor();
      await pause(3000);
      assert.equal(await page.getByText('The store is behind').count(), 1, 'it stays until the list is read again');
      await page.unroute('**/v2/process-instances/search');
      await page.unroute('**/v2/process-definitions/**');
      await start(server, 'two');
      await until(async () => (await page.getByText('The store is behind').count()) === 0, 'it has caught up');
      // The code decides, whatever the texts say.
      const refuse = (code) => (route) =>
        route.fulfill({ status: 503, contentType: 'application/problem+json', headers: { 'baton-problem': code }, body: JSON.stringify({ title: 'T', status: 503, detail: 'd', instance: '/' }) });
      for (const [code, words] of [
        ['RESOURCE_EXHAUSTED', 'has more to do'],
        ['STORAGE_UNAVAILABLE', 'The store does not answer'],
        ['DISK_FULL', 'its disk is full'],
      ]) {
        await page.route('**/v2/process-instances/search', refuse(code));
        await page.goto(`${server.url}/operate/processes`);
        await page.getByText(words).waitFor();
        await page.unroute('**/v2/process-instances/search');
      }
    },
    { statuses: [503] },
  ));

test('what no hint tells of is asked for with pauses that grow while it stays the same', () =>
  withPage(server, async (page) => {
    const sent = requestsOf(page);
    const asked = () => sent.filter(({ path }) => path === '/v2/topology').length;
    await page.goto(`${server.url}/admin/cluster`);
    await page.getByRole('heading', { level: 1, name: 'Cluster' }).waitFor();
    await until(() => asked() > 0, 'it is read');
    const before = asked();
    await pause(20_000);
    assert.ok(asked() - before >= 1 && asked() - before <= 2, `after 5 and 15 s, not every 5: ${asked() - before}`);
  }));

test('a server without a store says so, and what needs none works', async () => {
  const bare = await startServer(['secondary_storage.kind=none']);
  try {
    await withPage(
      bare,
      async (page) => {
        const sent = requestsOf(page);
        await page.goto(`${bare.url}/operate`);
        await page.getByText('This server keeps no secondary storage').waitFor();
        await page.getByRole('button', { name: 'No store' }).waitFor();
        await quiet(sent);
        const before = sent.length;
        await pause(6000);
        assert.deepEqual(sent.slice(before), [], 'it is not asked again and again');
      },
      { statuses: [403] },
    );
  } finally {
    await bare.stop();
  }
});
