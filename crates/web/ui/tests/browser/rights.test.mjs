// Pages of those who look after the system, for somebody who may look at one process alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, withPage } from '../page.mjs';
import { bpmn, deploy, search, start, startServer, until } from '../server.mjs';

const PEOPLE = { admin: 'admin-password', eve: 'eve-password' };
const INITIALIZATION = `
users:
  - { username: admin, password: admin-password, name: Admin, email: admin@example.com }
  - { username: eve, password: eve-password, name: Eve, email: eve@example.com }
roles:
  - { id: admin, users: [admin] }
authorizations:
  - { owner_type: USER, owner_id: eve, resource_type: COMPONENT, resource_id: "*", permissions: [ACCESS] }
  - { owner_type: USER, owner_id: eve, resource_type: PROCESS_DEFINITION, resource_id: mine, permissions: [READ_PROCESS_DEFINITION, READ_PROCESS_INSTANCE, UPDATE_PROCESS_INSTANCE] }
`;
let server;
let mine;
let theirs;
const as = (user) => ({ authorization: `Basic ${Buffer.from(`${user}:${PEOPLE[user]}`).toString('base64')}` });
const admin = as('admin');

before(async () => {
  server = await startServer(['security.authentication.method=basic', 'security.authorizations=true', 'security.initialization=@FOLDER@/people.yaml', 'secondary_storage.steps=true'], { files: { 'people.yaml': INITIALIZATION } });
  await deploy(server, { 'mine.bpmn': bpmn('mine', [['job', 'one', 'one']]), 'theirs.bpmn': bpmn('theirs', [['job', 'secret', 'secret']], { name: 'Secret' }) }, admin);
  mine = await start(server, 'mine', { a: 1 }, {}, admin);
  theirs = await start(server, 'theirs', { a: 1 }, { businessId: 'B-1' }, admin);
  await until(async () => (await search(server, 'jobs', {}, {}, admin)).page.totalItems === 2, 'the jobs are found');
  await server.rest('POST', '/baton/v1/views', { name: 'For all', page: 'operate/processes', query: 'active=true', isShared: true }, admin);
  await server.rest('POST', '/baton/v1/views', { name: 'Private', page: 'operate/processes', query: 'active=true', isShared: false }, admin);
});
after(async () => {
  await closeBrowser();
  await server?.stop();
});

/** A page of eve; before she has signed in, the API says 401 once. */
const asEve = (path, work) =>
  withPage(
    server,
    async (page) => {
      await page.goto(`${server.url}/login?next=${encodeURIComponent(path)}`);
      await page.getByLabel('User name').fill('eve');
      await page.getByLabel('Password').fill(PEOPLE.eve);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL((url) => url.pathname !== '/login');
      await work(page);
    },
    { statuses: [401, 403, 404] },
  );

test('pages of the system name the permission that is missing, and show nothing', () =>
  asEve('/operate/jobs', async (page) => {
    for (const [path, permission] of [
      ['/operate/jobs', 'READ_JOB_METRIC'],
      ['/operate/quarantine', 'READ'],
      ['/admin/cluster', 'READ'],
    ]) {
      await page.goto(server.url + path);
      const refusal = page.getByRole('alert');
      await refusal.getByText(permission).waitFor();
      assert.match(await refusal.innerText(), /SYSTEM/);
      assert.ok(!(await page.locator('main').innerText()).includes('secret'));
    }
  }));

test("histories, durations and the search show what one may see, and hints tell of nothing else", () =>
  asEve(`/operate/processes/${mine}/history`, async (page) => {
    await page.getByText(/Step \d+ of \d+/).waitFor();
    await page.goto(`${server.url}/operate/processes/${theirs}/history`);
    await until(async () => /There is no such instance|READ_PROCESS_INSTANCE/.test(await page.locator('main').innerText()), () => 'it is refused');
    assert.ok(!(await page.locator('body').innerText()).includes('Secret'));
    await page.goto(`${server.url}/operate/definitions/theirs/durations`);
    await page.getByRole('heading', { name: 'There is no such process' }).waitFor();
    for (const text of [theirs, 'B-1', 'theirs', 'Secret']) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: /Key, business ID/ }).fill(text);
      await page.getByText('Nothing has this key, ID or name.').waitFor();
      await page.getByRole('combobox', { name: /Key, business ID/ }).fill('');
      await page.getByRole('button', { name: 'Close' }).click();
    }
    const hints = await page.evaluate(async (theirs) => {
      const csrf = document.cookie.split('; ').find((one) => one.startsWith('X-CSRF-TOKEN='))?.slice(13);
      const ask = async (body) => (await fetch('/baton/v1/changes', { method: 'POST', headers: { 'content-type': 'application/json', 'x-csrf-token': csrf ?? '' }, body: JSON.stringify(body) })).json();
      const topics = [`process-instance:${theirs}`];
      const { after } = await ask({ topics });
      globalThis.hint = ask({ after, topics, timeoutMs: 4000 });
      return 'asked';
    }, theirs);
    assert.equal(hints, 'asked');
    await server.rest('PUT', `/v2/element-instances/${theirs}/variables`, { variables: { a: 2 } }, admin);
    assert.deepEqual((await page.evaluate(() => globalThis.hint)).changed, []);
  }));

test('a process that is not known yet is asked no rights of', () =>
  asEve('/operate', async (page) => {
    const asked = [];
    page.on('request', (request) => request.url().endsWith('/permissions') && asked.push(...JSON.parse(request.postData()).checks));
    let answer;
    const isTold = new Promise((done) => (answer = done));
    await page.route('**/v2/process-definitions/search', async (route) => {
      await isTold;
      await route.continue();
    });
    await page.goto(`${server.url}/operate/migrate?process=mine&version=1&ids=${mine}&target=mine&targetVersion=1`);
    await until(() => asked.length > 0, 'rights are asked for before the process is known');
    answer();
    await until(() => asked.some((check) => check.resourceId === 'mine'), 'the process is asked about');
    assert.ok(asked.every((check) => check.resourceId !== ''), JSON.stringify(asked));
  }));

test('shared views of others can be opened, and nothing else; private ones are not there', () =>
  asEve('/operate/processes', async (page) => {
    await page.getByRole('button', { name: 'Views …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Views' });
    const shared = dialog.getByRole('table', { name: 'Shared views' });
    await shared.getByText('by admin').waitFor();
    assert.equal(await shared.getByRole('button').count(), 0);
    assert.equal(await dialog.getByText('Private').count(), 0);
    await shared.getByRole('link', { name: 'For all' }).click();
    await page.waitForURL(/active=true/);
  }));
