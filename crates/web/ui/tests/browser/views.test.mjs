// Views on the server, "copy as", and the search for keys and IDs.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { closeBrowser, violations, withPage } from '../page.mjs';
import { bpmn, deploy, search, start, startServer, until } from '../server.mjs';

const HOSTILE = `it's <img src=x onerror=alert(1)> "$(touch /tmp/never)"`;
/** Runs a line in a shell and gives what it prints. The servers of the tests go on meanwhile. */
const shell = async (line) => (await promisify(execFile)('sh', ['-c', line], { timeout: 20_000 })).stdout;
let server;
let key;
before(async () => {
  server = await startServer();
  await deploy(server, { 'orders.bpmn': bpmn('orders', [['job', 'one', 'one']], { name: 'Orders' }) });
  key = await start(server, 'orders', { a: 1 }, { businessId: 'B-7' });
  await start(server, 'orders', { a: 2 });
  await until(async () => (await search(server, 'process-instances', {})).page.totalItems === 2, 'the instances are found');
});
after(async () => {
  await closeBrowser();
  await server?.stop();
});
const views = async () => (await server.rest('GET', '/baton/v1/views')).items;
const rows = (page) => page.getByRole('table', { name: 'Process instances', exact: true }).locator('tbody tr');

test('a list is saved as a view, opened, replaced, shared and deleted', () =>
  withPage(server, async (page) => {
    await page.goto(`${server.url}/operate/processes?businessId=B-7&active=true&sort=startDate%3Aasc`);
    await until(async () => (await rows(page).count()) === 1, 'the list is there');
    await page.getByRole('button', { name: 'Views …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Views' });
    await dialog.getByText('You have saved none here.').waitFor();
    await dialog.getByLabel('Name').fill(HOSTILE);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('link', { name: HOSTILE }).waitFor();
    const [view] = await views();
    assert.deepEqual([view.name, view.page, view.isShared, Object.fromEntries(new URLSearchParams(view.query))], [HOSTILE, 'operate/processes', false, { businessId: 'B-7', active: 'true', sort: 'startDate:asc' }]);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(page), [], colorScheme);
    }
    await dialog.getByRole('button', { name: 'Share' }).click();
    await dialog.getByText('for everybody', { exact: true }).first().waitFor();
    await until(async () => (await views())[0].isShared, 'it is shared');
    await page.goto(`${server.url}/operate/processes`);
    await until(async () => (await rows(page).count()) === 2, 'the list is there');
    await page.getByRole('button', { name: 'Views …' }).click();
    await dialog.getByRole('link', { name: HOSTILE }).click();
    await page.waitForURL(/businessId=B-7/);
    await until(async () => (await rows(page).count()) === 1, 'the view is open');
    assert.equal(await dialog.count(), 0);
    await page.getByRole('button', { name: 'Remove filter: business ID B-7' }).or(page.getByRole('button', { name: /Remove filter: .*B-7/ })).first().click();
    await page.getByRole('button', { name: 'Views …' }).click();
    await dialog.getByLabel('Name').fill(HOSTILE);
    await dialog.getByRole('button', { name: 'Replace' }).click();
    await until(async () => !(await views())[0].query.includes('B-7'), 'it is replaced');
    assert.equal((await views()).length, 1);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('You have saved none here.').waitFor();
    assert.deepEqual(await views(), []);
    assert.equal(await page.locator('img[src="x"]').count(), 0);
  }));

test('other lists have views of their own', () =>
  withPage(server, async (page) => {
    for (const [path, query] of [['tasklist', 'filter=unassigned&sortBy=due'], ['operate/jobs', 'find=one']]) {
      await page.goto(`${server.url}/${path}?${query}`);
      await page.getByRole('button', { name: 'Views …' }).click();
      const dialog = page.getByRole('dialog', { name: 'Views' });
      await dialog.getByText('You have saved none here.').waitFor();
      await dialog.getByLabel('Name').fill(path);
      await dialog.getByLabel('for everybody').check();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByRole('link', { name: path }).waitFor();
      const view = (await views()).find((one) => one.page === path);
      assert.deepEqual([view.query, view.isShared], [query, true]);
      await page.goto(`${server.url}/${path}`);
      await page.getByRole('button', { name: 'Views …' }).click();
      await dialog.getByRole('link', { name: path }).click();
      await page.waitForURL((url) => url.search === `?${query}`);
      await server.rest('DELETE', `/baton/v1/views/${view.viewKey}`);
    }
  }));

test('what is copied does the same elsewhere', () =>
  withPage(server, async (page) => {
    await page.goto(`${server.url}/operate/processes?businessId=B-7&var=a%3Aeq%3A1&errorMessage=`);
    await until(async () => (await rows(page).count()) === 1, 'the list is there');
    await page.getByRole('button', { name: 'Copy as …' }).click();
    const text = (name) => page.getByRole('dialog').getByRole('region', { name, exact: true }).locator('pre').innerText();
    assert.equal(await text('Link'), page.url());
    assert.equal(await text('Keys'), key);
    assert.deepEqual(JSON.parse(await text('Rows as JSON')).map((row) => row.processInstanceKey), [key]);
    const curl = await text('curl');
    const answer = JSON.parse(await shell(`${curl} -s`));
    assert.deepEqual(answer.items.map((row) => row.processInstanceKey), [key]);
    const line = await text('baton');
    const told = await shell(`${line.replace(/^baton/, process.env.BATON)} --json`);
    assert.ok(told.includes(key), told);
    assert.deepEqual(await violations(page), []);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.goto(`${server.url}/operate/processes?errorMessage=${encodeURIComponent(HOSTILE)}`);
    await page.getByText('No instance matches.').waitFor();
    await page.getByRole('button', { name: 'Copy as …' }).click();
    const hostile = (await text('curl')).replace(/^curl/, 'printf "%s\\n"');
    assert.ok((await shell(hostile)).includes(JSON.stringify(HOSTILE)), 'a shell takes it as one word');
  }));

test('the search asks once for a key or an ID, and leads there', () =>
  withPage(server, async (page) => {
    const asked = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    for (const [text, url] of [
      [key, `/operate/processes/${key}`],
      ['B-7', `/operate/processes/${key}`],
      ['orders', '/operate/definitions/orders'],
      ['rder', '/operate/definitions/orders'],
    ]) {
      await page.goto(`${server.url}/operate/definitions`);
      await page.getByRole('table', { name: 'Definitions' }).waitFor();
      await page.keyboard.press('Control+k');
      asked.length = 0;
      await page.getByRole('combobox', { name: /Key, business ID/ }).fill(text);
      await page.keyboard.press('Enter');
      await page.waitForURL(`**${url}`);
      const lookups = asked.filter((path) => path.startsWith('/baton/v1/lookup/'));
      assert.deepEqual(lookups, [`/baton/v1/lookup/${text}`]);
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Key, business ID/ }).fill('a/../b?x#y');
    await page.getByText('Nothing has this key, ID or name.').waitFor();
  }));
