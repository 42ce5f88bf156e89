// Servers and networks that are slow, cut off, restarted or newer than the page; and hands that are quick, or wrong.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { standBefore } from '../fresh.mjs';
import { closeBrowser, press, withPage } from '../page.mjs';
import { count, crewOf, FILES, PEOPLE, rowsOf } from '../people.mjs';
import { bpmn, deploy, search, start, startServer, until } from '../server.mjs';

let server;
const keys = {};
before(async () => {
  server = await startServer();
  await deploy(server, {
    'quick.bpmn': bpmn('quick', [['job', 'work', 'quick-job']], { name: 'Quick' }),
    'slow.bpmn': bpmn('slow', [['job', 'work', 'slow-job']], { name: 'Slow' }),
    'person.bpmn': bpmn('person', [['user', 'look', undefined, 'Look'], ['user', 'again', undefined, 'Again']]),
  });
  keys.quick = await start(server, 'quick', { a: 1 });
  await until(async () => (await search(server, 'variables', { processInstanceKey: keys.quick })).page.totalItems === 1, 'its variable is found');
});
after(async () => {
  await closeBrowser();
  await server?.stop();
});
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const opens = (page, path) => page.goto(server.url + path);
const DEFINITIONS = '**/v2/process-definitions/search';

test('while an answer is slow, what was shown stays; answers out of order show the last question', () =>
  withPage(server, async (page) => {
    await opens(page, '/operate/definitions');
    const rows = rowsOf(page, 'Definitions');
    await count(rows, 3);
    const find = async (text) => {
      await page.getByLabel('Find a process by name').fill(text);
      await page.keyboard.press('Enter');
    };
    // The first question is answered last.
    await page.route(DEFINITIONS, async (route) => {
      const answer = await route.fetch().catch(() => undefined);
      await pause(route.request().postData().includes('Slow') ? 1500 : 300);
      if (answer) await route.fulfill({ response: answer }).catch(() => undefined);
    });
    await find('Slow');
    await page.locator('.table.stale').waitFor({ state: 'attached' });
    assert.equal(await rows.count(), 3, 'what was shown stays');
    assert.equal(await page.getByText('Loading …').count(), 0);
    await find('Quick');
    await until(async () => (await rows.count()) === 1 && /Quick/.test(await rows.innerText()), 'the last question is answered');
    await pause(1800);
    assert.match(await rows.innerText(), /Quick/, 'a late answer changes nothing');
    assert.equal(await page.locator('.table.stale').count(), 0);
  }));

test('an answer that is cut off is asked for again, a few times, and then said', () =>
  withPage(
    server,
    async (page) => {
      let cuts = 2;
      let asked = 0;
      await page.route(DEFINITIONS, async (route) => {
        asked += 1;
        if (cuts <= 0) return route.continue();
        cuts -= 1;
        return route.fulfill({ status: 200, contentType: 'application/json', body: '{"items":[{"name":"Qu' });
      });
      await opens(page, '/operate/definitions');
      await count(rowsOf(page, 'Definitions'), 3);
      cuts = Infinity;
      asked = 0;
      await page.reload();
      await page.getByRole('alert').getByText('The answer of the server ended too early').waitFor({ timeout: 40_000 });
      await pause(4000);
      assert.ok(asked >= 2 && asked <= 6, `${asked} requests`);
      cuts = 0;
      await page.getByRole('button', { name: 'Try again' }).click();
      await count(rowsOf(page, 'Definitions'), 3);
    },
    { gone: true },
  ));

const problem = (status, title, detail) => ({ status, contentType: 'application/problem+json', body: JSON.stringify({ title, status, detail, instance: '/' }) });
/** Refusals of a server. */
const REFUSALS = [
  problem(503, 'RESOURCE_EXHAUSTED', 'too many commands are in flight'),
  problem(503, 'RESOURCE_EXHAUSTED', 'the disk has only 5 bytes left, below the limit of 10 bytes'),
  problem(503, 'RESOURCE_EXHAUSTED', 'the exporter opensearch has a backlog'),
  problem(504, 'DEADLINE_EXCEEDED', 'the partition has no leader'),
  problem(429, 'RESOURCE_EXHAUSTED', 'too many requests'),
  problem(500, 'INTERNAL', 'something broke'),
  problem(413, 'Payload Too Large', 'the body is larger than 4 MiB'),
  { status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1><script>alert(1)</script>' },
];

test('a command that is refused, cut off or without an answer is told, not repeated, and keeps what was typed', () =>
  withPage(
    server,
    async (page) => {
      page.on('dialog', (dialog) => (dialog.type() === 'alert' ? assert.fail('a script ran') : dialog.accept()));
      await opens(page, `/operate/processes/${keys.quick}/variables`);
      await page.getByRole('row', { name: /^a\b/ }).getByRole('button', { name: 'Edit' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Value').fill('"kept"');
      let answer;
      let sent = 0;
      await page.route('**/v2/element-instances/*/variables', (route) => {
        sent += 1;
        return answer === 'cut' ? route.abort() : route.fulfill(answer);
      });
      for (const refusal of [...REFUSALS, 'cut']) {
        answer = refusal;
        sent = 0;
        await dialog.getByRole('button', { name: 'Save' }).click();
        const words = refusal === 'cut' ? 'No connection' : refusal.contentType === 'text/html' ? 'Bad gateway' : JSON.parse(refusal.body).detail;
        await page.locator('dialog [role=alert]', { hasText: words }).first().waitFor();
        await dialog.getByRole('button', { name: 'Save' }).and(page.locator(':enabled')).waitFor();
        assert.deepEqual([sent, await dialog.getByLabel('Value').inputValue()], [1, '"kept"'], words);
      }
      await page.unroute('**/v2/element-instances/*/variables');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      assert.equal((await search(server, 'variables', { processInstanceKey: keys.quick, name: 'a' })).items[0].value, '"kept"');
    },
    { statuses: [413, 429, 500, 502, 503, 504], gone: true },
  ));

test('a page that is older than the server asks to be loaded again', () =>
  withPage(
    server,
    async (page) => {
      await opens(page, '/operate');
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      // The files of the old program are gone.
      await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404, contentType: 'text/html', body: 'Not found' }));
      await page.getByRole('link', { name: 'Messages', exact: true }).click();
      await page.getByRole('alert').getByText('A part of this page could not be loaded').waitFor();
      assert.equal((await fetch(`${server.url}/assets/Messages-00000000.js`)).status, 404);
      await page.unroute('**/assets/*.js');
      await page.getByRole('button', { name: 'Load the page again' }).click();
      await page.getByRole('heading', { name: 'Messages' }).waitFor();
      // Another page is reached without loading anew.
      await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404, contentType: 'text/html', body: 'Not found' }));
      await page.getByRole('link', { name: 'Banned instances', exact: true }).click();
      await page.getByRole('alert').getByText('A part of this page could not be loaded').waitFor();
      await page.getByRole('link', { name: 'Messages', exact: true }).click();
      await page.getByRole('heading', { name: 'Messages' }).waitFor();
    },
    { statuses: [404] },
  ));

const freePort = () =>
  new Promise((done) => {
    const listening = createServer().listen(0, '127.0.0.1', () => {
      const { port } = listening.address();
      listening.close(() => done(port));
    });
  });

test('a server that was restarted has forgotten sessions: the login opens over the page, and what was typed is sent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-again-'));
  writeFileSync(join(folder, 'identities.yaml'), FILES['identities.yaml']);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let running;
  const begin = async () => {
    const set = ['security.authentication.method=basic', `security.initialization=${join(folder, 'identities.yaml')}`].flatMap((one) => ['--set', one]);
    running = spawn(process.env.BATON, ['start', '--data-dir', join(folder, 'data'), '--rest', `127.0.0.1:${port}`, '--grpc', '127.0.0.1:0', '--management', '127.0.0.1:0', ...set], { stdio: 'ignore' });
    await until(async () => (await fetch(`${url}/baton/v1/boot`).catch(() => undefined))?.ok, 'the server is ready', 60_000);
  };
  const end = async () => {
    const ended = new Promise((done) => running.on('exit', done));
    running.kill('SIGTERM');
    await ended;
  };
  await begin();
  const front = process.env.FRESH ? await standBefore(url) : undefined;
  const shown = { url: front?.url ?? url };
  try {
    await crewOf(() => shown).withUser(
      'admin',
      '/admin/groups',
      async (page) => {
        await page.getByRole('button', { name: 'New group' }).click();
        await page.getByLabel('ID', { exact: true }).fill('restarted');
        await page.getByLabel('Name', { exact: true }).fill('Restarted');
        await end();
        await page.getByRole('button', { name: 'Create' }).click();
        await page.getByRole('dialog').getByRole('alert').waitFor();
        await begin();
        await press(page.getByRole('button', { name: 'Create' }));
        const login = page.getByRole('dialog', { name: 'Your session has ended' });
        await login.getByLabel('User name').fill('admin');
        await login.getByLabel('Password').fill(PEOPLE.admin);
        await login.getByRole('button', { name: 'Sign in' }).click();
        await rowsOf(page, 'Groups').filter({ hasText: 'restarted' }).waitFor();
      },
      { statuses: [502, 503], gone: true },
    );
  } finally {
    front?.close();
    await end();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Commands by the page they are on: what opens their dialog and fills it in, the button, and how often the server was asked to. */
const COMMANDS = () => [
  {
    name: 'a role is created',
    path: '/admin/roles',
    open: async (page) => {
      await page.getByRole('button', { name: 'New role' }).click();
      await page.getByLabel('ID', { exact: true }).fill('twice');
      await page.getByLabel('Name', { exact: true }).fill('Twice');
    },
    button: 'Create',
    request: /\/v2\/roles$/,
    enter: 'Name',
  },
  {
    name: 'a version is started',
    path: '/operate/definitions/quick',
    open: async (page) => {
      await page.getByRole('button', { name: 'Start …' }).click();
      await page.getByRole('dialog').getByLabel('Business ID').fill('twice');
    },
    button: 'Start',
    request: /\/v2\/process-instances$/,
  },
  {
    name: 'a variable is changed',
    path: `/operate/processes/${keys.quick}/variables`,
    open: async (page) => {
      await page.getByRole('button', { name: 'Add a variable' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('twice');
      await page.getByRole('dialog').getByLabel('Value').fill('1');
    },
    button: 'Save',
    request: /\/variables$/,
  },
  { name: 'an instance is suspended', path: `/operate/processes/${keys.quick}`, button: 'Suspend', request: /\/suspension$/ },
  { name: 'an instance is resumed', path: `/operate/processes/${keys.quick}`, button: 'Resume', request: /\/resumption$/ },
  { name: 'a task is completed', path: () => `/tasklist/${keys.task}`, button: 'Complete', request: /\/completion$/ },
  {
    name: 'a view is saved',
    path: '/operate/processes',
    open: async (page) => {
      await page.getByRole('button', { name: 'Views …' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('twice');
    },
    button: 'Save',
    request: /\/baton\/v1\/views$/,
  },
  {
    name: 'an instance is canceled',
    path: `/operate/processes/${keys.quick}`,
    open: (page) => page.getByRole('button', { name: 'Cancel instance' }).click(),
    button: 'Cancel instance',
    request: /\/cancellation$/,
  },
];

test('two clicks, and Enter twice, send one command', async () => {
  const instance = await start(server, 'person');
  const task = await until(async () => (await search(server, 'user-tasks', { processInstanceKey: instance })).items[0], 'the task is found');
  keys.task = task.userTaskKey;
  await server.rest('POST', `/v2/user-tasks/${keys.task}/assignment`, { assignee: 'me' });
  const wrong = [];
  await withPage(
    server,
    async (page) => {
      const sent = [];
      page.on('request', (request) => request.method() !== 'GET' && sent.push(new URL(request.url()).pathname));
      // Slow enough that the second click comes before the first answer.
      await page.route('**/*', async (route) => {
        if (route.request().method() === 'POST' && !/search|changes|statistics/.test(route.request().url())) await pause(300);
        await route.fallback();
      });
      for (const { name, path, open, button, request, enter } of COMMANDS()) {
        await opens(page, typeof path === 'function' ? path() : path);
        await page.locator('h1').first().waitFor({ state: 'attached' });
        await open?.(page);
        sent.length = 0;
        const place = open ? page.getByRole('dialog') : page;
        if (enter) {
          await place.getByLabel(enter, { exact: true }).press('Enter');
          await page.keyboard.press('Enter');
        } else {
          const pressed = place.getByRole('button', { name: button, exact: true }).last();
          await pressed.and(page.locator(':enabled')).waitFor();
          await pressed.evaluate((one) => {
            one.click();
            one.click();
          });
        }
        await until(() => sent.some((one) => request.test(one)), `${name}: it is sent`);
        await pause(700);
        const times = sent.filter((one) => request.test(one)).length;
        if (times !== 1) wrong.push(`${name}: ${times} times`);
      }
    },
    { statuses: [404] },
  );
  assert.deepEqual(wrong, []);
});

test('Escape asks before it throws away what was typed', () =>
  withPage(server, async (page) => {
    const instance = await start(server, 'quick');
    await until(async () => (await search(server, 'jobs', { processInstanceKey: instance })).page.totalItems === 1, 'its job is found');
    const table = [
      ['/operate/processes', '+ Filter', 'Business ID'],
      ['/operate/processes', '+ Alternative', 'Business ID'],
      ['/operate/processes', 'Views …', 'Name'],
      ['/operate/messages', 'Send a message …', 'Name of the message'],
      ['/operate/definitions/quick', 'Start …', 'Business ID'],
      [`/operate/processes/${instance}/variables`, 'Add a variable', 'Name'],
      [`/operate/processes/${instance}`, 'Act as the worker …', 'Variables as JSON'],
      ['/admin/groups', 'New group', 'Name'],
      ['/admin/users', 'New user', 'E-mail'],
    ];
    for (const [path, button, field] of table) {
      await opens(page, path);
      await page.getByRole('button', { name: button, exact: true }).click();
      const dialog = page.getByRole('dialog');
      const input = dialog.getByLabel(field).and(page.locator('input, textarea')).first();
      await input.fill('typed');
      let asked = 0;
      const keep = (one) => {
        asked += 1;
        void one.dismiss();
      };
      page.on('dialog', keep);
      // A list of suggestions closes first.
      for (let at = 0; at < 3 && asked === 0; at += 1) {
        await page.keyboard.press('Escape');
        await pause(50);
      }
      page.off('dialog', keep);
      assert.deepEqual([asked, await input.inputValue()], [1, 'typed'], `${path}, ${button}`);
      page.once('dialog', (one) => one.accept());
      for (let at = 0; at < 3 && (await dialog.count()) > 0; at += 1) {
        await page.keyboard.press('Escape');
        await pause(50);
      }
      assert.equal(await dialog.count(), 0, `${path}, ${button}`);
    }
  }));

test('a hundred thousand keys in the filter are told as too many, and stay there', () =>
  withPage(server, async (page) => {
    await opens(page, '/operate/processes');
    await page.getByRole('button', { name: '+ Filter' }).click();
    const dialog = page.getByRole('dialog');
    const pasted = Array.from({ length: 100_000 }, (_, at) => 2_251_799_813_685_249 + at).join('\n');
    // As a paste does it, but for the time that Chromium takes to lay out so many lines.
    await dialog.getByLabel('Instance keys').evaluate((one, text) => {
      one.value = text;
      one.dispatchEvent(new Event('input', { bubbles: true }));
    }, pasted);
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.getByText('The address holds at most 500 keys, and these are 100,000.').waitFor();
    assert.equal((await dialog.getByLabel('Instance keys').evaluate((one) => one.value)).length, pasted.length);
    assert.ok(!page.url().includes('ids='));
    // Emptied the same way: the look at whether it is visible lays all lines out again.
    await dialog.getByLabel('Instance keys').evaluate((one) => (one.value = ''));
    const some = [keys.quick, ...pasted.split('\n').slice(1000, 1499)];
    await dialog.getByLabel('Instance keys').fill(some.join(' '));
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/ids=/);
    await count(rowsOf(page, 'Process instances'), 1);
    await page.reload();
    await count(rowsOf(page, 'Process instances'), 1);
  }));

test('a folder that is dropped gives its models, also of folders in it; one without any says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-drop-'));
  const [full, empty] = [join(folder, 'full'), join(folder, 'empty')];
  mkdirSync(join(full, 'inner'), { recursive: true });
  mkdirSync(empty);
  writeFileSync(join(full, 'one.bpmn'), bpmn('dropped-one', [['job', 'work', 'x']]));
  writeFileSync(join(full, 'inner', 'two.bpmn'), bpmn('dropped-two', [['job', 'work', 'x']]));
  for (const place of [full, empty]) writeFileSync(join(place, 'README.txt'), 'nothing to deploy');
  try {
    await withPage(server, async (page, context) => {
      await opens(page, '/operate/definitions');
      const target = page.getByText('Drop BPMN', { exact: false }).first();
      await target.waitFor();
      const { x, y } = await target.boundingBox();
      const cdp = await context.newCDPSession(page);
      const drop = async (path) => {
        const data = { items: [], files: [path], dragOperationsMask: 1 };
        for (const type of ['dragEnter', 'dragOver', 'drop']) await cdp.send('Input.dispatchDragEvent', { type, x: x + 5, y: y + 5, data });
      };
      await drop(empty);
      await page.getByRole('alert').getByText('The folder empty has no files that can be deployed.').waitFor();
      await drop(full);
      await until(async () => (await search(server, 'process-definitions', { processDefinitionId: { $like: 'dropped-*' } })).page.totalItems === 2, 'both are deployed');
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
