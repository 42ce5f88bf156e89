// A smoke set of pages on PostgreSQL and OpenSearch, where they can be had: scripts/with-stores starts them. Everything else
// is tested on SQLite.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { closeBrowser, pressInMenu, withPage } from '../page.mjs';
import { count, rowsOf } from '../people.mjs';
import { bpmn, deploy, fail, search, start, startServer, until } from '../server.mjs';

const WITH_STORES = fileURLToPath(new URL('../../../../../scripts/with-stores', import.meta.url));
/** OpenSearch may have to come through Maven first. */
const START_MS = 240_000;
const STORES = {
  postgres: { variable: 'POSTGRES_URL', settings: (url) => ['secondary_storage.kind=postgres', `secondary_storage.postgres.url=${url}`, 'secondary_storage.postgres.schema=web_smoke'] },
  opensearch: { variable: 'OPENSEARCH_URL', settings: (url) => ['secondary_storage.kind=opensearch', `secondary_storage.opensearch.urls=${url}`, 'secondary_storage.opensearch.index_prefix=web-smoke'] },
};

/** The address of a store that runs until it is stopped, or why there is none. */
async function begin(kind) {
  const known = process.env[STORES[kind].variable];
  if (known) return { url: known, stop: () => undefined };
  const child = spawn(WITH_STORES, ['--only', kind, 'sh', '-c', `echo "url $${STORES[kind].variable}"; cat`], { stdio: ['pipe', 'pipe', 'pipe'] });
  const said = [];
  createInterface(child.stderr).on('line', (line) => said.push(line.replaceAll(/\u001b\[[\d;]*m/g, '').trim()));
  const ended = new Promise((done) => child.on('exit', done).on('error', (error) => done(said.push(error.message))));
  const told = new Promise((done) => createInterface(child.stdout).on('line', (line) => line.startsWith('url') && done(line.slice(4))));
  const late = new Promise((done) => setTimeout(done, START_MS).unref());
  const url = await Promise.race([told, ended.then(() => undefined), late]);
  const stop = async () => {
    child.stdin.end();
    await ended;
  };
  if (url) return { url, stop };
  await stop();
  return { why: said.filter(Boolean).slice(-5).join(' | ') || 'it is not installed' };
}
// Both start while the other files are tested.
const stores = Object.fromEntries(Object.keys(STORES).map((kind) => [kind, begin(kind)]));
after(async () => {
  await closeBrowser();
  for (const store of Object.values(stores)) await (await store).stop?.();
});

async function fill(server) {
  await until(() => search(server, 'incidents', {}).then(() => search(server, 'user-tasks', {})).catch(() => undefined), 'the store answers', 60_000);
  await deploy(server, {
    'store.bpmn': bpmn('store', [['job', 'charge', 'store-charge', 'Charge'], ['user', 'check', undefined, 'Check']], { name: 'Stored' }),
    'manual.bpmn': bpmn('manual', [['user', 'look', undefined, 'Look at it']], { name: 'Manual' }),
  });
  const broken = await start(server, 'store', { amount: 7, customer: 'ann' }, { businessId: 'store-1', tags: ['red'] });
  await fail(server, 'store-charge', 'no money');
  const waiting = await start(server, 'store', { amount: 8 }, { businessId: 'store-2' });
  const manual = await start(server, 'manual');
  await until(async () => (await search(server, 'incidents', { state: 'ACTIVE' })).page.totalItems === 1, 'the incident is found');
  await until(async () => (await search(server, 'process-instances', { hasIncident: true })).page.totalItems === 1, 'the instance has it');
  await until(async () => (await search(server, 'user-tasks', {})).page.totalItems === 1, 'the task is found');
  return { broken, waiting, manual };
}

const look = (server, keys) =>
  withPage(server, async (page) => {
    const rows = rowsOf(page, 'Process instances');
    for (const [query, expected] of [
      ['', 3],
      ['active=true', 2],
      ['incidents=true', 1],
      ['process=store', 2],
      ['process=store&version=1&elementId=charge&incidents=true', 1],
      ['businessId=store-2', 1],
      ['tags=red', 1],
      ['var=amount:eq:7', 1],
      ['var=customer:like:%22a%2A%22', 1],
      ['var=amount:exists:&sort=businessId:desc', 2],
      ['var=customer:exists:false', 2],
      ['or=businessId%3Dstore-1&or=process%3Dmanual', 2],
      [`ids=${keys.broken},${keys.manual}`, 2],
      ['errorMessage=no%20money', 1],
    ]) {
      await page.goto(`${server.url}/operate/processes?${query}`);
      await count(rows, expected).catch((error) => assert.fail(`${query}: ${error.message}`));
    }
    await page.goto(`${server.url}/operate/processes/${keys.broken}/variables`);
    await page.locator('.diagram[data-drawn]').waitFor();
    await page.getByRole('treegrid', { name: 'Element instances' }).getByText('Charge').waitFor();
    await page.getByRole('row', { name: /^amount/ }).getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Value').fill('12345678901234567890');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /^amount/ }).getByText('12345678901234567890').waitFor();
    assert.equal((await search(server, 'variables', { processInstanceKey: keys.broken, name: 'amount' })).items[0].value, '12345678901234567890');
    await page.goto(`${server.url}/operate/incidents`);
    await count(rowsOf(page, 'Incidents'), 1);
    await page.getByRole('region', { name: 'By error' }).getByText('no money').waitFor();
    await pressInMenu(rowsOf(page, 'Incidents'), 'Retry');
    await page.getByText('No open incident matches.').waitFor();
    assert.equal((await search(server, 'incidents', { state: 'ACTIVE' })).page.totalItems, 0);
    await count(rowsOf(page, 'Jobs that are retried'), 1);
    await page.goto(`${server.url}/operate/definitions`);
    await count(rowsOf(page, 'Definitions'), 2);
    await page.getByRole('link', { name: 'Stored' }).click();
    await page.locator('.diagram[data-drawn]').waitFor();
    await page.getByText(/2 running/).waitFor();
    const task = (await search(server, 'user-tasks', {})).items[0].userTaskKey;
    await server.rest('POST', `/v2/user-tasks/${task}/assignment`, { assignee: 'me' });
    await page.goto(`${server.url}/tasklist`);
    await page.getByRole('navigation', { name: 'Tasks' }).getByRole('link', { name: /Look at it/ }).click();
    await page.getByRole('button', { name: 'Complete' }).and(page.locator(':enabled')).click();
    await until(async () => (await search(server, 'user-tasks', { userTaskKey: task })).items[0].state === 'COMPLETED', 'the task is completed');
  });

for (const [kind, { settings }] of Object.entries(STORES)) {
  test(`instances, incidents, tasks and definitions are shown and changed on ${kind}`, async (context) => {
    const { url, why } = await stores[kind];
    if (!url) {
      context.skip(`${kind} cannot be had: ${why}`);
      return;
    }
    // A new store has no indices yet.
    const server = await startServer(settings(url), { expected: [/index_not_found_exception/, /an exporter is blocked and was left behind/] });
    try {
      await look(server, await fill(server));
    } finally {
      await server.stop();
    }
  });
}
