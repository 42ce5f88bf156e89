// What a page does while others act: rights and sessions go while a dialog is open, and two people work on the same thing. It is
// said, what was typed stays, and nothing is half done.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, openMenu } from '../page.mjs';
import { as, crewOf, FILES, PEOPLE, SETTINGS } from '../people.mjs';
import { bpmn, deploy, search, start, startServer, until } from '../server.mjs';

PEOPLE.eva = 'eva-password';
let server;
const { withUser } = crewOf(() => server);
const admin = as('admin');
const post = (path, body = {}) => server.rest('POST', path, body, admin);
const valueOf = async (processInstanceKey, name = 'amount') => (await search(server, 'variables', { processInstanceKey, name }, {}, admin)).items[0]?.value;
const hasValue = (key, value, name) => until(async () => (await valueOf(key, name)) === value, async () => `${await valueOf(key, name)} instead of ${value}`);
const stateOf = async (key) => (await server.rest('GET', `/v2/process-instances/${key}`, undefined, admin)).state;
const failed = (page, text) => page.locator('.toast.failed, dialog [role=alert]').filter({ hasText: text }).first().waitFor();
/** Pages follow nothing: they see what others did only when they are told by a refusal. */
const unaware = (page) => page.addInitScript(() => localStorage.setItem('baton.live', 'off'));

const RIGHTS = [['COMPONENT', 'operate', ['ACCESS']], ['PROCESS_DEFINITION', 'line', ['READ_PROCESS_DEFINITION', 'READ_PROCESS_INSTANCE']]];
const grant = (resourceType, resourceId, permissionTypes) => post('/v2/authorizations', { ownerType: 'USER', ownerId: 'eva', resourceType, resourceId, permissionTypes });
const mayChange = () => grant('PROCESS_DEFINITION', 'line', ['UPDATE_PROCESS_INSTANCE']);
/** The authorization that lets eva change, and no other of hers. */
async function mayNot() {
  const { items } = await search(server, 'authorizations', { ownerId: 'eva' }, {}, admin);
  const one = items.find(({ permissionTypes }) => permissionTypes.includes('UPDATE_PROCESS_INSTANCE'));
  await server.rest('DELETE', `/v2/authorizations/${one.authorizationKey}`, undefined, admin);
}
async function addEva() {
  await post('/v2/users', { username: 'eva', password: PEOPLE.eva, name: 'Eva', email: 'eva@example.com' });
  const { items } = await search(server, 'authorizations', { ownerId: 'eva' }, {}, admin);
  for (const { authorizationKey } of items) await server.rest('DELETE', `/v2/authorizations/${authorizationKey}`, undefined, admin);
  for (const right of RIGHTS) await grant(...right);
  await mayChange();
}

before(async () => {
  server = await startServer(SETTINGS, { files: FILES });
  await deploy(
    server,
    {
      'line.bpmn': bpmn('line', [['job', 'first', 'first', 'First'], ['job', 'second', 'second', 'Second']], { name: 'Line' }),
      'chore.bpmn': bpmn('chore', [['user', 'do', undefined, 'Chore']], { name: 'Chore' }),
    },
    admin,
  );
  await addEva();
});
after(async () => {
  await closeBrowser();
  await server?.stop();
});

const begin = async (id = 'line', variables = { amount: 1 }) => {
  const key = await start(server, id, variables, {}, admin);
  await until(async () => (await search(server, 'variables', { processInstanceKey: key }, {}, admin)).page.totalItems === Object.keys(variables).length, 'its variables are found');
  return key;
};
const editor = (page) => page.getByRole('dialog', { name: 'Edit amount' });
const edit = async (page, value) => {
  await page.getByRole('row', { name: /amount/ }).getByRole('button', { name: 'Edit' }).click();
  await editor(page).getByLabel('Value as JSON').fill(value);
};
/** The login over the page: once with a password that is right. */
const goOn = async (page) => {
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByLabel('User name').fill('eva');
  await dialog.getByLabel('Password').fill(PEOPLE.eva);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
};
const ended = (page) => page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
const without = async (context, name) => {
  const cookies = await context.cookies();
  await context.clearCookies();
  await context.addCookies(cookies.filter((one) => one.name !== name));
};

/** What goes while a dialog is open, how the page says so, and how it comes back. */
const WAYS = {
  'the right is taken away': { away: mayNot, said: (page) => failed(page, 'UPDATE_PROCESS_INSTANCE'), back: mayChange },
  'the user is deleted': {
    away: () => server.rest('DELETE', '/v2/users/eva', undefined, admin),
    said: async (page) => {
      await ended(page);
      await goOn(page);
      await page.getByRole('alert').getByText('Not signed in').waitFor();
    },
    back: async (page) => {
      await addEva();
      await goOn(page);
    },
  },
  'the session is ended in another tab': {
    away: async (page, context) => {
      const tab = await context.newPage();
      await tab.goto(`${server.url}/operate`);
      await openMenu(tab);
      await tab.getByRole('button', { name: 'Sign out' }).click();
      await tab.waitForURL(/\/login/);
      await tab.close();
    },
    said: ended,
    back: goOn,
  },
  'the token against forgery is lost': { away: (_, context) => without(context, 'X-CSRF-TOKEN'), said: ended, back: goOn },
};
for (const [name, { away, said, back }] of Object.entries(WAYS)) {
  test(`a dialog stays with what was typed when ${name}, and goes on when it is back`, async () => {
    const key = await begin();
    await withUser(
      'eva',
      `/operate/processes/${key}/variables`,
      async (page, context) => {
        await edit(page, '42');
        await away(page, context);
        const save = editor(page).locator('button.primary');
        await save.evaluate((button) => button.click());
        await said(page);
        assert.equal(await valueOf(key), '1', 'nothing has changed');
        assert.equal(await editor(page).locator('textarea').inputValue(), '42');
        await back(page);
        await until(async () => (await valueOf(key)) === '42' || (await save.click({ timeout: 500 }).catch(() => undefined), false), 'it is saved in the end');
        await editor(page).waitFor({ state: 'detached' });
      },
      { statuses: [403] },
    );
  });
}

test('a variable that somebody else has changed meanwhile is shown, and overwritten only when that is wanted', async () => {
  const key = await begin();
  await withUser('admin', `/operate/processes/${key}/variables`, async (page) => {
    await edit(page, '5');
    await server.rest('PUT', `/v2/element-instances/${key}/variables`, { variables: { amount: 7 } }, admin);
    await hasValue(key, '7');
    await editor(page).getByRole('button', { name: 'Save' }).click();
    const alert = editor(page).getByRole('alert');
    await alert.getByText('7', { exact: true }).waitFor();
    assert.equal(await valueOf(key), '7');
    assert.equal(await editor(page).getByLabel('Value as JSON').inputValue(), '5');
    await editor(page).getByRole('button', { name: 'Save' }).click();
    await editor(page).waitFor({ state: 'detached' });
    await hasValue(key, '5');
    // One that is added has the name of one that came meanwhile.
    await page.getByRole('button', { name: 'Add a variable' }).click();
    const adding = page.getByRole('dialog', { name: 'Add a variable' });
    await adding.getByLabel('Name', { exact: true }).fill('amount');
    await adding.getByLabel('Value as JSON').fill('9');
    await adding.getByRole('button', { name: 'Save' }).click();
    await adding.getByRole('alert').getByText('5', { exact: true }).waitFor();
    assert.equal(await valueOf(key), '5');
    await adding.getByRole('button', { name: 'Save' }).click();
    await adding.waitFor({ state: 'detached' });
    await hasValue(key, '9');
  });
});

const newTask = async (assignee) => {
  const processInstanceKey = await start(server, 'chore', {}, {}, admin);
  const { userTaskKey } = await until(async () => (await search(server, 'user-tasks', { processInstanceKey }, {}, admin)).items[0], 'its task is found');
  if (assignee) await post(`/v2/user-tasks/${userTaskKey}/assignment`, { assignee });
  return userTaskKey;
};
const taskOf = (key) => server.rest('GET', `/v2/user-tasks/${key}`, undefined, admin);

test('a task that somebody else has taken is not taken away by an older page', async () => {
  const key = await newTask();
  await withUser(
    'ann',
    `/tasklist/${key}`,
    async (page) => {
      await unaware(page);
      await page.reload();
      await page.getByRole('button', { name: 'Assign to me' }).waitFor();
      await post(`/v2/user-tasks/${key}/assignment`, { assignee: 'bob' });
      await page.getByRole('button', { name: 'Assign to me' }).click();
      await failed(page, /assigned/);
      assert.equal((await taskOf(key)).assignee, 'bob');
    },
    { statuses: [409] },
  );
});

test('a task of somebody else is taken over when that was asked, and only then', async () => {
  const key = await newTask('bob');
  await until(async () => (await taskOf(key)).assignee === 'bob', 'it is assigned');
  await withUser('ann', `/tasklist/${key}`, async (page) => {
    await page.getByText('Assigned to bob').waitFor();
    await page.getByRole('button', { name: 'Assign to me' }).click();
    const dialog = page.getByRole('dialog', { name: 'Take the task over' });
    await dialog.getByText('The task is assigned to bob.').waitFor();
    await page.keyboard.press('Escape');
    assert.equal((await taskOf(key)).assignee, 'bob');
    await page.getByRole('button', { name: 'Assign to me' }).click();
    await dialog.getByRole('button', { name: 'Take over' }).click();
    await page.getByText('Assigned to ann').waitFor();
    assert.equal((await taskOf(key)).assignee, 'ann');
  });
});

test('a task that somebody else has completed meanwhile is refused in words, and what was typed stays', async () => {
  const key = await newTask('ann');
  await until(async () => (await taskOf(key)).assignee === 'ann', 'it is assigned');
  await withUser(
    'ann',
    `/tasklist/${key}`,
    async (page) => {
      await unaware(page);
      await page.reload();
      await page.getByRole('button', { name: 'Add a variable' }).click();
      await page.getByLabel('Name', { exact: true }).fill('answer');
      await page.getByLabel('Value of answer').fill('"mine"');
      await post(`/v2/user-tasks/${key}/completion`, { variables: { answer: 'theirs' } });
      await until(async () => (await taskOf(key)).state === 'COMPLETED', 'it is completed');
      await page.getByRole('button', { name: 'Complete' }).click();
      await failed(page, /It is not there, or not any more|Its state does not allow that/);
      assert.equal(await page.getByLabel('Value of answer').inputValue(), '"mine"');
      // A page that knows of it says so, too.
      await page.reload();
      await page.getByRole('alert').getByText('Somebody else has completed this task').waitFor();
      assert.equal(await page.getByLabel('Value of answer').last().inputValue(), '"mine"');
      await page.getByRole('button', { name: 'Discard it' }).click();
      await page.getByRole('alert').waitFor({ state: 'detached' });
    },
    { statuses: [404, 409] },
  );
});

/** Plans that the token of the first element is canceled, and another one put. */
const plan = async (page, key) => {
  await page.goto(`${server.url}/operate/processes/${key}?modify=true&element=first`);
  const panel = page.getByRole('region', { name: 'Modification' });
  await panel.getByRole('button', { name: 'Cancel the token' }).click();
  await panel.getByText('Cancel the token of “First”').waitFor();
  return panel;
};

test('an instance that ends while its modification is planned says so, with the plan still there', async () => {
  const key = await begin();
  await withUser('admin', '/operate', async (page) => {
    const panel = await plan(page, key);
    await post(`/v2/process-instances/${key}/cancellation`);
    await panel.getByRole('alert').getByText('has ended').waitFor();
    await panel.getByText('Cancel the token of “First”').waitFor();
    assert.ok(await panel.getByRole('button', { name: 'Review and apply …' }).isDisabled());
    page.once('dialog', (dialog) => dialog.accept());
    await panel.getByRole('button', { name: 'Leave' }).click();
    await panel.waitFor({ state: 'detached' });
    assert.equal(await stateOf(key), 'TERMINATED');
  });
});

test('an instance that is migrated while its modification is planned says so, and what is gone is refused in words', async () => {
  await deploy(server, { 'moved.bpmn': bpmn('moved', [['job', 'first', 'moved', 'First']]) }, admin);
  const key = await begin('moved');
  await until(async () => (await search(server, 'element-instances', { processInstanceKey: key, elementId: 'first', state: 'ACTIVE' }, {}, admin)).page.totalItems === 1, 'it waits');
  const { deployments } = await deploy(server, { 'moved.bpmn': bpmn('moved', [['job', 'later', 'moved', 'Later']]) }, admin);
  await withUser(
    'admin',
    '/operate',
    async (page) => {
      const panel = await plan(page, key);
      const targetProcessDefinitionKey = deployments[0].processDefinition.processDefinitionKey;
      await post(`/v2/process-instances/${key}/migration`, { targetProcessDefinitionKey, mappingInstructions: [{ sourceElementId: 'first', targetElementId: 'later' }] });
      await panel.getByRole('alert').getByText('version 2').waitFor();
      await panel.getByRole('button', { name: 'Review and apply …' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Apply the change' }).click();
      await panel.getByRole('alert').getByText("'first'").waitFor();
      assert.equal(await panel.getByRole('list', { name: 'Planned changes' }).getByRole('listitem').count(), 1);
      const { items } = await search(server, 'element-instances', { processInstanceKey: key, elementId: 'later', state: 'ACTIVE' }, {}, admin);
      assert.equal(items.length, 1, 'it stands where it was migrated to');
    },
    { statuses: [400, 404] },
  );
});

test('a definition that is deleted before its start is refused in words, and the variables stay', async () => {
  const { deployments } = await deploy(server, { 'short.bpmn': bpmn('short', [['job', 'a', 'short']]) }, admin);
  const key = deployments[0].processDefinition.processDefinitionKey;
  await until(async () => (await search(server, 'process-definitions', { processDefinitionId: 'short' }, {}, admin)).page.totalItems === 1, 'it is found');
  await withUser(
    'admin',
    '/operate/definitions/short',
    async (page) => {
      await unaware(page);
      await page.reload();
      await page.getByRole('button', { name: 'Start …' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Variables as JSON').fill('{"kept": 1}');
      await post(`/v2/resources/${key}/deletion`);
      await dialog.getByRole('button', { name: 'Start', exact: true }).click();
      await dialog.getByRole('alert').getByText(key).waitFor();
      assert.equal(await dialog.getByLabel('Variables as JSON').inputValue(), '{"kept": 1}');
      assert.equal((await search(server, 'process-instances', { processDefinitionId: 'short' }, {}, admin)).page.totalItems, 0);
    },
    { statuses: [404] },
  );
});

/** Batch operations over some instances, suspended before they have done anything. */
async function suspended(keys) {
  const act = (key, change) => fetch(`${server.url}/v2/batch-operations/${key}/${change}`, { method: 'POST', headers: admin });
  const state = async (key) => (await (await fetch(`${server.url}/v2/batch-operations/${key}`, { headers: admin })).json()).state;
  // Whether one is over before it can be suspended is a matter of moments, so it may take some.
  return until(async () => {
    const { batchOperationKey } = await post('/v2/process-instances/incident-resolution', { filter: { processInstanceKey: { $in: keys } } });
    if (!(await act(batchOperationKey, 'suspension')).ok) return undefined;
    const found = await until(async () => ['SUSPENDED', 'COMPLETED'].includes(await state(batchOperationKey)) && (await state(batchOperationKey)), 'it is found');
    return found === 'SUSPENDED' ? batchOperationKey : undefined;
  }, 'a batch operation is suspended');
}

test('a batch operation is resumed and canceled; one that somebody else has canceled is not resumed, and the reason is told', async () => {
  const keys = [];
  for (let at = 0; at < 40; at += 1) keys.push(await start(server, 'line', {}, {}, admin));
  await until(async () => (await search(server, 'process-instances', { processInstanceKey: { $in: keys } }, {}, admin)).page.totalItems === keys.length, 'they are found');
  const [resumed, canceled, lost] = [await suspended(keys), await suspended(keys), await suspended(keys)];
  const is = (batch, state) => until(async () => (await server.rest('GET', `/v2/batch-operations/${batch}`, undefined, admin)).state === state, `${batch} is ${state}`);
  await withUser(
    'admin',
    `/operate/batch-operations/${resumed}`,
    async (page) => {
      const resume = page.getByRole('button', { name: 'Resume' });
      await resume.click();
      await resume.waitFor({ state: 'detached' });
      await is(resumed, 'COMPLETED');
      await page.goto(`${server.url}/operate/batch-operations/${canceled}`);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await resume.waitFor({ state: 'detached' });
      await is(canceled, 'CANCELED');
      await unaware(page);
      await page.goto(`${server.url}/operate/batch-operations/${lost}`);
      await resume.waitFor();
      await post(`/v2/batch-operations/${lost}/cancellation`);
      await is(lost, 'CANCELED');
      await resume.click();
      await failed(page, "it is in state 'CANCELED'");
      await resume.waitFor({ state: 'detached' });
      await is(lost, 'CANCELED');
    },
    { statuses: [409] },
  );
});
