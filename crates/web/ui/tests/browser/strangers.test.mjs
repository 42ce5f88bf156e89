// Content from strangers, forms and models that are not as they should be, and addresses that lead nowhere.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, withPage } from '../page.mjs';
import { bpmn, deploy, fail, search, start, startServer, until } from '../server.mjs';

const LONG = 4000;
/** Texts that the engine may be given, each with what would show that it is more than text. */
const TEXTS = {
  markup: '<img src=x onerror=alert(1)><svg/onload=alert(1)>',
  script: '</script><script>alert(1)</script>',
  link: 'javascript:alert(1)',
  template: '{{constructor.constructor("alert(1)")()}}${alert(1)}',
  turned: 'invoice\u202efdp.exe\u2066\u0007',
  emoji: '🎭👩‍👩‍👧‍👦e\u0301\u200b',
  nothing: 'a\u0000b',
  long: 'n'.repeat(LONG),
  words: 'word '.repeat(LONG / 5),
};
const NAMES = Object.keys(TEXTS);
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll(/[\u0000-\u0008]/g, '');
let server;
const keys = {};

/** Places that take a text, by what they are; what is refused there is refused with a reason. */
const places = {
  role: (name, text) => server.rest('POST', '/v2/roles', { roleId: `s-${name}`, name: text, description: text }),
  group: (name, text) => server.rest('POST', '/v2/groups', { groupId: `s-${name}`, name: text, description: text }),
  tenant: (name, text) => server.rest('POST', '/v2/tenants', { tenantId: `s-${name}`, name: text, description: text }),
  user: (name, text) => server.rest('POST', '/v2/users', { username: `s-${name}`, name: text, email: 's@example.com', password: 'stranger-password' }),
  rule: (name, text) => server.rest('POST', '/v2/mapping-rules', { mappingRuleId: `s-${name}`, name: text, claimName: text, claimValue: text }),
  setting: (name, text) => server.rest('POST', '/v2/cluster-variables/global', { name: `s-${name}`, value: { [text]: [text] } }),
  variable: (name, text) => start(server, 'strange', { [text]: text, deep: JSON.parse(`${'['.repeat(200)}${JSON.stringify(text)}${']'.repeat(200)}`) }),
  business: (name, text) => start(server, 'strange', {}, { businessId: text }),
  tag: (name, text) => start(server, 'strange', {}, { tags: [text] }),
  message: (name, text) => server.rest('POST', '/v2/messages/publication', { name: text, correlationKey: text, timeToLive: 60_000, messageId: text }),
  signal: (name, text) => server.rest('POST', '/v2/signals/broadcast', { signalName: text }),
  waiting: (name, text) => start(server, 'waiting', { key: text, name: text }),
  error: async (name, text) => {
    await start(server, 'failing');
    await fail(server, 'strange-fail', text);
  },
  worker: (name, text) => server.rest('POST', '/v2/jobs/activation', { type: 'strange-job', worker: text, timeout: 600_000, maxJobsToActivate: 1, requestTimeout: -1 }),
  model: (name, text) => deploy(server, { [`s-${name}.bpmn`]: bpmn(`s-${name}`, [['job', 'work', 'modelled', escaped(text)]], { name: escaped(text) }) }),
  file: (name, text) => deploy(server, { [`${text}.bpmn`]: bpmn(`f-${name}`, [['job', 'work', 'filed']]) }),
  task: async (name, text) => {
    const instance = await start(server, 'person');
    const task = await until(async () => (await search(server, 'user-tasks', { processInstanceKey: instance })).items[0], 'the task is found');
    await server.rest('PATCH', `/v2/user-tasks/${task.userTaskKey}`, { changeset: { candidateGroups: [text], candidateUsers: [text] } });
    await server.rest('POST', `/v2/user-tasks/${task.userTaskKey}/assignment`, { assignee: text });
  },
  document: async (name, text) => {
    const form = new FormData();
    form.append('file', new Blob(['content']), 'plain.txt');
    form.append('metadata', new Blob([JSON.stringify({ fileName: text, contentType: 'text/html' })], { type: 'application/json' }));
    const document = await server.rest('POST', '/v2/documents', form);
    await start(server, 'person', { papers: [document] });
  },
  decision: (name, text) =>
    deploy(server, {
      [`s-${name}.dmn`]: `<?xml version="1.0"?><definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d-${name}" name="s" namespace="n"><decision id="s-${name}" name="${escaped(text)}"><decisionTable id="t-${name}" hitPolicy="FIRST"><input id="i-${name}" label="${escaped(text)}"><inputExpression id="e-${name}" typeRef="string"><text>x</text></inputExpression></input><output id="o-${name}" label="${escaped(text)}" name="y" typeRef="string"/><rule id="r-${name}"><inputEntry id="n-${name}"><text>-</text></inputEntry><outputEntry id="u-${name}"><text>"${escaped(text).replaceAll('\\', '')}"</text></outputEntry></rule></decisionTable></decision></definitions>`,
    }),
};

before(async () => {
  server = await startServer();
  const message = '<message id="m" name="stranger"><extensionElements><z:subscription correlationKey="=key"/></extensionElements></message>';
  await deploy(server, {
    'strange.bpmn': bpmn('strange', [['job', 'work', 'strange-job']]),
    'failing.bpmn': bpmn('failing', [['job', 'work', 'strange-fail']]),
    'person.bpmn': bpmn('person', [['user', 'look']]),
    'waiting.bpmn': `<?xml version="1.0"?><definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:z="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">${message}<process id="waiting" isExecutable="true"><startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="r"/><receiveTask id="r" messageRef="m"/></process></definitions>`,
  });
  for (const [place, give] of Object.entries(places)) {
    for (const name of NAMES) {
      try {
        await give(name, TEXTS[name]);
        (keys[place] ??= []).push(name);
      } catch (error) {
        assert.match(error.message, /: (400|409|413) .*"detail":"[^"]/s, `${place} refuses ${name} with a reason: ${error.message.slice(0, 300)}`);
      }
    }
  }
  keys.strange = (await search(server, 'process-instances', { processDefinitionId: 'strange' }, { page: { limit: 100 } })).items.map((one) => one.processInstanceKey);
  keys.tasks = (await search(server, 'user-tasks', {}, { page: { limit: 100 } })).items.map((one) => one.userTaskKey);
});
after(async () => {
  await closeBrowser();
  await server?.stop();
});

const ready = (page) => until(() => page.evaluate(() => document.querySelector('h1') && !document.body.innerText.includes('Loading …') && !document.querySelector('.diagram:not([data-drawn]), .dmn:not([data-drawn]), .form:not([data-drawn])')), `the page ${page.url().slice(0, 200)} is there`);

test('texts of strangers are text in every place that takes them, and never break the layout', async () => {
  // A rule that takes nothing would test nothing.
  for (const place of Object.keys(places)) assert.ok((keys[place] ?? []).length > 0 || place === 'tag', `${place} takes some text`);
  for (const name of NAMES) assert.ok(Object.values(keys).some((taken) => taken.includes(name)), `${name} is taken somewhere`);
  const models = (keys.model ?? []).map((name) => `/operate/definitions/s-${name}`);
  const decisions = (keys.decision ?? []).map((name) => `/operate/decisions?decision=s-${name}`);
  const paths = [
    '/operate',
    '/operate/processes?columns=state,process,key,businessId,tags',
    ...keys.strange.slice(0, 5).map((key) => `/operate/processes/${key}/variables`),
    ...keys.strange.slice(0, 2).map((key) => `/operate/processes/${key}/jobs`),
    '/operate/definitions',
    ...models,
    '/operate/decisions',
    ...decisions,
    '/operate/incidents',
    '/operate/messages',
    '/operate/messages?view=correlated',
    '/operate/operations-log',
    '/operate/jobs',
    '/operate/jobs?type=strange-job',
    '/tasklist',
    ...keys.tasks.slice(0, 8).map((key) => `/tasklist/${key}`),
    '/tasklist/processes',
    ...['users', 'groups', 'roles', 'tenants', 'mapping-rules', 'cluster-variables', 'operations-log'].map((page) => `/admin/${page}`),
  ];
  const found = {};
  await withPage(
    server,
    async (page) => {
      page.on('dialog', (dialog) => assert.fail(`a script ran: ${dialog.message()}`));
      for (const path of paths) {
        await page.goto(server.url + path);
        await ready(page);
        const wrong = await page.evaluate(() => ({
          images: document.querySelectorAll('img[src="x"], svg[onload]').length,
          links: [...document.querySelectorAll('[href]')].filter((one) => /^\s*(javascript|data):/i.test(one.getAttribute('href'))).length,
          wider: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
        }));
        if (wrong.images + wrong.links + wrong.wider > 0) found[path] = wrong;
      }
      assert.deepEqual(found, {});
      // As many rows as there are texts, whatever they are.
      await page.goto(`${server.url}/admin/roles`);
      await ready(page);
      const shown = await page.getByRole('table', { name: 'Roles' }).locator('tbody tr').allTextContents();
      for (const name of keys.role) assert.ok(shown.some((text) => text.includes(TEXTS[name].trim().slice(0, 200))), `the role ${name} is shown`);
    },
    { statuses: [404] },
  );
});

test('values of megabytes and numbers of any length are shown as they are', async () => {
  const big = JSON.stringify('v'.repeat(3_000_000));
  const number = '123456789012345678901234567890.123456789';
  const created = await server.rest('POST', '/v2/process-instances', `{"processDefinitionId":"strange","variables":{"big":${big},"number":${number},"deep":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}}`);
  const key = created.processInstanceKey;
  await until(async () => (await search(server, 'variables', { processInstanceKey: key })).page.totalItems === 3, 'the variables are found');
  await withPage(server, async (page) => {
    await page.goto(`${server.url}/operate/processes/${key}/variables`);
    const row = (name) => page.getByRole('row', { name: new RegExp(`^${name}`) });
    await row('number').getByText(number).waitFor();
    await row('big').getByRole('button', { name: 'Show' }).click();
    await until(async () => (await page.getByRole('dialog').locator('pre').evaluate((one) => one.textContent.length)) === big.length, 'the whole value is shown');
    await page.keyboard.press('Escape');
    await row('number').getByRole('button', { name: 'Edit' }).click();
    assert.equal(await page.getByRole('dialog').getByLabel('Value').inputValue(), number);
    await page.getByRole('dialog').getByLabel('Value').fill(`{"now": ${number}}`);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { items } = await search(server, 'variables', { processInstanceKey: key, name: 'number' });
    assert.equal(items[0].value.replaceAll(/\s/g, ''), `{"now":${number}}`);
  });
});

/** Forms that are not as they should be: what the page says, or that it can be sent. */
const FORMS = {
  unknown: { components: [{ type: 'hologram', id: 'F1', key: 'h', label: 'Hologram' }], says: /hologram/ },
  newer: { schemaVersion: 999, components: [{ type: 'textfield', id: 'F1', key: 'a', label: 'Newer field' }], sends: true },
  failing: { components: [{ type: 'textfield', id: 'F1', key: 'a', label: 'Failing', conditional: { hide: '=a.b.c(' } }, { type: 'expression', id: 'F2', key: 'e', expression: '=1 +' }], sends: true },
  hidden: { components: [{ type: 'textfield', id: 'F1', key: 'a', label: 'Hidden', validate: { required: true }, conditional: { hide: '=true' } }], sends: true },
  markup: {
    components: [
      { type: 'html', id: 'F1', content: '<script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)">click</a><p onclick="alert(1)" style="position:fixed;inset:0">over all</p>' },
      { type: 'text', id: 'F2', text: '[click](javascript:alert(1)) <iframe src="javascript:alert(1)"></iframe>' },
      { type: 'image', id: 'F3', source: 'javascript:alert(1)', alt: 'picture' },
      { type: 'iframe', id: 'F4', url: 'https://evil.example/', label: 'Frame' },
      { type: 'textfield', id: 'F5', key: 'a', label: '<b>Label</b>' },
    ],
    sends: true,
  },
  empty: { components: [], sends: true },
};

test('forms that are not as they should be say why, or work; their content never runs', async () => {
  for (const [name, { components, schemaVersion = 16 }] of Object.entries(FORMS)) {
    await deploy(server, { [`${name}.form`]: JSON.stringify({ type: 'default', id: `bad-${name}`, schemaVersion, components }), [`${name}.bpmn`]: bpmn(`form-${name}`, [['user', 'fill', `bad-${name}`]], { startForm: `bad-${name}` }) });
  }
  const wrong = [];
  for (const [name, { says, sends }] of Object.entries(FORMS)) {
    const instance = await start(server, `form-${name}`);
    const task = (await until(async () => (await search(server, 'user-tasks', { processInstanceKey: instance })).items[0], 'the task is found')).userTaskKey;
    await server.rest('POST', `/v2/user-tasks/${task}/assignment`, { assignee: 'me' });
    await withPage(
      server,
      async (page) => {
        page.on('dialog', (dialog) => assert.fail(`a script ran: ${dialog.message()}`));
        await page.goto(`${server.url}/tasklist/${task}`);
        if (says) await page.getByText(says).first().waitFor();
        if (!sends) return;
        await page.locator('.form[data-drawn]').waitFor();
        const bad = await page.evaluate(() => [...document.querySelectorAll('.form [href], .form [src]')].map((one) => one.getAttribute('href') ?? one.getAttribute('src')).filter((at) => /^\s*javascript:/i.test(at)));
        if (bad.length > 0) wrong.push(`${name}: ${bad}`);
        const complete = page.getByRole('button', { name: 'Complete' });
        await complete.scrollIntoViewIfNeeded();
        assert.ok(await complete.evaluate((one) => { const { left, top, width, height } = one.getBoundingClientRect(); return one.contains(document.elementFromPoint(left + width / 2, top + height / 2)); }), `${name} covers the button`);
      },
      { statuses: [404], blocked: true },
    );
  }
  assert.deepEqual(wrong, []);
});

test('a process whose form is not as it should be can be started, or its page says why not', async () => {
  for (const [name, { says }] of Object.entries(FORMS)) {
    await withPage(
      server,
      async (page) => {
        const button = page.getByRole('button', { name: 'Start', exact: true });
        await page.goto(`${server.url}/tasklist/processes/form-${name}/start`);
        if (says) {
          await page.getByText(says).first().waitFor();
          assert.ok(await button.isDisabled(), 'nothing can be sent');
        } else {
          await page.locator('.form[data-drawn]').waitFor();
          await button.click();
          await page.waitForURL(/\/tasklist\/\d+$/);
        }
        if (name !== 'unknown' && name !== 'failing') return;
        await page.goto(`${server.url}/operate/definitions/form-${name}`);
        await page.getByRole('button', { name: 'Start …' }).click();
        if (says) {
          await page.getByRole('dialog').getByText(says).first().waitFor();
          await page.getByRole('radio', { name: 'as JSON' }).check();
        } else await page.getByRole('dialog').locator('.form[data-drawn]').waitFor();
        await page.getByRole('dialog').getByRole('button', { name: 'Start', exact: true }).click();
        await page.waitForURL(/\/operate\/processes\/\d+$/);
      },
      { statuses: [404], blocked: true },
    );
  }
});

test('models with a diagram outside of itself, without shapes, or with a thousand elements are drawn', async () => {
  const many = bpmn('thousand', Array.from({ length: 1000 }, (_, at) => ['job', `t${at}`, 'thousand-job']));
  const outside = bpmn('outside', [['job', 'work', 'outside-job']]).replaceAll(/ x="(\d+)"/g, (_, x) => ` x="${Number(x) - 900_000}"`).replaceAll(/ y="(\d+)"/g, (_, y) => ` y="${Number(y) + 700_000}"`);
  const partly = bpmn('partly', [['job', 'one', 'partly-job'], ['job', 'two', 'partly-job']]).replace(/<di:BPMNShape id="two_di".*?<\/di:BPMNShape>/, '').replace(/<di:BPMNEdge id="to_two_di".*?<\/di:BPMNEdge>/, '').replace(/<di:BPMNEdge id="to_end_di".*?<\/di:BPMNEdge>/, '');
  await deploy(server, { 'thousand.bpmn': many, 'outside.bpmn': outside, 'partly.bpmn': partly });
  await withPage(server, async (page) => {
    for (const [id, element] of [['thousand', 't999'], ['outside', 'work'], ['partly', 'one']]) {
      await page.goto(`${server.url}/operate/definitions/${id}`);
      await page.locator('.diagram[data-drawn]').waitFor();
      await page.locator(`.djs-element[data-element-id="${element}"]`).waitFor({ state: 'attached' });
    }
    await page.getByText(/two/).first().waitFor();
    await page.goto(`${server.url}/operate/definitions/outside`);
    await page.locator('.diagram[data-drawn]').waitFor();
    const box = await page.locator('.djs-element[data-element-id="work"]').boundingBox();
    const around = await page.locator('.diagram .canvas').boundingBox();
    assert.ok(box.x >= around.x && box.y >= around.y && box.x + box.width <= around.x + around.width, `it is moved into view: ${JSON.stringify([box, around])}`);
  });
});

test('addresses that lead nowhere, or not there, say so and show a way on', async () => {
  const [instance] = keys.strange;
  const job = (await search(server, 'jobs', { processInstanceKey: instance })).items[0].jobKey;
  const removed = await start(server, 'failing');
  await server.rest('POST', `/v2/process-instances/${removed}/cancellation`, {});
  await until(async () => (await search(server, 'process-instances', { processInstanceKey: removed, state: 'TERMINATED' })).page.totalItems === 1, 'it has ended');
  await server.rest('POST', `/v2/process-instances/${removed}/deletion`, {});
  await until(async () => (await search(server, 'process-instances', { processInstanceKey: removed })).page.totalItems === 0, 'it is removed');
  const huge = 'x'.repeat(6000);
  const none = 'There is no such instance';
  const table = [
    [`/operate/processes/${job}`, none],
    [`/operate/processes/${keys.tasks[0]}/variables`, none],
    [`/operate/processes/${removed}`, none],
    ['/operate/processes/99999999999999999999999', none],
    ['/operate/processes/-1', none],
    ['/operate/processes/1e3', none],
    ['/operate/processes/%3Cscript%3Ealert(1)%3C%2Fscript%3E', none],
    ['/operate/processes/..%2f..%2fadmin', none],
    [`/operate/processes/${instance}?element=nothing&scope=abc`, 'strange'],
    [`/operate/processes/${instance}/history?at=${'9'.repeat(30)}`, 'History of strange'],
    [`/operate/decisions/${instance}`, 'There is no such evaluation'],
    ['/operate/decisions/%00', 'There is no such evaluation'],
    [`/operate/batch-operations/${instance}`, 'There is no such batch operation'],
    ['/operate/batch-operations/x', /no such batch operation|Bad Request|INVALID/],
    [`/operate/definitions/${huge.slice(0, 2000)}`, 'There is no such process'],
    [`/tasklist/${instance}`, /no such task|not found/i],
    ['/tasklist/abc', /no such task|not found/i],
    ['/tasklist/processes/nothing/start', 'There is no such process'],
    ['/admin/roles/nothing%2F..%2Fadmin', /Role nothing/],
    ['/operate/processes?after=garbage', /Try again|First/],
    ['/operate/processes?before=%00&sort=evil:desc&columns=evil', /Try again|First|match/],
    ['/operate/processes?var=::::&var=a:evil:1&or=%25&or=&version=1e9&ids=,,,', /match/],
    [`/operate/processes?errorMessage=${huge}`, 'No instance matches.'],
    [`/operate/processes?${'active=true&'.repeat(300)}`, /match/],
    ['/operate/operations-log?operationType=EVIL&from=never&to=99999-01-01', 'Operations log'],
    ['/operate/incidents?age=evil&errorType=EVIL', 'Incidents'],
    ['/operate/migrate?process=nothing&version=-1&target=%3Cb%3E', 'Migrate instances'],
    ['/admin/access?kind=EVIL&id=%3Cb%3E', 'Who may do what'],
    ['/tasklist?filter=evil&sortBy=evil&dueAfter=never&variables=%7B', 'Tasks'],
    // Built files before an older program: that answers paths that are no pages itself.
    ...(process.env.FRESH ? [] : [['/operate//processes', 'Process instances']]),
    ['/login?next=//evil.example', 'Continue'],
    ['/login?next=%2F%5Cevil.example', 'Continue'],
  ];
  const wrong = [];
  await withPage(
    server,
    async (page) => {
      page.on('dialog', (dialog) => assert.fail(`a script ran: ${dialog.message()}`));
      page.setDefaultTimeout(8000);
      for (const [path, expected] of table) {
        try {
          await page.goto(server.url + path);
          await page.getByText(expected).first().waitFor({ state: 'attached' });
          if (path.startsWith('/login')) {
            await page.getByRole('button', { name: 'Continue' }).click();
            await page.waitForURL((url) => url.origin === new URL(server.url).origin && url.pathname !== '/login');
          }
          const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          if (wider > 0) wrong.push(`${path.slice(0, 100)} is ${wider} px too wide`);
        } catch (error) {
          wrong.push(`${path.slice(0, 100)}: ${error.message.split('\n')[0]} | ${(await page.locator('main').innerText().catch(() => '')).slice(0, 150)}`);
        }
      }
    },
    { statuses: [400, 404] },
  );
  assert.deepEqual(wrong, []);
});
