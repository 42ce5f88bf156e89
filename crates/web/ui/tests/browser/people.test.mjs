// Login, Tasklist and Admin on a server that asks for names and passwords, and for permissions.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, openMenu, press, violations, withPage } from '../page.mjs';
import { as, count, crewOf, FILES, PEOPLE, rowsOf, SETTINGS } from '../people.mjs';
import { bpmn, deploy, search, start, startServer, until } from '../server.mjs';

const BIG = '9007199254740993.5';
const FORM = JSON.stringify({
  type: 'default',
  id: 'review-form',
  schemaVersion: 16,
  components: [
    { type: 'text', id: 'Field_t', text: '# Review' },
    { type: 'textfield', id: 'Field_c', key: 'comment', label: 'Comment', validate: { required: true } },
    { type: 'checkbox', id: 'Field_a', key: 'approved', label: 'Approved' },
    { type: 'textfield', id: 'Field_h', key: 'reason', label: 'Reason', conditional: { hide: '=approved' } },
  ],
});
let server;
const { signIn, withUser } = crewOf(() => server);
const admin = as('admin');
before(async () => {
  server = await startServer([...SETTINGS, 'web.title=Desk <b>7</b>'], { files: FILES });
  await deploy(
    server,
    {
      'review.form': FORM,
      'review.bpmn': bpmn('review', [['user', 'check', 'review-form', 'Check the order']], { name: 'Review', startForm: 'review-form' }),
      'plain.bpmn': bpmn('plain', [['user', 'look', undefined, 'Look at it'], ['user', 'again', undefined, 'Look again']], { name: 'Plain' }),
    },
    admin,
  );
});

after(async () => {
  await closeBrowser();
  await server?.stop();
});

test('a login that fails says so, one that succeeds goes on to where one wanted', () =>
  withPage(
    server,
    async (page) => {
      await page.goto(`${server.url}/tasklist?filter=unassigned`);
      await page.waitForURL(/\/login\?next=/);
      assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Desk <b>7</b>', 'the title is text');
      await page.getByLabel('User name').fill('ann');
      await page.getByLabel('Password').fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').getByText('Not signed in').waitFor();
      await page.getByLabel('Password').fill(PEOPLE.ann);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(/\/tasklist\?filter=unassigned/);
      await openMenu(page);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL(/\/login/);
      await page.goto(`${server.url}/tasklist`);
      await page.waitForURL(/\/login/);
    },
    { statuses: [401] },
  ));

for (const next of ['//evil.example/', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)', '/login?next=/login', '/\t/evil.example', '%2F%2Fevil.example']) {
  test(`after a login, ${JSON.stringify(next)} leads to a page of ours`, () =>
    withPage(
      server,
      async (page) => {
        await signIn(page, 'ann', `/login?next=${encodeURIComponent(next)}`);
        await page.waitForURL((url) => url.pathname === '/tasklist');
        assert.ok(page.url().startsWith(server.url));
      },
      { statuses: [401] },
    ));
}

test('a request of the session without the token against forgery changes nothing', () =>
  withUser(
    'admin',
    '/admin/users',
    async (page) => {
      const status = await page.evaluate(async () => (await fetch('/v2/groups', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"groupId":"forged","name":"f"}' })).status);
      assert.ok(status === 401 || status === 403, `${status}`);
      assert.equal((await search(server, 'groups', { groupId: 'forged' }, {}, admin)).page.totalItems, 0);
    },
    { statuses: [403] },
  ));

test('a session that ends while one works is begun again over the page, and nothing is lost', () =>
  withUser('admin', '/admin/groups', async (page, context) => {
    await page.getByRole('button', { name: 'New group' }).click();
    await page.getByLabel('ID', { exact: true }).fill('survivors');
    await page.getByLabel('Name', { exact: true }).fill('Survivors');
    await context.clearCookies();
    await press(page.getByRole('button', { name: 'Create' }));
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('User name').fill('admin');
    await dialog.getByLabel('Password').fill(PEOPLE.admin);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await rowsOf(page, 'Groups').filter({ hasText: 'survivors' }).waitFor();
    assert.equal((await search(server, 'groups', { groupId: 'survivors' }, {}, admin)).items[0].name, 'Survivors');
  }));

test('areas are shown to those who may use them', async () => {
  await withUser('ann', '/tasklist', async (page) => {
    assert.deepEqual(await page.getByRole('navigation', { name: 'Areas' }).getByRole('link').allInnerTexts(), ['Tasklist']);
    await page.goto(`${server.url}/operate`);
    await page.getByRole('heading', { name: 'You may not use this area' }).waitFor();
    await page.getByText('permission ACCESS of a COMPONENT').waitFor();
  });
  await withUser('nobody', '/', async (page) => {
    await page.getByRole('heading', { name: 'You may not use this area' }).waitFor();
    assert.equal(await page.getByRole('navigation', { name: 'Areas' }).getByRole('link').count(), 0);
  });
});

test('a process is started by its form and one arrives at its first task', () =>
  withUser('ann', '/tasklist/processes', async (page) => {
    await page.getByRole('region', { name: 'Review' }).getByRole('link', { name: 'Start …' }).click();
    await page.waitForURL(/\/tasklist\/processes\/review\/start/);
    const form = page.locator('.fjs-container');
    await form.getByLabel('Comment').waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('Some fields are wrong.').waitFor();
    await form.getByLabel('Comment').fill('from the form');
    await page.getByLabel('Business ID').fill('case-9');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL(/\/tasklist\/\d+/);
    await page.getByRole('heading', { name: 'Check the order' }).waitFor();
    const [instance] = (await search(server, 'process-instances', { businessId: 'case-9' }, {}, admin)).items;
    const { items } = await search(server, 'variables', { processInstanceKey: instance.processInstanceKey, name: 'comment' }, {}, admin);
    assert.equal(items[0].value, '"from the form"');
  }));

test('a task with a form is claimed, filled in and completed; what nobody touched keeps every digit', async () => {
  const body = `{"processDefinitionId":"review","variables":{"comment":"old","approved":true,"amount":${BIG}}}`;
  const { processInstanceKey } = await server.rest('POST', '/v2/process-instances', body, admin);
  const task = await until(async () => (await search(server, 'user-tasks', { processInstanceKey, state: 'CREATED' }, {}, admin)).items[0], 'its task is found');
  const read = () => server.rest('GET', `/v2/user-tasks/${task.userTaskKey}`, undefined, admin);
  await withUser('ann', `/tasklist/${task.userTaskKey}`, async (page) => {
    const form = page.locator('.fjs-container');
    await form.getByLabel('Comment').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Complete' }).isDisabled());
    assert.equal(await form.getByLabel('Reason').count(), 0, 'a condition of the form holds');
    assert.ok(await page.locator('.fjs-container .fjs-powered-by').isVisible(), 'the watermark of the form is visible');
    await page.getByRole('button', { name: 'Assign to me' }).click();
    await page.getByText('Assigned to ann').waitFor();
    assert.equal((await read()).assignee, 'ann');
    await page.getByRole('button', { name: 'Unassign' }).click();
    await page.getByText('Unassigned', { exact: true }).last().waitFor();
    assert.equal((await read()).assignee, null);
    await page.getByRole('button', { name: 'Assign to me' }).click();
    await page.getByText('Assigned to ann').waitFor();
    await form.getByLabel('Comment').fill('new');
    await page.getByRole('button', { name: 'Complete' }).dblclick();
    await page.locator('.toast', { hasText: 'Completed' }).waitFor();
    await until(async () => (await read()).state === 'COMPLETED', 'it is completed');
    const { items } = await search(server, 'variables', { processInstanceKey }, {}, admin);
    const values = Object.fromEntries(items.map((one) => [one.name, one.value]));
    assert.equal(values.comment, '"new"');
    assert.equal(values.amount, BIG);
  });
});

test('a task without a form is completed with variables, and the next one opens', async () => {
  const key = await start(server, 'plain', { known: { a: 1 } }, {}, admin);
  const tasks = (state) => search(server, 'user-tasks', { processInstanceKey: key, state }, {}, admin);
  const task = await until(async () => (await tasks('CREATED')).items[0], 'its task is found');
  await withUser('ann', `/tasklist/${task.userTaskKey}?filter=custom&process=plain`, async (page) => {
    await page.getByRole('button', { name: 'Assign to me' }).click();
    await page.getByText('Assigned to ann').waitFor();
    await page.getByRole('button', { name: 'Add a variable' }).click();
    await page.getByLabel('Name', { exact: true }).fill('answer');
    await page.getByLabel('Value of answer').fill('{"n":');
    await page.getByRole('button', { name: 'Complete' }).click();
    await page.getByText(/^The variable \w+ is wrong: /).waitFor();
    await page.getByLabel('Value of answer').fill(`{"n":${BIG}}`);
    await page.getByRole('button', { name: 'Complete' }).click();
    await page.waitForURL((url) => !url.pathname.includes(task.userTaskKey));
    assert.equal((await search(server, 'variables', { processInstanceKey: key, name: 'answer' }, {}, admin)).items[0].value, `{"n":${BIG}}`);
    assert.equal((await tasks('COMPLETED')).page.totalItems, 1);
    await until(async () => (await tasks('CREATED')).items[0]?.name === 'Look again', 'the next task is there');
  });
});

test('tasks are filtered and ordered by the URL', async () => {
  const key = await start(server, 'plain', {}, {}, admin);
  const task = await until(async () => (await search(server, 'user-tasks', { processInstanceKey: key }, {}, admin)).items[0], 'its task is found');
  await server.rest('POST', `/v2/user-tasks/${task.userTaskKey}/assignment`, { assignee: 'somebody' }, admin);
  await until(async () => (await search(server, 'user-tasks', { assignee: 'somebody' }, {}, admin)).page.totalItems === 1, 'its assignee is found');
  await withUser('ann', '/tasklist?filter=custom&assignee=somebody&sortBy=priority', async (page) => {
    const list = page.getByRole('navigation', { name: 'Tasks that match' }).getByRole('link');
    await count(list, 1);
    assert.match(await list.innerText(), /somebody/);
    await page.getByLabel('Filter', { exact: true }).selectOption('assigned-to-me');
    await page.waitForURL(/filter=assigned-to-me/);
    await page.getByText('There are no such tasks.').waitFor();
    await page.getByLabel('Filter', { exact: true }).selectOption('custom');
    await page.getByRole('dialog').getByLabel('Assignee').fill('somebody');
    await page.getByRole('button', { name: 'Apply' }).click();
    await count(list, 1);
  });
});

test('people change their own password, by the present one and by its rules, and stay where they are', async () => {
  const strict = await startServer([...SETTINGS, 'security.authentication.min_password_length=10'], { files: FILES });
  try {
    const crew = crewOf(() => strict);
    await crew.withUser(
      'ann',
      '/tasklist',
      async (page) => {
        const boxOf = (name) => page.getByRole('dialog', { name: 'Change your password' }).getByLabel(name, { exact: true });
        const change = async (present, next, again = next) => {
          await boxOf('Present password').fill(present);
          await page.getByLabel(/^New password\s*At least 10 characters/).fill(next);
          await boxOf('New password again').fill(again);
          await page.getByRole('button', { name: 'Change it' }).click();
        };
        await openMenu(page);
        await page.getByRole('button', { name: 'Change your password' }).click();
        await page.getByText('At least 10 characters, not all of them spaces.').waitFor();
        await change(PEOPLE.ann, 'another-password', 'another-passwort');
        await page.getByText('The new password differs from its repetition.').waitFor();
        await change('no-password-of-hers', 'another-password');
        await page.getByRole('alert').getByText('Not signed in').waitFor();
        await change(PEOPLE.ann, 'short');
        await page.getByRole('alert').getByText('newPassword: must have at least 10 characters').waitFor();
        assert.deepEqual(await violations(page), []);
        await change(PEOPLE.ann, 'another-password');
        await page.getByText('Your password is changed.').waitFor();
        // The page goes on with the session that began.
        await page.reload();
        await page.getByRole('heading', { name: 'Tasks' }).waitFor();
        const asked = await strict.rest('GET', '/v2/authentication/me', undefined, { authorization: `Basic ${Buffer.from('ann:another-password').toString('base64')}` });
        assert.equal(asked.username, 'ann');
      },
      { statuses: [400, 401] },
    );
    // Where an administrator types one, the rule stands there, too, and is named when it is broken.
    await crew.withUser('admin', '/admin/users', async (page) => {
      await page.getByRole('button', { name: 'New user' }).click();
      const box = page.getByRole('dialog').getByLabel(/^Password/);
      await box.pressSequentially('short');
      assert.match(await page.getByRole('dialog').innerText(), /At least 10 characters/);
      await page.getByLabel('User name').fill('shorty');
      await page.getByRole('button', { name: 'Create' }).click();
      assert.match(await box.evaluate((one) => one.validationMessage), /10 characters/);
    });
  } finally {
    await strict.stop();
  }
});

test('the page of a user has its groups and roles, and gives and takes them', () =>
  withUser('admin', '/admin/users', async (page) => {
    await server.rest('POST', '/v2/groups', { groupId: 'crew', name: 'Crew' }, admin);
    await page.getByRole('link', { name: 'ann', exact: true }).click();
    await page.getByRole('heading', { name: 'User ann' }).waitFor();
    const groups = page.getByRole('region', { name: 'Groups of the user' });
    await page.getByRole('button', { name: 'Add to a group' }).click();
    await page.getByRole('dialog').getByLabel('ID').fill('crew');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await groups.getByRole('link', { name: 'crew' }).waitFor();
    assert.deepEqual((await server.rest('POST', '/v2/groups/crew/users/search', {}, admin)).items.map((one) => one.username), ['ann']);
    await page.getByRole('button', { name: 'Delete ann from crew' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await groups.getByRole('link', { name: 'crew' }).waitFor({ state: 'detached' });
    assert.equal((await server.rest('POST', '/v2/groups/crew/users/search', {}, admin)).items.length, 0);
    await page.getByRole('link', { name: 'What it may do' }).click();
    await page.getByRole('heading', { name: 'Who may do what' }).waitFor();
  }));

test('users, groups and roles are created, joined and deleted', () =>
  withUser('admin', '/admin/users', async (page) => {
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByLabel('User name').fill('zoe');
    await page.getByLabel('E-mail').fill('zoe@example.com');
    await page.getByLabel('Password').fill('zoe-password');
    await page.getByRole('button', { name: 'Create' }).click();
    await rowsOf(page, 'Users').filter({ hasText: 'zoe@example.com' }).waitFor();
    assert.equal((await server.rest('GET', '/v2/users/zoe', undefined, admin)).email, 'zoe@example.com');
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByLabel('User name').fill('zoe');
    await page.getByLabel('Password').fill('zoe-password');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    // Words that come later, such as those of this refusal, make no field anew.
    assert.equal(await page.getByLabel('User name').inputValue(), 'zoe');
    page.once('dialog', (dialog) => dialog.accept());
    await page.keyboard.press('Escape');

    for (const [kind, title] of [['groups', 'group'], ['roles', 'role']]) {
      await page.goto(`${server.url}/admin/${kind}`);
      await page.getByRole('button', { name: `New ${title}` }).click();
      await page.getByLabel('ID', { exact: true }).fill('night');
      await page.getByLabel('Name', { exact: true }).fill('Night shift');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('link', { name: 'night' }).click();
      await page.getByText('No user is a member.').waitFor();
      await page.getByRole('button', { name: 'New member' }).click();
      await page.getByLabel('User name').fill('zoe');
      await page.getByRole('button', { name: 'Create' }).click();
      await count(rowsOf(page, 'Members'), 1);
      const members = () => server.rest('POST', `/v2/${kind}/night/users/search`, {}, admin);
      assert.deepEqual((await members()).items.map((one) => one.username), ['zoe']);
      await page.getByRole('button', { name: 'Delete zoe from night' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByText('No user is a member.').waitFor();
      assert.equal((await members()).items.length, 0);
      await page.goto(`${server.url}/admin/${kind}`);
      await page.getByRole('button', { name: 'Delete night' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
      await rowsOf(page, kind === 'groups' ? 'Groups' : 'Roles').filter({ hasText: 'night' }).waitFor({ state: 'detached' });
      assert.equal((await search(server, kind, { name: 'Night shift' }, {}, admin)).page.totalItems, 0);
    }
    await page.goto(`${server.url}/admin/users`);
    await page.getByRole('button', { name: 'Delete zoe' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await rowsOf(page, 'Users').filter({ hasText: 'zoe' }).waitFor({ state: 'detached' });
    assert.equal((await search(server, 'users', { username: 'zoe' }, {}, admin)).page.totalItems, 0);
  }, { statuses: [409] }));

test('an authorization is granted and taken away', () =>
  withUser('admin', '/admin/authorizations', async (page) => {
    await page.getByRole('button', { name: 'New authorization' }).click();
    await page.getByRole('combobox', { name: 'ID of the owner' }).fill('nobody');
    await page.locator('select[name=resourceType]').selectOption('DOCUMENT');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Choose at least one permission.').waitFor();
    await page.getByLabel('Read', { exact: true }).check();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const granted = () => search(server, 'authorizations', { ownerId: 'nobody' }, {}, admin);
    const [one] = (await granted()).items;
    assert.deepEqual([one.resourceType, one.resourceId, one.permissionTypes], ['DOCUMENT', '*', ['READ']]);
    await page.getByRole('button', { name: 'Delete the authorization of nobody' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal((await granted()).items.length, 0);
  }));

test('a right that is missing is told in the words of the server, and what was typed stays', () =>
  withUser(
    'ann',
    '/tasklist/processes/plain/start',
    async (page) => {
      const { items } = await search(server, 'authorizations', { ownerId: 'ann', resourceType: 'PROCESS_DEFINITION' }, {}, admin);
      const { authorizationKey, ...rest } = items[0];
      const body = { ownerType: rest.ownerType, ownerId: rest.ownerId, resourceType: rest.resourceType, resourceId: rest.resourceId };
      const without = rest.permissionTypes.filter((one) => one !== 'CREATE_PROCESS_INSTANCE');
      await server.rest('PUT', `/v2/authorizations/${authorizationKey}`, { ...body, permissionTypes: without }, admin);
      await page.getByRole('button', { name: 'Add a variable' }).click();
      await page.getByLabel('Name', { exact: true }).fill('kept');
      await page.getByLabel('Value of kept').fill('1');
      // By key: whether the page knows already that the right has gone, or the server tells, is a matter of moments.
      await page.getByRole('button', { name: 'Start', exact: true }).press('Enter');
      await page.locator('.toast.failed', { hasText: 'CREATE_PROCESS_INSTANCE' }).waitFor();
      assert.equal(await page.getByLabel('Value of kept').inputValue(), '1');
      await server.rest('PUT', `/v2/authorizations/${authorizationKey}`, { ...body, permissionTypes: rest.permissionTypes }, admin);
    },
    { statuses: [403] },
  ));
