// Rules for every page: accessibility, content from strangers, addresses, headers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { closeBrowser, isSeen, openMenu, violations, withPage } from '../page.mjs';
import { bpmn, deploy, fail, search, start, startServer, until } from '../server.mjs';

const HOSTILE = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'`{{7*7}}‮txt.exe 🎭';
const LONG = 'x'.repeat(200_000);
let server;
const keys = {};

before(async () => {
  server = await startServer();
  await deploy(server, {
    'hostile.bpmn': bpmn('hostile', [['job', 'work', 'hostile-job', HOSTILE], ['user', 'person', undefined, HOSTILE]], { name: HOSTILE }),
    'user.bpmn': bpmn('user', [['user', 'person', undefined, HOSTILE]], { name: 'User' }),
    'one.dmn': `<?xml version="1.0"?><definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="one" name="one" namespace="n"><decision id="dec" name="&lt;b&gt;d&lt;/b&gt;"><variable id="v" name="x"/><literalExpression id="l"><text>"&lt;i&gt;"</text></literalExpression></decision></definitions>`,
  });
  await deploy(server, {
    'formed.form': JSON.stringify({ type: 'default', id: 'formed-form', schemaVersion: 16, components: [{ type: 'textfield', id: 'Field_x', key: 'x', label: HOSTILE }] }),
    'formed.bpmn': bpmn('formed', [['user', 'fill', 'formed-form']], { startForm: 'formed-form' }),
    'repair.bpmn': bpmn('repair', [['job', 'mend', 'repair-job']]),
  });
  keys.formed = await start(server, 'formed');
  keys.form = (await until(async () => (await search(server, 'user-tasks', { processInstanceKey: keys.formed })).items[0], 'the task is found')).userTaskKey;
  await deploy(server, { 'hostile.bpmn': bpmn('hostile', [['job', 'work', 'hostile-job', HOSTILE]], { name: HOSTILE }) });
  keys.instance = await start(server, 'hostile', { [HOSTILE]: HOSTILE, long: LONG, big: { deep: [[[[{ a: 1 }]]]] } }, { businessId: HOSTILE.slice(0, 100), processDefinitionVersion: 1 });
  await fail(server, 'hostile-job', HOSTILE + 'y'.repeat(5000));
  keys.user = await start(server, 'user', { text: HOSTILE });
  await server.rest('POST', '/v2/cluster-variables/global', { name: 'hostile', value: HOSTILE });
  await server.rest('POST', '/v2/groups', { groupId: 'hostile', name: HOSTILE, description: HOSTILE });
  await server.rest('POST', '/v2/mapping-rules', { mappingRuleId: 'hostile', name: HOSTILE, claimName: HOSTILE, claimValue: HOSTILE });
  const evaluated = await server.rest('POST', '/v2/decision-definitions/evaluation', { decisionDefinitionId: 'dec', variables: {} });
  assert.ok(evaluated);
  await until(async () => (await search(server, 'incidents', {})).page.totalItems === 1, 'the incident is found');
  keys.task = (await until(async () => (await search(server, 'user-tasks', { processInstanceKey: keys.user })).items[0], 'the task is found')).userTaskKey;
  keys.evaluation = (await until(async () => (await search(server, 'decision-instances', {})).items[0], 'the evaluation is found')).decisionEvaluationInstanceKey;
  const { batchOperationKey } = await server.rest('POST', '/v2/process-instances/incident-resolution', { filter: { processDefinitionId: 'nobody' } });
  keys.batch = batchOperationKey;
  await until(async () => (await search(server, 'batch-operations', {})).page.totalItems === 1, 'the batch operation is found');
});

after(async () => {
  await closeBrowser();
  await server?.stop();
});

/** Texts of pages that German has in other words. */
const messagesOf = (...files) => new Map(files.flatMap((file) => [...readFileSync(new URL(`../../src/language/${file}.ts`, import.meta.url), 'utf8').matchAll(/^ {2}'([^']+)': '((?:[^'\\]|\\.)*)'/gm)].map(([, key, text]) => [key, text])));
const PARTS = ['admin', 'change', 'history', 'instance', 'lists', 'log', 'login', 'models', 'overview', 'problems', 'tasks', 'words'];
const GERMAN = messagesOf('messages/de', ...PARTS.map((part) => `messages/de/${part}`));
const ALL_GERMAN = new Set(GERMAN.values());
/** Processes and variables of this test have these names. */
const OF_TEST = new Set(['User', 'text']);
const ENGLISH = [...messagesOf('en', ...PARTS.map((part) => `areas/${part}`))].flatMap(([key, text]) => (GERMAN.get(key) !== text && text.length > 3 && !OF_TEST.has(text) && !ALL_GERMAN.has(text) ? [text] : []));

/** Every page, with what shows that it is there. */
const pages = () => [
  ['/login', 'Baton'],
  ['/operate', 'Overview'],
  ['/operate/processes?active=true&incidents=true&process=hostile', 'Process instances'],
  [`/operate/processes/${keys.instance}`, HOSTILE],
  [`/operate/processes/${keys.instance}/incidents`, HOSTILE],
  [`/operate/processes/${keys.instance}/jobs`, HOSTILE],
  [`/operate/processes/${keys.instance}/called`, HOSTILE],
  [`/operate/processes/${keys.instance}/details`, HOSTILE],
  [`/operate/processes/${keys.instance}/details?element=work`, HOSTILE],
  [`/operate/processes/${keys.instance}/timeline`, HOSTILE],
  [`/operate/processes/${keys.instance}/listeners`, HOSTILE],
  [`/operate/processes/${keys.instance}/messages`, HOSTILE],
  [`/operate/processes/${keys.instance}/operations-log`, HOSTILE],
  [`/operate/processes/${keys.instance}?modify=true&element=work`, HOSTILE],
  ['/operate/migrate', 'Migrate instances'],
  ['/operate/migrate?process=hostile&version=1&target=user&targetVersion=1', 'Migrate instances'],
  ['/operate/incidents', 'Incidents'],
  ['/operate/messages', 'Messages'],
  ['/operate/messages?view=correlated', 'Messages'],
  ['/operate/operations-log', 'Operations log'],
  ['/operate/processes/1', 'There is no such instance'],
  [`/operate/processes/${keys.instance}/history`, `History of ${HOSTILE}`],
  ['/operate/definitions/hostile/durations', `Where time goes: ${HOSTILE}`],
  ['/operate/jobs', 'Jobs and workers'],
  ['/operate/jobs?type=hostile-job', 'Jobs and workers'],
  ['/operate/quarantine', 'Banned instances'],
  ['/admin/cluster', 'Cluster'],
  ['/operate/definitions', 'Definitions'],
  ['/operate/definitions/hostile', HOSTILE],
  ['/operate/definitions/hostile?heat=wait', HOSTILE],
  ['/operate/definitions/hostile?compare=2&version=1', HOSTILE],
  ['/operate/definitions/nothing', 'There is no such process'],
  ['/operate/decisions?decision=dec', 'Decisions'],
  [`/operate/decisions/${keys.evaluation}`, '<b>d</b>'],
  ['/operate/batch-operations', 'Batch operations'],
  [`/operate/batch-operations/${keys.batch}`, 'Resolve incident'],
  ['/tasklist', 'Tasks'],
  [`/tasklist/${keys.task}`, 'Tasks'],
  [`/tasklist/${keys.task}/process`, 'Tasks'],
  [`/tasklist/${keys.task}/history`, 'Tasks'],
  [`/tasklist/${keys.form}`, 'Tasks'],
  ['/tasklist/processes', 'Start a process'],
  ['/tasklist/processes/user/start', 'Start User'],
  ['/admin/users', 'Users'],
  ['/admin/users/nothing', 'User nothing'],
  ['/admin/groups', 'Groups'],
  ['/admin/groups/nothing', 'Group nothing'],
  ['/admin/roles', 'Roles'],
  ['/admin/roles/admin', 'Role admin'],
  ['/admin/tenants', 'Tenants'],
  ['/admin/tenants/nothing?members=clients', 'Tenant nothing'],
  ['/admin/mapping-rules', 'Mapping rules'],
  ['/admin/authorizations', 'Authorizations'],
  ['/admin/access?kind=USER&id=nobody', 'Who may do what'],
  ['/admin/cluster-variables', 'Cluster variables'],
  ['/admin/global-task-listeners', 'Global task listeners'],
  ['/admin/operations-log', 'Operations log'],
  ['/admin/usage', 'Usage'],
  ['/admin/cluster', 'Cluster'],
  ['/admin/about', 'About'],
  ['/operate/nothing', 'There is no such page'],
];

/** Pages with the button that opens a dialog. */
const dialogs = () => [
  [`/tasklist/${keys.task}`, 'Assign …'],
  [`/tasklist/${keys.task}`, 'Change …'],
  ['/admin/users', 'New user'],
  ['/admin/users', 'Search Ctrl K'],
  ['/admin/authorizations', 'New authorization'],
  ['/admin/global-task-listeners', 'New task listener'],
  ['/admin/operations-log', /Show details of/],
  ['/operate/processes', '+ Filter'],
  ['/operate/processes', '+ Alternative'],
  ['/operate/processes', 'Columns'],
  ['/operate/messages', 'Send a message …'],
  ['/operate/messages', 'Broadcast a signal …'],
  ['/operate/definitions/hostile', 'Start …'],
  ['/operate/definitions/hostile', 'Delete'],
  [`/operate/processes/${keys.instance}`, 'Act as the worker …'],
  [`/operate/processes/${keys.instance}`, 'Cancel instance'],
];

const settle = async (page, heading) => {
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).first().waitFor({ state: 'attached' });
  await until(() => page.evaluate(() => !document.body.innerText.includes('Loading …') && !document.querySelector('.diagram:not([data-drawn]), .dmn:not([data-drawn])')), 'the page is there');
};
const tooWide = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

test('no page violates WCAG 2.2 A and AA, in light and dark, and content from strangers is text in the layout', () =>
  withPage(
    server,
    async (page) => {
      page.on('dialog', (dialog) => assert.fail(`a script ran: ${dialog.message()}`));
      const found = {};
      const look = async (name) => {
        for (const colorScheme of ['light', 'dark']) {
          await page.emulateMedia({ colorScheme });
          const here = await violations(page, { coloursAlone: colorScheme === 'dark' });
          if (here.length > 0) found[`${name}, ${colorScheme}`] = here;
        }
      };
      for (const [path, heading] of pages()) {
        await page.goto(server.url + path);
        await settle(page, heading);
        await look(path);
        if ((await page.locator('img[src="x"]').count()) > 0) found[`${path}, markup`] = ['an image of a stranger'];
        const wider = await tooWide(page);
        if (wider > 0) found[`${path}, layout`] = [`${wider} px too wide`];
      }
      for (const [path, open] of dialogs()) {
        await page.goto(server.url + path);
        await page.getByRole('button', { name: open, exact: typeof open === 'string' }).first().click();
        await page.getByRole('dialog').waitFor();
        await look(`${path}, ${open}`);
      }
      assert.deepEqual(found, {});
    },
    { statuses: [404, 403] },
  ));

test('every page speaks German, in the layout, and none lacks a message', () =>
  withPage(
    server,
    async (page) => {
      const found = {};
      for (const [path] of pages()) {
        await page.goto(server.url + path);
        await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
        await until(() => page.evaluate(() => !document.body.innerText.includes('Wird geladen')), 'the page is there');
        const { lang, text } = await page.evaluate(() => ({ lang: document.documentElement.lang, text: document.body.innerText }));
        const lines = new Set(text.split('\n').map((line) => line.trim()));
        const english = ENGLISH.filter((one) => lines.has(one));
        if (lang !== 'de' || english.length > 0) found[path] = [lang, ...english];
        if ((await tooWide(page)) > 0) found[`${path}, layout`] = ['too wide'];
      }
      assert.deepEqual(found, {});
    },
    { statuses: [404, 403], locale: 'de-DE' },
  ));

test('a value of any length is shown whole', () =>
  withPage(server, async (page) => {
    await page.goto(`${server.url}/operate/processes/${keys.instance}/variables`);
    await page.getByRole('row', { name: /long/ }).getByRole('button', { name: 'Show' }).click();
    await until(async () => (await page.getByRole('dialog').locator('pre').innerText()).length === LONG.length + 2, 'the whole value is shown');
  }));

test('Tasklist and the login are usable from 360 px on', () =>
  withPage(
    server,
    async (page) => {
      for (const language of ['en', 'de']) {
        await page.goto(`${server.url}/login`);
        await page.evaluate((code) => localStorage.setItem('baton.language', code), language);
        for (const path of ['/login', '/tasklist', `/tasklist/${keys.task}`, `/tasklist/${keys.task}/process`, `/tasklist/${keys.task}/history`, '/tasklist/processes', '/tasklist/processes/user/start']) {
          await page.goto(server.url + path);
          await page.getByRole('heading').first().waitFor({ state: 'attached' });
          await until(() => page.evaluate(() => !document.querySelector('.form:not([data-drawn]), .diagram:not([data-drawn])')), 'the page is there');
          const wider = await tooWide(page);
          assert.ok(wider <= 0, `${path} in ${language} is ${wider} px too wide`);
        }
        await page.goto(`${server.url}/tasklist/${keys.task}`);
        for (const name of language === 'en' ? ['Assign …', 'Change …'] : ['Zuweisen …', 'Ändern …']) {
          await page.getByRole('button', { name, exact: true }).click();
          const box = await page.getByRole('dialog').boundingBox();
          assert.ok(box.x >= 0 && box.x + box.width <= 360, `the dialog ${name} is ${box.width} px wide`);
          await page.keyboard.press('Escape');
          await page.keyboard.press('Escape');
          await page.getByRole('dialog').waitFor({ state: 'detached' });
        }
      }
    },
    { viewport: { width: 360, height: 740 } },
  ));

test('at 200 % zoom, no page of Tasklist and Admin, nor the login, scrolls sideways', () =>
  withPage(
    server,
    async (page) => {
      for (const [path, heading] of pages().filter(([path]) => /^\/(login|tasklist|admin)/.test(path))) {
        await page.goto(server.url + path);
        // Where a task is open, the list with its heading has no room.
        await page.locator('h1', { hasText: heading }).first().waitFor({ state: 'attached' });
        await until(() => page.evaluate(() => !document.body.innerText.includes('Loading …') && !document.querySelector('.diagram:not([data-drawn])')), 'the page is there');
        const wider = await tooWide(page);
        assert.ok(wider <= 0, `${path} is ${wider} px too wide`);
      }
    },
    { statuses: [404], viewport: { width: 640, height: 450 } },
  ));

test('the watermark is visible and uncovered at every width', () =>
  withPage(server, async (page) => {
    for (const [path, mark] of [
      ['/operate/processes?process=hostile', '.bjs-powered-by'],
      [`/operate/processes/${keys.instance}`, '.bjs-powered-by'],
      [`/tasklist/${keys.task}/process`, '.bjs-powered-by'],
      [`/tasklist/${keys.form}`, '.fjs-powered-by'],
      ['/tasklist/processes/formed/start', '.fjs-powered-by'],
    ]) {
      for (const width of [360, 768, 1280, 1920]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(server.url + path);
        const shown = page.locator(mark).first();
        await shown.waitFor();
        await shown.scrollIntoViewIfNeeded();
        await until(
          () =>
            shown.evaluate((one) => {
              const { left, top, width, height } = one.getBoundingClientRect();
              const { opacity, visibility } = getComputedStyle(one);
              const at = (x, y) => one.contains(document.elementFromPoint(left + width * x, top + height * y)) || document.elementFromPoint(left + width * x, top + height * y)?.contains(one);
              return width >= 20 && height >= 10 && left >= 0 && left + width <= innerWidth && opacity === '1' && visibility === 'visible' && at(0.5, 0.5) && at(0.1, 0.2) && at(0.9, 0.8);
            }),
          `the watermark of ${path} is covered at ${width} px`,
        );
      }
    }
  }));

test('an incident is found, repaired and resolved with the keyboard alone', () =>
  withPage(server, async (page) => {
    const instance = await start(server, 'repair', { broken: true });
    await fail(server, 'repair-job', 'no power');
    const open = async () => (await search(server, 'incidents', { processInstanceKey: instance, state: 'ACTIVE' })).page.totalItems;
    await until(async () => (await open()) === 1, 'the incident is found');
    const tabTo = async (is) => {
      for (let at = 0; at < 120; at += 1) {
        if (await page.evaluate(is)) return;
        await page.keyboard.press('Tab');
      }
      assert.fail('the keyboard does not reach it');
    };
    await page.goto(`${server.url}/tasklist`);
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    await page.keyboard.press('Control+k');
    await page.keyboard.type(instance);
    await page.getByRole('option', { name: `Process instance ${instance}` }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/operate/processes/${instance}`));
    await page.getByRole('tab', { name: /Incidents/ }).waitFor();
    await tabTo(() => document.activeElement?.getAttribute('role') === 'tab' && /Incidents/.test(document.activeElement.textContent));
    await page.keyboard.press('Enter');
    await page.getByText('no power').first().waitFor();
    await tabTo(() => document.activeElement?.textContent?.trim() === 'Actions');
    await page.keyboard.press('Enter');
    await tabTo(() => document.activeElement?.textContent?.trim() === 'Retry');
    await page.keyboard.press('Enter');
    await until(async () => (await open()) === 0, 'the incident is resolved');
    // The search asks all kinds for the key.
  }, { statuses: [400, 404] }));

test('addresses of the reference lead to the page that shows it', () =>
  withPage(
    server,
    async (page) => {
      const table = [
        ['/operate/instances', '/operate/processes', 'Process instances'],
        [`/operate/instances/${keys.instance}`, `/operate/processes/${keys.instance}`, HOSTILE],
        ['/operate/login', '/', 'Baton'],
        ['/tasklist/login', '/', 'Baton'],
        ['/identity', '/admin/users', 'Users'],
        ['/identity/users', '/admin/users', 'Users'],
        ['/identity/mapping-rules', '/admin/mapping-rules', 'Mapping rules'],
        ['/identity/roles/admin', '/admin/roles/admin', 'Role admin'],
        ['/admin', '/admin/users', 'Users'],
        ['/', '/operate', 'Overview'],
        [`/operate/processes?ids=${keys.instance}&active=true&incidents=true`, '/operate/processes', 'Process instances'],
        ['/operate/processes?process=hostile&version=1&flowNodeId=work&incidents=true', '/operate/processes', 'Process instances'],
      ];
      for (const [from, to, heading] of table) {
        await page.goto(server.url + from);
        if (from.endsWith('/login')) {
          await page.getByRole('button', { name: 'Continue' }).waitFor();
          continue;
        }
        await page.waitForURL((url) => url.pathname === to);
        await settle(page, heading);
      }
      await page.goto(`${server.url}/operate/processes?process=hostile&version=1&flowNodeId=work&incidents=true`);
      await until(async () => (await page.getByRole('table', { name: 'Process instances', exact: true }).locator('tbody tr').count()) === 1, 'the parameters filter');
    },
    { statuses: [404] },
  ));

test('at 320 px the frame takes at most a quarter, and one menu says what its choices are', () =>
  withPage(
    server,
    async (page) => {
      for (const path of ['/operate', '/operate/operations-log', '/tasklist', '/admin/users', '/admin/about']) {
        await page.goto(server.url + path);
        await page.locator('.sub a.active').waitFor();
        const frame = await page.locator('.sub').evaluate((one) => one.getBoundingClientRect().bottom);
        assert.ok(frame <= 640 / 4, `the frame of ${path} takes ${frame} px`);
        await until(() => isSeen(page.locator('.sub a.active')), `the present page of ${path} is in sight`);
      }
      const menu = page.locator('.menu:popover-open');
      await openMenu(page);
      assert.deepEqual(await menu.getByLabel('Theme').getByRole('option').allInnerTexts(), ['System', 'Light', 'Dark']);
      assert.deepEqual(await menu.getByLabel('Times').getByRole('option').allInnerTexts(), ['Relative', 'Local time', 'UTC']);
      assert.equal(await menu.getByLabel('Language').getByRole('option').first().innerText(), 'Browser default');
      const { x, y, width, height } = await menu.boundingBox();
      assert.ok(x >= 0 && y >= 0 && x + width <= 320 && y + height <= 640, 'the menu is in the window');
      assert.deepEqual(await violations(page), []);
      await page.keyboard.press('Escape');
      await menu.waitFor({ state: 'detached' });
      assert.ok(await page.locator('.bar button.user').evaluate((one) => one === document.activeElement), 'the focus is where it was');
    },
    { viewport: { width: 320, height: 640 } },
  ));

test('a theme that was chosen holds, whatever the system says', () =>
  withPage(server, async (page) => {
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.goto(`${server.url}/operate`);
    assert.equal(await background(), 'rgb(255, 255, 255)');
    await openMenu(page);
    await page.getByLabel('Theme').selectOption('dark');
    assert.equal(await background(), 'rgb(17, 20, 24)');
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(await background(), 'rgb(17, 20, 24)');
    await openMenu(page);
    await page.getByLabel('Theme').selectOption('system');
    assert.equal(await background(), 'rgb(255, 255, 255)');
  }));

test('times are told as ago, by the clock here or in UTC, and the choice holds', () =>
  withPage(server, async (page, context) => {
    const cdp = await context.newCDPSession(page);
    await cdp.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Tokyo' });
    const { startDate } = await server.rest('GET', `/v2/process-instances/${keys.instance}`);
    const clock = (timeZone) => new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'medium', timeZone }).format(new Date(startDate));
    const started = page.locator(`time[datetime="${startDate}"]`).first();
    await page.goto(`${server.url}/operate/processes/${keys.instance}`);
    await until(async () => /ago|now/.test(await started.innerText()), 'relative at first');
    assert.equal(await started.getAttribute('title'), clock('Asia/Tokyo'));
    await openMenu(page);
    await page.getByLabel('Times').selectOption('UTC');
    assert.equal(await started.innerText(), `${clock('UTC')} UTC`);
    await page.reload();
    await started.waitFor();
    assert.equal(await started.innerText(), `${clock('UTC')} UTC`);
    assert.match(await started.getAttribute('title'), /ago|now/);
    await openMenu(page);
    await page.getByLabel('Times').selectOption('Local time');
    assert.equal(await started.innerText(), clock('Asia/Tokyo'));
  }));

test('a page says that the server is away, and goes on when it is back', () =>
  withPage(
    server,
    async (page) => {
      await page.goto(`${server.url}/operate/definitions`);
      await page.getByRole('table', { name: 'Definitions' }).waitFor();
      await page.route('**/v2/**', (route) => route.abort());
      await page.getByLabel('Find a process by name').fill('User');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText('No connection').waitFor({ timeout: 40_000 });
      await page.unroute('**/v2/**');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('table', { name: 'Definitions' }).getByRole('link', { name: 'User' }).waitFor();
    },
    // A line that the browser logs of a connection that is gone.
    { statuses: [], gone: true },
  ));

test('pages and files are cached and protected as they should be', async () => {
  const page = await fetch(`${server.url}/operate`);
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-security-policy'), /^default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.equal(page.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(page.headers.get('cross-origin-opener-policy'), 'same-origin');
  const text = await page.text();
  const assets = [...text.matchAll(/\/assets\/[^"]+/g)].map(([path]) => path);
  assert.ok(assets.length >= 3, text);
  for (const path of assets) {
    const asset = await fetch(server.url + path);
    assert.equal(asset.status, 200);
    assert.match(asset.headers.get('cache-control'), /immutable/);
  }
  const head = await fetch(`${server.url}/tasklist`, { method: 'HEAD' });
  assert.equal((await head.text()).length, 0);
  for (const [path, accept, status, type] of [
    ['/operate/nothing', 'text/html', 404, 'text/html'],
    ['/operate/nothing', 'application/json', 404, 'application/problem+json'],
    ['/assets/nothing.js', '*/*', 404, null],
    ['/assets/..%2f..%2fCargo.toml', '*/*', 404, null],
    ['/v2/nothing', 'text/html', 404, 'application/problem+json'],
    ['/v2/topology', 'application/json', 200, 'application/json'],
    ['/baton/v1/nothing', 'text/html', 404, 'application/problem+json'],
  ]) {
    const answer = await fetch(server.url + path, { headers: { accept } });
    assert.equal(answer.status, status, path);
    assert.equal(answer.headers.get('content-type')?.split(';')[0] ?? null, type, path);
    assert.ok(!(await answer.text()).includes('[workspace]'));
  }
  const boot = await (await fetch(`${server.url}/baton/v1/boot`)).json();
  assert.deepEqual([boot.title, boot.authentication], ['Baton', 'none']);
});

test('what a browser loads until the first list, and with a diagram, stays small', async () => {
  const sizes = async (path, wait) => {
    let bytes = 0;
    await withPage(server, async (page) => {
      const answers = [];
      page.on('response', (response) => response.url().includes('/assets/') && answers.push(response));
      await page.goto(server.url + path);
      await wait(page);
      for (const answer of answers) bytes += Number((await answer.allHeaders())['content-length'] ?? 0);
    });
    return Math.round(bytes / 1024);
  };
  const list = await sizes('/operate/processes', (page) => page.getByRole('table', { name: 'Process instances', exact: true }).waitFor());
  const diagram = await sizes('/operate/processes?process=hostile', (page) => page.locator('.diagram[data-drawn]').waitFor());
  console.log(`the first list takes ${list} KiB, with a diagram ${diagram} KiB`);
  assert.ok(list > 10 && list <= 90, `${list} KiB`);
  assert.ok(diagram > list && diagram <= 160, `${diagram} KiB`);
});
