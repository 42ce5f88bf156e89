// Views on the server, "copy as", and the search for keys and IDs.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { closeBrowser, violations, withPage } from '../page.mjs';
import { bpmn, deploy, search, start, startServer, until } from '../server.mjs';

const HOSTILE = `it's <img src=x onerror=alert(1)> "$(touch /tmp/never)"`;
/** Runs a line in a shell and gives what it prints. The servers of the tests go on meanwhile. */
const told = async (program, words) => (await promisify(execFile)(program, words, { timeout: 20_000 })).stdout;
const shell = (line) => told('sh', ['-c', line]);
/** The text that the button of a form copies. */
async function copied(page, name) {
  const dialog = page.getByRole('dialog', { name: 'Copy as', exact: true });
  await page.evaluate(() => {
    navigator.clipboard.writeText = async (text) => (globalThis.copied = text);
  });
  await dialog.getByRole('button', { name: `Copy ${name}`, exact: true }).click();
  return page.evaluate(() => globalThis.copied);
}
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
      assert.deepEqual(await violations(page, { coloursAlone: colorScheme === 'dark' }), [], colorScheme);
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
    for (const [path, query] of [
      ['tasklist', 'filter=unassigned&sortBy=due'],
      ['operate/jobs', 'find=one'],
      ['operate/decisions', 'failed=true&sort=state%3Aasc'],
      ['operate/definitions', 'name=Ord'],
      ['operate/incidents', 'message=no&age=hour'],
      ['operate/batch-operations', 'sort=state%3Aasc'],
      ['operate/operations-log', 'operationType=CREATE'],
      ['operate/messages', 'name=paid&view=correlated'],
    ]) {
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

/** Runs the programs of a copy, with whatever of their languages is there, and looks at what each tells. */
async function runs(text, look) {
  look(await shell(`${await text('curl')} -s`));
  look(await told(process.execPath, ['--input-type=module', '-e', await text('Node')]));
  look(await told('python3', ['-c', await text('Python')]));
  const java = await text('Java');
  assert.match(java, /^import java/);
  if (spawnSync('java', ['--version']).status !== 0) return;
  const folder = mkdtempSync(join(tmpdir(), 'baton-java-'));
  writeFileSync(join(folder, 'Main.java'), java);
  look(await told('java', ['-XX:TieredStopAtLevel=1', join(folder, 'Main.java')]));
  rmSync(folder, { recursive: true });
}

test('what is copied does the same elsewhere', () =>
  withPage(server, async (page) => {
    await page.goto(`${server.url}/operate/processes?businessId=B-7&var=a%3Aeq%3A1&errorMessage=`);
    await until(async () => (await rows(page).count()) === 1, 'the list is there');
    await page.getByRole('button', { name: 'Copy as …' }).click();
    const text = (name) => copied(page, name);
    assert.equal(await text('Link'), page.url());
    assert.equal(await text('Keys'), key);
    assert.deepEqual(JSON.parse(await text('Rows as JSON')).map((row) => row.processInstanceKey), [key]);
    await runs(text, (told) => assert.deepEqual(JSON.parse(told).items.map((row) => row.processInstanceKey), [key]));
    const line = await text('baton');
    const found = await shell(`${line.replace(/^baton/, process.env.BATON)} --json`);
    assert.ok(found.includes(key), found);
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

test('every list, a selection of it, and commands before and after they are sent can be copied', async () => {
  await deploy(server, { 'copied.bpmn': bpmn('copied', [['user', 'person'], ['job', 'work', 'copied-job']]) });
  const instances = [await start(server, 'copied'), await start(server, 'copied'), await start(server, 'copied')];
  const [first, second, third] = instances;
  const tasks = await until(async () => {
    const { items } = await search(server, 'user-tasks', { processDefinitionId: 'copied' });
    return items.length === 3 && items;
  }, 'the tasks are found');
  await server.rest('POST', '/v2/roles', { roleId: 'copied', name: 'Copied' });
  await withPage(server, async (page) => {
    const form = (name) => copied(page, name);
    const close = () => page.getByRole('dialog', { name: 'Copy as', exact: true }).getByRole('button', { name: 'Close' }).click();
    for (const [path, wanted] of [
      [`/operate/processes/${first}/variables`, undefined],
      [`/operate/processes/${first}/incidents`, undefined],
      [`/operate/processes/${first}/jobs`, undefined],
      ['/operate/definitions', /copied/],
      ['/operate/decisions', undefined],
      ['/operate/incidents', undefined],
      ['/operate/messages', undefined],
      ['/operate/operations-log', /PROCESS_INSTANCE/],
      ['/operate/batch-operations', undefined],
      ['/operate/jobs', /jobType|items/],
      ['/operate/quarantine', undefined],
      ['/tasklist', /userTaskKey/],
      ['/admin/users', undefined],
      ['/admin/roles', /copied/],
      ['/admin/authorizations', undefined],
      ['/admin/operations-log', /PROCESS_INSTANCE/],
    ]) {
      // The page may show what was there a moment before the command is run.
      await until(async () => {
        await page.goto(server.url + path);
        await page.getByRole('button', { name: 'Copy as …' }).first().click();
        await form('curl');
        const found = JSON.parse(await shell(`${await form('curl')} -s`));
        assert.ok(Array.isArray(found.items), path);
        if (wanted) assert.match(JSON.stringify(found), wanted, path);
        return JSON.parse(await form('Rows as JSON')).length === found.items.length;
      }, `${path} shows what its command finds`);
    }
    // A selection is what was chosen, and nothing else.
    await page.goto(`${server.url}/operate/processes?process=copied`);
    await page.getByLabel(`Choose ${first}`).check();
    await page.getByLabel(`Choose ${third}`).check();
    await page.getByRole('button', { name: 'Copy as …' }).click();
    assert.deepEqual((await form('Keys')).split('\n').sort(), [first, third].sort());
    assert.deepEqual(JSON.parse(await shell(`${await form('curl')} -s`)).items.map((one) => one.processInstanceKey).sort(), [first, third].sort());
    await close();
    // A command before it is sent: nothing happens here, and the same elsewhere.
    const state = async (key) => (await server.rest('GET', `/v2/process-instances/${key}`)).state;
    await page.goto(`${server.url}/operate/processes/${first}`);
    await page.getByRole('button', { name: 'Cancel instance' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Copy as …' }).click();
    const line = await form('baton');
    assert.deepEqual([line.startsWith(`baton cancel ${first} `), await state(first)], [true, 'ACTIVE']);
    await shell(line.replace(/^baton/, process.env.BATON));
    await until(async () => (await state(first)) === 'TERMINATED', 'the command line has canceled it');
    await page.goto(`${server.url}/operate/definitions/copied`);
    await page.getByRole('button', { name: 'Start …' }).click();
    await page.getByRole('dialog').getByLabel(/JSON/).fill('{"big": 12345678901234567890}');
    await page.getByRole('dialog').getByRole('button', { name: 'Copy as …' }).click();
    const made = JSON.parse(await shell(`${await form('curl')} -s`));
    const [{ value }] = await until(async () => {
      const { items } = await search(server, 'variables', { processInstanceKey: made.processInstanceKey });
      return items.length > 0 && items;
    }, 'the instance has its variable');
    assert.equal(value, '12345678901234567890');
    // Commands that were sent are in the search.
    await page.goto(`${server.url}/tasklist/${tasks.find((one) => one.processInstanceKey === second).userTaskKey}`);
    await page.getByRole('button', { name: 'Complete' }).waitFor();
    await page.goto(`${server.url}/operate/processes/${second}/variables`);
    await page.getByRole('button', { name: 'Add a variable' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill(HOSTILE);
    await page.getByRole('dialog').getByLabel('Value').fill(`{"text": ${JSON.stringify(HOSTILE)}, "number": 12345678901234567890}`);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.getByRole('button', { name: 'Commands that this page has sent' }).click();
    await page.getByRole('dialog', { name: 'Commands that this page has sent' }).getByRole('button', { name: 'Copy as …' }).click();
    assert.deepEqual(await violations(page), []);
    const valueOf = async (instance) => (await search(server, 'variables', { processInstanceKey: instance, name: HOSTILE })).items[0]?.value;
    const sent = await valueOf(second);
    assert.match(sent, /12345678901234567890/);
    for (const language of ['Node', 'Python']) {
      const program = (await form(language)).replaceAll(second, third);
      await (language === 'Node' ? told(process.execPath, ['--input-type=module', '-e', program]) : told('python3', ['-c', program]));
      await until(async () => (await valueOf(third)) === sent, `${language} has set the same`);
      await server.rest('PUT', `/v2/element-instances/${third}/variables`, { variables: { [HOSTILE]: null } });
      await until(async () => (await valueOf(third)) === 'null', 'it is another one');
    }
  });
});

test('a deployment is copied as lines and programs that send the same files', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-copy-'));
  const name = `it's "one", a;b.bpmn`;
  const versions = async () => (await search(server, 'process-definitions', { processDefinitionId: 'sent' })).items.length;
  const text = (at) => bpmn('sent', [['job', 'a', `type-${at}`]]);
  try {
    await withPage(server, async (page) => {
      await page.goto(`${server.url}/operate/definitions`);
      await page.locator('input[type=file]').setInputFiles([{ name, mimeType: 'application/octet-stream', buffer: Buffer.from(text(1)) }]);
      await page.getByRole('status').filter({ hasText: 'Deployed' }).waitFor();
      await page.locator('.panel', { hasText: 'Deployed' }).getByRole('button', { name: 'Copy as …' }).click();
      const inFolder = (program, words) => promisify(execFile)(program, words, { cwd: folder, timeout: 60_000 });
      const ways = {
        curl: (line) => inFolder('sh', ['-c', `${line} -s`]),
        baton: (line) => inFolder('sh', ['-c', line.replace(/^baton/, process.env.BATON)]),
        Node: (program) => inFolder(process.execPath, ['--input-type=module', '-e', program]),
        Python: (program) => inFolder('python3', ['-c', program]),
        Java: (program) => {
          writeFileSync(join(folder, 'Main.java'), program);
          return inFolder('java', ['Main.java']);
        },
      };
      for (const [at, [way, run]] of Object.entries(ways).entries()) {
        writeFileSync(join(folder, name), text(at + 2));
        await run(await copied(page, way));
        await until(async () => (await versions()) === at + 2, `${way} has deployed the file of its folder`);
      }
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
