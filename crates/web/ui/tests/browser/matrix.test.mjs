// Each way to sign in and each kind of people, with two tenants: what pages show, what they offer, and what REST answers to
// requests that a page would not make. What somebody must not see says SECRET, and no answer has it.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { settingsOf, startIssuer } from '../issuer.mjs';
import { closeBrowser, openMenu, withPage } from '../page.mjs';
import { search, startServer, until } from '../server.mjs';
import { fill, identities, PASSWORD, picture } from '../world.mjs';

after(closeBrowser);

/** Opens the menu of a row that has an incident. */
const openRow = (page) => page.getByRole('button', { name: /^Actions on the incident/ }).first().click();

/** Pages with what they show, and their controls as `name|permission that it takes`; `|op` and `|clerk`: these have it. */
const pages = (k) => [
  ['/operate', 'Mine'],
  ['/operate/processes?process=mine&tenant=north&version=1&active=true&incidents=true', k.mine, ['Retry|CREATE_BATCH_OPERATION_RESOLVE_INCIDENT', 'Suspend|CREATE_BATCH_OPERATION_SUSPEND_PROCESS_INSTANCE', 'Resume|CREATE_BATCH_OPERATION_SUSPEND_PROCESS_INSTANCE', 'Move tokens|CREATE_BATCH_OPERATION_MODIFY_PROCESS_INSTANCE', 'Migrate|UPDATE_PROCESS_INSTANCE|op', 'Cancel|CREATE_BATCH_OPERATION_CANCEL_PROCESS_INSTANCE', 'Delete|CREATE_BATCH_OPERATION_DELETE_PROCESS_INSTANCE'], (page) => page.getByLabel('Choose all of this page').check()],
  ['/operate/incidents?process=mine', 'out of paper', ['Retry|UPDATE_PROCESS_INSTANCE|op', 'Repair …|UPDATE_PROCESS_INSTANCE|op', 'Retry all with the error out of paper|CREATE_BATCH_OPERATION_RESOLVE_INCIDENT'], openRow],
  ['/operate/definitions', 'Mine', ['Drop BPMN, DMN and form files here, or choose them:|CREATE']],
  ['/operate/definitions/mine', /Mine|SECRET south/, ['Start …|CREATE_PROCESS_INSTANCE', 'Migrate …|UPDATE_PROCESS_INSTANCE|op', 'Delete|DELETE_PROCESS']],
  [`/operate/migrate?process=mine&version=1&tenant=north&ids=${k.mine}&target=mine&targetVersion=1`, 'Migrate instances'],
  ['/operate/decisions', 'Decision'],
  ['/operate/messages', 'Messages', ['Send a message …|CREATE', 'Broadcast a signal …|UPDATE_PROCESS_INSTANCE|op']],
  ['/operate/jobs', { op: 'READ_JOB_METRIC', all: 'work' }],
  ['/operate/quarantine', { op: 'Unauthorized', all: 'No instance is banned' }],
  ['/operate/batch-operations', 'Batch operations'],
  ['/operate/operations-log', 'Operations log'],
  [`/operate/processes/${k.mine}/variables`, 'B-mine', ['Retry all incidents|CREATE_BATCH_OPERATION_RESOLVE_INCIDENT', 'Modify|MODIFY_PROCESS_INSTANCE', 'Migrate …|UPDATE_PROCESS_INSTANCE|op', 'Suspend|SUSPEND_PROCESS_INSTANCE', 'Cancel instance|CANCEL_PROCESS_INSTANCE|op', 'Act as the worker …|UPDATE_PROCESS_INSTANCE|op', 'Add a variable|UPDATE_PROCESS_INSTANCE|op', 'Edit|UPDATE_PROCESS_INSTANCE|op']],
  [`/operate/processes/${k.mine}/incidents`, 'out of paper', ['Retry|UPDATE_PROCESS_INSTANCE|op', 'Repair …|UPDATE_PROCESS_INSTANCE|op'], openRow],
  [`/operate/processes/${k.mine}/jobs`, 'out of paper', ['Act as the worker of the job*|UPDATE_PROCESS_INSTANCE|op']],
  ...['details', 'timeline', 'listeners', 'messages', 'called', 'operations-log', 'history'].map((tab) => [`/operate/processes/${k.mine}/${tab}`, 'Mine']),
  ['/operate/definitions/mine/durations', /Mine|SECRET south/],
  ['/tasklist', 'Chore'],
  [`/tasklist/${k.chore}`, 'Chore', ['Assign to me|CLAIM_USER_TASK|clerk', 'Assign …|UPDATE_USER_TASK', 'Change …|UPDATE_USER_TASK']],
  [`/tasklist/${k.chore}/history`, 'Chore'],
  ['/tasklist/processes', { clerk: 'There is no such process', all: 'Chore' }],
  ['/admin/users', 'clerk@example.com', ['New user|CREATE', 'Edit clerk|UPDATE', 'Delete clerk|DELETE']],
  ['/admin/users/clerk', 'task-worker', ['Add to a group|UPDATE', 'Give a role|UPDATE', 'Delete clerk from clerks|UPDATE', 'Delete clerk from task-worker|UPDATE']],
  ['/admin/groups', 'clerks', ['New group|CREATE', 'Edit clerks|UPDATE', 'Delete clerks|DELETE']],
  ['/admin/groups/clerks', 'clerk', ['New member|UPDATE', 'Delete clerk from clerks|UPDATE']],
  ['/admin/roles', 'task-worker', ['New role|CREATE', 'Edit task-worker|UPDATE', 'Delete task-worker|DELETE']],
  ['/admin/roles/task-worker', 'clerk', ['New member|UPDATE']],
  ['/admin/tenants', 'north', ['New tenant|CREATE', 'Edit north|UPDATE', 'Delete north|DELETE']],
  ['/admin/tenants/north', 'clerk', ['New member|UPDATE']],
  ['/admin/mapping-rules', 'Mapping rules', ['New mapping rule|CREATE']],
  ['/admin/authorizations', 'clerk', ['New authorization|CREATE']],
  ['/admin/access?kind=USER&id=clerk', 'task-worker'],
  ['/admin/cluster-variables', 'limit', ['New cluster variable|CREATE', 'Edit limit|UPDATE', 'Delete limit|DELETE']],
  ['/admin/global-task-listeners', 'task listeners', ['New task listener|CREATE_TASK_LISTENER']],
  ['/admin/operations-log', 'Operations log'],
  ['/admin/usage', 'Usage'],
  ['/admin/cluster', 'Partitions'],
];
const AREAS = { root: ['operate', 'tasklist', 'admin'], auditor: ['operate', 'tasklist', 'admin'], op: ['operate'], clerk: ['tasklist'], nobody: [] };
/** Addresses of what somebody may not see, and what is said there. */
const hidden = (k) => ({
  op: [[`/operate/processes/${k.theirs}`, /There is no such instance|READ_PROCESS_INSTANCE/], [`/operate/processes/${k.south}`, /There is no such instance/], ['/operate/definitions/theirs', /There is no such process/], ['/operate/processes?process=theirs', /No process has the ID/], [`/operate/processes/${k.theirs}/history`, /There is no such instance|READ_PROCESS_INSTANCE/]],
  clerk: [[`/tasklist/${k.otherTask}`, /There is no such task|READ/], [`/tasklist/${k.southTask}`, /There is no such task/], ['/tasklist/processes/other/start', /There is no/]],
});

/** Commands that nobody but the administrator may give, with the permission that is named, or none where nothing is told to be there. */
const commands = (k) => [
  ['POST', `/v2/process-instances/${k.mine}/modification`, { terminateInstructions: [{ elementId: 'work' }] }, 'MODIFY_PROCESS_INSTANCE'],
  ['POST', `/v2/process-instances/${k.mine}/suspension`, {}, 'SUSPEND_PROCESS_INSTANCE'],
  ['POST', '/v2/process-instances', { processDefinitionId: 'mine', tenantId: 'north' }, 'CREATE_PROCESS_INSTANCE'],
  ['POST', '/v2/process-instances/cancellation', { filter: { processInstanceKey: k.mine } }, 'CREATE_BATCH_OPERATION_CANCEL_PROCESS_INSTANCE'],
  ['POST', `/v2/resources/${k.mineDefinition}/deletion`, {}, 'DELETE_PROCESS'],
  ['POST', '/v2/messages/publication', { name: 'm', correlationKey: '', timeToLive: 0, tenantId: 'north' }, 'CREATE'],
  ['POST', `/v2/process-instances/${k.theirs}/cancellation`, {}, 'CANCEL_PROCESS_INSTANCE'],
  ['PUT', `/v2/element-instances/${k.theirs}/variables`, { variables: { stolen: true } }, 'UPDATE_PROCESS_INSTANCE'],
  ['POST', `/v2/process-instances/${k.south}/cancellation`, {}],
  ['PUT', `/v2/element-instances/${k.south}/variables`, { variables: { stolen: true } }],
  ['POST', `/v2/user-tasks/${k.chore}/assignment`, { assignee: 'nobody', allowOverride: true }, 'UPDATE_USER_TASK'],
  ['POST', `/v2/user-tasks/${k.otherTask}/assignment`, { assignee: 'nobody' }, 'UPDATE_USER_TASK'],
  ['POST', `/v2/user-tasks/${k.southTask}/completion`, {}],
  ['POST', '/v2/groups', { groupId: 'forged', name: 'forged' }, 'CREATE'],
  ['POST', '/v2/authorizations', { ownerType: 'USER', ownerId: 'op', resourceType: 'PROCESS_DEFINITION', resourceId: '*', permissionTypes: ['READ_PROCESS_INSTANCE'] }, 'CREATE'],
  ['PUT', '/v2/roles/admin/users/op', undefined, 'UPDATE'],
  ['POST', `/baton/v1/banned-instances/${k.theirs}/release`, undefined, 'UPDATE'],
];
/** Reads with how many somebody finds; none, or a refusal, where it is not told. */
const reads = (k) => [
  ...[['process-instances', { op: 1 }], ['process-definitions', { op: 1 }], ['incidents', { op: 1 }], ['jobs', { op: 1 }], ['variables', { op: 1 }], ['user-tasks', { clerk: 1 }], ['users', {}], ['authorizations', {}], ['batch-operations', {}]].map(([what, found]) => ['POST', `/v2/${what}/search`, {}, found]),
  ['POST', '/v2/process-definitions/statistics/process-instances', {}, { op: 1 }],
  ['POST', '/v2/incidents/statistics/process-instances-by-error', {}, { op: 1 }],
  ...[k.theirs, k.south, k.theirsDefinition, 'B-theirs', 'B-south', 'theirs', k.otherTask, k.southTask].map((text) => ['GET', `/baton/v1/lookup/${text}`, undefined, {}]),
  ['GET', '/baton/v1/lookup/B-mine', undefined, { op: 1 }],
  ['POST', `/v2/process-definitions/${k.theirsDefinition}/variable-names/search`, {}, {}],
  ['POST', `/v2/process-definitions/${k.theirsDefinition}/statistics/element-instances`, {}, {}],
  ['POST', `/baton/v1/process-definitions/${k.theirsDefinition}/durations`, {}, {}],
  ...[k.theirs, k.south].flatMap((key) => [['GET', `/v2/process-instances/${key}`, undefined, {}], ['GET', `/baton/v1/process-instances/${key}/steps`, undefined, {}], ['GET', `/v2/process-instances/${key}/statistics/element-instances`, undefined, {}]]),
  ['GET', '/baton/v1/job-types', undefined, {}],
  ['GET', '/baton/v1/cluster', undefined, {}],
];

/** Asks as the page's own session would; the token against forgery is there, so it is no reason to refuse. */
const byHand = (page, requests) =>
  page.evaluate(async (requests) => {
    const csrf = document.cookie.split('; ').find((one) => one.startsWith('X-CSRF-TOKEN='))?.slice(13) ?? '';
    return Promise.all(
      requests.map(async ([method, path, body]) => {
        const answer = await fetch(path, { method, headers: { 'content-type': 'application/json', 'x-csrf-token': csrf }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
        return { status: answer.status, text: await answer.text() };
      }),
    );
  }, requests);

/** The first control with a name, or with one that begins so if it ends with `*`. */
const controlOf = (page, name) => {
  const wanted = name.endsWith('*') ? { name: new RegExp(`^${name.slice(0, -1)}`) } : { name, exact: true };
  const main = page.locator('main');
  return main.getByRole('button', wanted).or(main.getByRole('link', wanted)).or(main.getByLabel(wanted.name, { exact: wanted.exact ?? false })).first();
};

/** A control is offered, or it says which permission is missing, and does nothing. */
async function check(page, who, spec, path) {
  const [name, permission, ...has] = spec.split('|');
  const control = controlOf(page, name);
  await control.waitFor();
  const state = () => control.evaluate((one) => ({ isHeld: one.getAttribute('aria-disabled') === 'true', title: one.title, told: document.getElementById(one.getAttribute('aria-describedby'))?.textContent ?? '', tabIndex: one.tabIndex, isDisabled: one.disabled === true }));
  const may = who === 'root' || who === 'none' || has.includes(who);
  let found;
  await until(
    async () => (found = await state()).isHeld === !may && (may || !found.isDisabled),
    () => `${who} at ${path}: ${name} ${JSON.stringify(found)}`,
  );
  if (may) return;
  assert.ok(found.told.includes(permission) && found.title === found.told, `${who} at ${path}: ${name} names ${permission}: ${JSON.stringify(found)}`);
  assert.ok(found.tabIndex === 0 && !found.isDisabled, `${name} can be reached by keyboard`);
}

/** Goes through pages as somebody, with all that the server answers meanwhile. */
async function walk(page, server, who, list) {
  const leaks = [];
  if (AREAS[who] && !AREAS[who].includes('admin')) {
    page.on('response', async (answer) => {
      const text = /\/(v2|baton)\//.test(answer.url()) ? await answer.text().catch(() => '') : '';
      if (text.includes('SECRET')) leaks.push(answer.url());
    });
  }
  for (const [path, sees, controls = [], prepare] of list) {
    await page.goto(server.url + path);
    const text = sees instanceof RegExp || typeof sees === 'string' ? sees : (sees[who] ?? sees.all);
    let shown = '';
    await until(
      async () => (shown = await page.locator('main').innerText().catch(() => '')).match(text),
      () => `${who} at ${path} sees ${text}: ${shown}`,
    );
    await prepare?.(page);
    for (const control of controls) await check(page, who, control, path);
  }
  assert.deepEqual(leaks, []);
}

/** Makes requests by hand that somebody may not make, and some that find little. */
async function force(page, server, root, who, k) {
  const before = await picture(server, root);
  const topics = [`process-instance:${k.theirs}`, `process-instance:${k.south}`];
  const [{ text }] = await byHand(page, [['POST', '/baton/v1/changes', { topics }]]);
  const { after } = JSON.parse(text);
  const hint = byHand(page, [['POST', '/baton/v1/changes', { topics, after, timeoutMs: 2000 }]]);
  // If anything else fails, that is what is told.
  hint.catch(() => undefined);
  const made = commands(k);
  (await byHand(page, made)).forEach(({ status, text }, at) => {
    const [method, path, , permission] = made[at];
    assert.ok(permission ? status === 403 || (who === 'nobody' && status === 404) : status === 404, `${who}: ${method} ${path}: ${status} ${text}`);
    if (permission && status === 403) assert.ok(text.includes(permission), `${who}: ${method} ${path} names ${permission}: ${text}`);
    assert.ok(!text.includes('SECRET'), `${who}: ${method} ${path}: ${text}`);
  });
  const asked = reads(k);
  (await byHand(page, asked)).forEach(({ status, text }, at) => {
    const [method, path, , found] = asked[at];
    const told = `${who}: ${method} ${path}: ${status} ${text}`;
    assert.ok(!text.includes('SECRET'), told);
    if (!found[who]) assert.ok([403, 404].includes(status) || (JSON.parse(text).items.length === 0 && (JSON.parse(text).page?.totalItems ?? 0) === 0), told);
    else assert.deepEqual([JSON.parse(text).items.length, JSON.parse(text).page?.totalItems ?? found[who]], [found[who], found[who]], told);
  });
  assert.deepEqual(await picture(server, root), before, `${who} has changed nothing`);
  for (const key of [k.theirs, k.south]) await server.rest('PUT', `/v2/element-instances/${key}/variables`, { variables: { SECRET_amount: 'SECRET 2' } }, root);
  assert.deepEqual(JSON.parse((await hint)[0].text).changed, [], `${who} is told of nothing that is not there for it`);
}

/** Pages of the areas that somebody may use. */
const listOf = (who, all) => all.filter(([path]) => AREAS[who].includes(path.split('/')[1]?.split('?')[0]));
const hasControls = ([, , controls = []]) => controls.length > 0;
const areasOf = (page) => page.getByRole('navigation', { name: 'Areas' }).getByRole('link').allInnerTexts();
const NAMES = { operate: 'Operate', tasklist: 'Tasklist', admin: 'Admin' };

async function asOnlyOne(page, server, root, who, k, some = () => true, forces = !AREAS[who].includes('admin')) {
  await page.goto(`${server.url}/`);
  await until(async () => (await areasOf(page)).join() === AREAS[who].map((area) => NAMES[area]).join(), `${who} is offered the areas ${AREAS[who]}`);
  for (const area of Object.keys(NAMES).filter((area) => !AREAS[who].includes(area))) {
    await page.goto(`${server.url}/${area}`);
    await page.getByRole('heading', { name: 'You may not use this area' }).waitFor();
  }
  await walk(page, server, who, [...listOf(who, pages(k)), ...(hidden(k)[who] ?? [])].filter(some));
  if (forces) await force(page, server, root, who, k);
}

const REFUSALS = { statuses: [401, 403, 404] };

describe('by name and password', () => {
  let server;
  let keys;
  const root = { authorization: `Basic ${Buffer.from(`root:${PASSWORD}`).toString('base64')}` };
  const begin = async () => {
    if (server) return;
    server = await startServer(['security.authentication.method=basic', 'security.authorizations=true', 'multi_tenancy.enabled=true', 'security.initialization=@FOLDER@/people.yaml'], { files: { 'people.yaml': identities(true) } });
    keys = await fill(server, root);
  };
  after(() => server?.stop());
  for (const who of ['auditor', 'op', 'clerk', 'nobody']) {
    test(`${who} is shown and offered what REST grants, and nothing else is had by hand`, async () => {
      await begin();
      await withPage(
        server,
        async (page) => {
          await page.goto(`${server.url}/login`);
          await page.getByLabel('User name').fill(who);
          await page.getByLabel('Password').fill(PASSWORD);
          await page.getByRole('button', { name: 'Sign in' }).click();
          await page.waitForURL((url) => url.pathname !== '/login');
          // Pages without controls are gone through by those from whom something must be hidden.
          await asOnlyOne(page, server, root, who, keys, who === 'auditor' ? hasControls : undefined);
        },
        REFUSALS,
      );
    });
  }
});

describe('at an issuer', () => {
  let server;
  let issuer;
  let keys;
  const root = {};
  const begin = async () => {
    if (server) return;
    issuer = await startIssuer();
    server = await startServer([...settingsOf(issuer), 'security.authorizations=true', 'multi_tenancy.enabled=true', 'security.initialization=@FOLDER@/people.yaml'], { files: { 'people.yaml': identities(false) } });
    root.authorization = `Bearer ${issuer.token('root')}`;
    keys = await fill(server, root);
  };
  after(async () => {
    await server?.stop();
    issuer?.close();
  });
  const signIn = async (page, who, next = '/') => {
    issuer.person = who;
    await page.goto(`${server.url}/login?next=${encodeURIComponent(next)}`);
    await page.getByRole('link', { name: 'Sign in at the issuer' }).click();
    await page.waitForURL((url) => url.href.startsWith(server.url) && url.pathname !== '/login' && url.pathname !== '/sso-callback');
  };
  for (const who of ['root', 'op', 'clerk', 'nobody']) {
    test(`${who} comes from the issuer with the rights that the server grants`, async () => {
      await begin();
      await withPage(
        server,
        async (page) => {
          await signIn(page, who);
          // The rules are the same as by name and password: those pages with the most controls stand for all.
          await asOnlyOne(page, server, root, who, keys, ([path, , controls = []]) => controls.length > 2 && !path.startsWith('/admin/'), who === 'op');
          assert.equal(issuer.asked.authorize, issuer.asked.code, 'each login has had its code');
          const { logout } = issuer.asked;
          await openMenu(page);
          await page.getByRole('button', { name: 'Sign out' }).click();
          await page.waitForURL((url) => url.href.startsWith(issuer.url));
          assert.equal(issuer.asked.logout, logout + 1, 'one is signed out at the issuer, too');
        },
        { ...REFUSALS, origins: [issuer.url] },
      );
    });
  }

  test('a token that is not renewed ends the session over the page; another tab begins it again, and the dialog goes on', async () => {
    await begin();
    await withPage(
      server,
      async (page, context) => {
        Object.assign(issuer, { lifeS: 4, renews: false });
        await signIn(page, 'root', '/admin/groups');
        await page.getByRole('button', { name: 'New group' }).click();
        await page.getByLabel('ID', { exact: true }).fill('late');
        await page.getByLabel('Name', { exact: true }).fill('Late');
        const ended = page.getByRole('dialog', { name: 'Your session has ended' });
        await ended.waitFor();
        assert.equal((await server.rest('POST', '/v2/groups/search', { filter: { groupId: 'late' } }, root)).page.totalItems, 0);
        Object.assign(issuer, { lifeS: 600, renews: true });
        const [tab] = await Promise.all([context.waitForEvent('page'), ended.getByRole('link', { name: 'Sign in at the issuer' }).click()]);
        await tab.waitForURL((url) => url.href.startsWith(server.url) && url.pathname !== '/login' && url.pathname !== '/sso-callback');
        await tab.close();
        await ended.getByRole('button', { name: 'Go on' }).click();
        await ended.waitFor({ state: 'detached' });
        await page.getByRole('button', { name: 'Create' }).click();
        await page.getByRole('table', { name: 'Groups', exact: true }).getByRole('link', { name: 'late' }).waitFor();
        assert.equal((await server.rest('POST', '/v2/groups/search', { filter: { groupId: 'late' } }, root)).items[0].name, 'Late');
      },
      { ...REFUSALS, origins: [issuer.url] },
    );
  });
});

test('without authentication everything is offered, and nobody asks for rights', async () => {
  const server = await startServer(['multi_tenancy.enabled=true', 'security.initialization=@FOLDER@/people.yaml'], { files: { 'people.yaml': identities(true) } });
  try {
    const keys = await fill(server, {});
    await withPage(
      server,
      async (page) => {
        let asked = 0;
        page.on('request', (request) => (asked += request.url().endsWith('/baton/v1/permissions') ? 1 : 0));
        const list = pages(keys)
          .filter(hasControls)
          .map(([path, sees, controls, prepare]) => [path, sees, controls.filter((name) => !name.startsWith('Assign to me')), prepare]);
        await walk(page, server, 'none', list);
        assert.equal(asked, 0);
        // Processes of two tenants have the same ID.
        for (const below of ['', '/durations']) {
          await page.goto(`${server.url}/operate/definitions/mine${below}?tenant=north`);
          await page.getByRole('heading', { level: 1, name: /Mine/ }).waitFor();
          const version = page.locator('main select').filter({ has: page.locator('option[value="1"]') }).first();
          assert.equal(await version.locator('option').count(), 1);
          await page.getByRole('combobox', { name: 'Tenant' }).selectOption('south');
          await page.getByRole('heading', { level: 1, name: /SECRET south/ }).waitFor();
          assert.equal(new URL(page.url()).searchParams.get('tenant'), 'south');
        }
        await page.goto(`${server.url}/operate/definitions/mine?tenant=west`);
        await page.getByRole('heading', { name: 'There is no such process' }).waitFor();
        await page.goto(`${server.url}/operate/processes/${keys.south}`);
        await page.getByRole('link', { name: 'version 1' }).click();
        await page.getByRole('heading', { level: 1, name: 'SECRET south' }).waitFor();
        for (const [tenantId, name] of [['north', 'Mine'], ['south', 'SECRET south']]) {
          const started = async () => (await search(server, 'process-instances', { processDefinitionId: 'mine', tenantId })).page.totalItems;
          const before = await started();
          await page.goto(`${server.url}/tasklist/processes`);
          await page.getByRole('region', { name, exact: true }).getByRole('link', { name: 'Start' }).click();
          await page.getByRole('heading', { level: 1, name: `Start ${name}` }).waitFor();
          await page.getByRole('button', { name: 'Start', exact: true }).click();
          await until(async () => (await started()) === before + 1, `an instance of ${tenantId} has begun`);
        }
      },
      REFUSALS,
    );
  } finally {
    await server.stop();
  }
});
