// Jobs and workers, quarantine and the inside of the cluster.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { standBefore } from '../fresh.mjs';
import { closeBrowser, violations, withPage } from '../page.mjs';
import { bpmn, deploy, fail, search, start, startServer, until } from '../server.mjs';

const HOSTILE = '<img src=x onerror=alert(1)>/"\'%2F../🎭';
let server;
before(async () => {
  server = await startServer();
  await deploy(server, {
    'a.bpmn': bpmn('a', [['job', 'one', 'lonely']]),
    'b.bpmn': bpmn('b', [['job', 'one', 'served']]),
    'c.bpmn': bpmn('c', [['job', 'one', 'broken']]),
    'd.bpmn': bpmn('d', [['job', 'one', HOSTILE.replaceAll('<', '&lt;').replaceAll('"', '&quot;')]]),
  });
  for (const id of ['a', 'a', 'c', 'd']) await start(server, id);
  await fail(server, 'broken', 'no');
  await until(async () => (await search(server, 'jobs', {})).page.totalItems === 4, 'the jobs are found');
});
after(async () => {
  await closeBrowser();
  await server?.stop();
});

const look = async (page, path) => {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await violations(page, { coloursAlone: colorScheme === 'dark' }), [], `${path}, ${colorScheme}`);
  }
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, `${path} fits`);
};

test('job types are listed with what waits and who is there, those without workers first', () =>
  withPage(server, async (page) => {
    const stop = new AbortController();
    // A worker that waits for jobs of its type.
    const waiting = fetch(`${server.url}/v2/jobs/activation`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type: 'served', worker: HOSTILE, timeout: 60_000, maxJobsToActivate: 7, requestTimeout: 60_000 }), signal: stop.signal }).catch(() => undefined);
    try {
      await until(async () => (await server.rest('GET', '/baton/v1/job-types')).items.some(({ polls }) => polls === 1), 'the worker is there');
      await page.goto(`${server.url}/operate`);
      await page.getByRole('link', { name: 'Jobs', exact: true }).click();
      const rows = page.getByRole('table', { name: 'Job types' }).locator('tbody tr');
      await until(async () => (await rows.count()) === 4, async () => `${await rows.count()} types`);
      const texts = (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
      const told = (await server.rest('GET', '/baton/v1/job-types')).items.find(({ jobType }) => jobType === 'lonely');
      assert.equal(told.waiting, 2);
      assert.match(texts[0], /^No worker lonely – 2 0 0 0 /);
      assert.match(texts[2], /^Jobs failed broken – 0 0 1/);
      assert.match(texts[3], /^Workers wait served /);
      await look(page, '/operate/jobs');
      await page.getByRole('link', { name: 'served' }).click();
      const workers = page.getByRole('table', { name: 'Workers' }).locator('tbody tr');
      await until(async () => (await workers.count()) === 1, 'the worker is listed');
      const cells = await workers.first().getByRole('cell').allInnerTexts();
      assert.deepEqual(cells.slice(0, 4), [HOSTILE, 'Poll', '1', '7']);
      await look(page, '/operate/jobs?type=served');
      await page.getByRole('link', { name: HOSTILE }).click();
      await page.getByText('No worker is there for this type.').waitFor();
      await page.reload();
      await page.getByRole('heading', { name: `Workers of ${HOSTILE}` }).waitFor();
      assert.equal(await page.locator('img[src="x"]').count(), 0);
      await page.getByLabel('Find a job type').fill('LONE');
      await until(async () => (await rows.count()) === 1, 'one is found');
      await page.goto(`${server.url}/operate/jobs/lonely`);
      await page.getByRole('heading', { name: 'Workers of lonely' }).waitFor();
    } finally {
      stop.abort();
      await waiting;
    }
  }));

test('the cluster tells of exporters, disk, flow control and health in words', () =>
  withPage(server, async (page) => {
    await page.goto(`${server.url}/admin/cluster`);
    const told = await server.rest('GET', '/baton/v1/cluster');
    await page.getByText(`Cluster ${told.clusterId}, version ${told.version}`).waitFor();
    assert.match(await page.getByRole('table', { name: 'Exporters' }).innerText(), /secondary-storage\s+● Enabled/);
    assert.match(await page.getByRole('region', { name: 'Disk' }).innerText(), /GiB of .* are free; new work is refused when less than 1\.0 GiB are left/);
    assert.match(await page.getByRole('region', { name: 'Flow control' }).innerText(), /Partition 1: \d+ of 100 places for requests are taken\. No request was refused/);
    assert.match(await page.getByRole('table', { name: 'Partitions of this broker' }).innerText(), /1\s+Leader/);
    await look(page, '/admin/cluster');
  }));

test('a disk without room is told', () =>
  withPage(server, async (page) => {
    await page.route('**/baton/v1/cluster', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), disk: { freeBytes: 1, totalBytes: 1024, reservedBytes: 512 } } });
    });
    await page.goto(`${server.url}/admin/cluster`);
    await page.getByText('new work is refused until there is more').waitFor();
  }));

/** What an exporter sends records to: it refuses those with a text in them, as long as it is told to. */
async function pickyTarget() {
  // Records come again after a failure, as they were.
  const target = { refused: undefined, stored: new Map() };
  const listening = createServer(async (asked, answer) => {
    let body = '';
    for await (const part of asked) body += part;
    const tell = (status, told) => answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(told));
    if (!asked.url.startsWith('/_bulk')) return tell(asked.method === 'GET' ? 404 : 200, {});
    const documents = body.trim().split('\n').filter((_, at) => at % 2 === 1);
    const items = documents.map((text) => {
      if (target.refused && text.includes(target.refused)) return { index: { status: 400, error: { type: 'mapper_parsing_exception', reason: HOSTILE } } };
      const record = JSON.parse(text);
      target.stored.set(record.position, record.value.type);
      return { index: { status: 201 } };
    });
    return tell(200, { items });
  });
  await new Promise((done) => listening.listen(0, '127.0.0.1', done));
  return { target, url: `http://127.0.0.1:${listening.address().port}`, close: () => (listening.closeAllConnections(), listening.close()) };
}

test('records that an exporter could not take are shown with reasons and sent once more', async () => {
  const { target, url, close } = await pickyTarget();
  target.refused = 'refused-job';
  const exporting = ['enabled=true', `urls=${url}`, 'delay=0s', 'value_types=JOB'].map((one) => `export.opensearch.${one}`);
  const own = await startServer([...exporting, 'export.park_after=2'], { expected: [/refused|parked|exporting failed/] });
  try {
    await deploy(own, { 'r.bpmn': bpmn('r', [['job', 'one', 'refused-job']]), 't.bpmn': bpmn('t', [['job', 'one', 'taken-job']]) });
    for (const id of ['r', 't', 'r', 't']) await start(own, id);
    const exporter = async () => (await own.rest('GET', '/baton/v1/cluster')).exporters.find(({ exporterId }) => exporterId === 'opensearch');
    await until(async () => (await exporter()).parkedRecords === 2 && target.stored.size === 2, async () => JSON.stringify(await exporter()));
    await withPage(own, async (page) => {
      await page.goto(`${own.url}/admin/cluster`);
      await page.getByRole('button', { name: '2 records …' }).click();
      const rows = page.getByRole('table', { name: 'Records set aside' }).locator('tbody tr');
      await until(async () => (await rows.count()) === 2, 'both are there');
      await rows.first().getByText(HOSTILE).waitFor();
      assert.match(await rows.first().textContent(), /"type": "refused-job"/);
      await look(page, 'parked records');
      // The target refuses them again.
      await page.getByRole('button', { name: 'Send them once more' }).click();
      await page.getByText(/0 records were taken, 2 are refused again/).waitFor();
      assert.equal((await exporter()).parkedRecords, 2);
      target.refused = undefined;
      await page.getByRole('button', { name: 'Send them once more' }).dblclick();
      await page.getByText('2 records were taken.').waitFor();
      await until(async () => (await page.getByRole('dialog').count()) === 0, 'the dialog closes');
      assert.equal((await exporter()).parkedRecords, 0);
      assert.deepEqual([...target.stored.values()].sort(), ['refused-job', 'refused-job', 'taken-job', 'taken-job']);
      assert.equal(await page.locator('img[src="x"]').count(), 0);
    });
  } finally {
    await own.stop();
    close();
  }
});

const startedOn = [];
after(() => startedOn.forEach((one) => one.kill('SIGKILL')));
/** A server on a data directory that is there before and stays. */
async function startOn(data) {
  const process_ = spawn(process.env.BATON, ['start', '--data-dir', data, '--rest', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--management', '127.0.0.1:0', '--set', 'state.flush_interval=1h'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((done) => process_.on('exit', done));
  startedOn.push(process_);
  const lines = [];
  for (const stream of [process_.stdout, process_.stderr]) createInterface(stream).on('line', (line) => lines.push(line));
  const ready = await until(() => lines.find((line) => line.includes('baton ready in')) ?? (process_.exitCode !== null && 'ended'), () => `it is not ready: ${lines.join('\n')}`);
  const own = / web=(\S+)\/ /.exec(ready)[1];
  const front = process.env.FRESH ? await standBefore(own) : undefined;
  const url = front?.url ?? own;
  const rest = async (method, path, body) => {
    const answer = await fetch(url + path, { method, body: body instanceof FormData ? body : body && JSON.stringify(body), headers: body && !(body instanceof FormData) ? { 'content-type': 'application/json' } : {} });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return Object.assign(text === '' ? {} : JSON.parse(text), { position: answer.headers.get('baton-position') });
  };
  return { url, rest, end: async (signal) => (front?.close(), process_.kill(signal), ended) };
}

test('banned instances are listed with reasons, released and canceled', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-web-banned-'));
  const data = join(folder, 'data');
  let running = await startOn(data);
  try {
    await deploy(running, { 'x.bpmn': bpmn('x', [['job', 'one', 'x'], ['job', 'two', 'y']]) });
    const instances = [await start(running, 'x'), await start(running, 'x')];
    const { jobs } = await running.rest('POST', '/v2/jobs/activation', { type: 'x', timeout: 60_000, maxJobsToActivate: 2, requestTimeout: 5000 });
    assert.equal(jobs.length, 2);
    for (const { jobKey } of jobs) await running.rest('POST', `/v2/jobs/${jobKey}/completion`, {});
    await running.end('SIGKILL');
    // The last batches complete the jobs: they are set aside, as those that stop a partition are.
    const skip = (position) => {
      const { stdout, stderr } = spawnSync(process.env.BATON, ['partition', 'skip', String(position), '--force', '--data-dir', data], { encoding: 'utf8' });
      return stdout + stderr;
    };
    const last = Number(/last entry is at (\d+)/.exec(skip(1_000_000))[1]);
    for (const position of [last, last - 1]) assert.match(skip(position), /set aside: position \d+, 1 commands/);
    running = await startOn(data);
    const banned = async () => (await running.rest('GET', '/baton/v1/banned-instances')).items.map(({ processInstanceKey }) => processInstanceKey);
    assert.deepEqual((await banned()).sort(), instances.toSorted());
    await withPage(running, async (page) => {
      await page.goto(`${running.url}/operate/quarantine`);
      const rows = page.getByRole('table', { name: 'Banned instances' }).locator('tbody tr');
      await until(async () => (await rows.count()) === 2, async () => `${await rows.count()} rows`);
      await look(page, '/operate/quarantine');
      const [first, second] = instances;
      await rows.filter({ hasText: first }).getByRole('button', { name: 'Release' }).click();
      await look(page, 'release');
      await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
      await until(async () => (await rows.count()) === 1, 'it is gone from the page');
      assert.deepEqual(await banned(), [second]);
      await rows.first().getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel instance' }).click();
      await page.getByText('No instance is banned.').waitFor();
      assert.deepEqual(await banned(), []);
      await until(async () => (await running.rest('GET', `/v2/process-instances/${second}`).catch(() => ({}))).state === 'TERMINATED', 'it has ended');
    });
  } finally {
    await running.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
