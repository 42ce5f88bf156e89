// Admin: members, tenants, mapping rules, authorizations, variables, listeners, logs; each effect as REST tells it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { closeBrowser, openMenu, violations } from '../page.mjs';
import { as, count, crewOf, FILES, rowsOf, SETTINGS } from '../people.mjs';
import { bpmn, deploy, search, start, startServer, until } from '../server.mjs';

const BIG = '9007199254740993.5';
const ROLES = 1001;
const AT_ONCE = 20;
const admin = as('admin');
let server;
const { withUser } = crewOf(() => server);
const get = (path) => server.rest('GET', path, undefined, admin);
const found = (what, filter) => search(server, what, filter, {}, admin);
const sure = async (page) => {
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
};
const create = async (page) => {
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
};

before(async () => {
  server = await startServer(SETTINGS, { files: FILES });
  await deploy(server, { 'plain.bpmn': bpmn('plain', [['user', 'look']], { name: 'Plain' }) }, admin);
});

after(async () => {
  await closeBrowser();
  await server?.stop();
});

test('a tenant is created, renamed, given members of every kind, and deleted', () =>
  withUser('admin', '/admin/tenants', async (page) => {
    for (const [path, body] of [
      ['groups', { groupId: 'crew', name: 'Crew' }],
      ['roles', { roleId: 'cook', name: 'Cook' }],
      ['mapping-rules', { mappingRuleId: 'rule', name: 'Rule', claimName: 'c', claimValue: 'v' }],
    ]) {
      await server.rest('POST', `/v2/${path}`, body, admin);
    }
    await page.getByRole('button', { name: 'New tenant' }).click();
    await page.getByLabel('ID', { exact: true }).fill('north');
    await page.getByLabel('Name', { exact: true }).fill('North <i>');
    await create(page);
    await page.getByRole('button', { name: 'Edit north' }).click();
    await page.getByLabel('Name', { exact: true }).fill('North sea');
    await page.getByRole('button', { name: 'Save' }).click();
    await rowsOf(page, 'Tenants').filter({ hasText: 'North sea' }).waitFor();
    assert.equal((await get('/v2/tenants/north')).name, 'North sea');
    await page.getByRole('link', { name: 'north' }).click();
    for (const [tab, field, label, member, kind] of [
      ['Users', 'username', 'User name', 'ann', 'users'],
      ['Groups', 'groupId', 'ID of the group', 'crew', 'groups'],
      ['Roles', 'roleId', 'ID of the role', 'cook', 'roles'],
      ['Clients', 'clientId', 'ID of the client', 'robot', 'clients'],
      ['Mapping rules', 'mappingRuleId', 'ID of the mapping rule', 'rule', 'mapping-rules'],
    ]) {
      const members = async () => (await server.rest('POST', `/v2/tenants/north/${kind}/search`, {}, admin)).items.map((one) => one[field]);
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('button', { name: 'New member' }).click();
      await page.getByRole('combobox', { name: label }).fill(member);
      if (kind !== 'clients') await page.getByRole('option', { name: member }).first().click();
      await create(page);
      await count(rowsOf(page, 'Members'), 1);
      assert.deepEqual(await members(), [member]);
      await page.getByRole('button', { name: `Delete ${member} from north` }).click();
      await sure(page);
      await until(async () => (await members()).length === 0, `${member} is gone`);
    }
    await page.goto(`${server.url}/admin/tenants`);
    await page.getByRole('button', { name: 'Delete north' }).click();
    await sure(page);
    assert.equal((await found('tenants', { tenantId: 'north' })).page.totalItems, 0);
  }));

test('clients and mapping rules join groups and roles, and groups join roles', () =>
  withUser('admin', '/admin/groups', async (page) => {
    await server.rest('POST', '/v2/groups', { groupId: 'g', name: 'g' }, admin);
    await server.rest('POST', '/v2/roles', { roleId: 'r', name: 'r' }, admin);
    await server.rest('POST', '/v2/mapping-rules', { mappingRuleId: 'm', name: 'm', claimName: 'c2', claimValue: 'v' }, admin);
    for (const [of, id, tab, label, member, field] of [
      ['groups', 'g', 'clients', 'ID of the client', 'robot', 'clientId'],
      ['groups', 'g', 'mapping-rules', 'ID of the mapping rule', 'm', 'mappingRuleId'],
      ['groups', 'g', 'roles', 'ID of the role', 'r', 'roleId'],
      ['roles', 'r', 'clients', 'ID of the client', 'robot', 'clientId'],
      ['roles', 'r', 'mapping-rules', 'ID of the mapping rule', 'm', 'mappingRuleId'],
    ]) {
      await page.goto(`${server.url}/admin/${of}/${id}?members=${tab}`);
      await page.getByRole('button', { name: 'New member' }).click();
      await page.getByRole('combobox', { name: label }).fill(member);
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await count(rowsOf(page, 'Members'), 1);
      assert.equal((await server.rest('POST', `/v2/${of}/${id}/${tab}/search`, {}, admin)).items[0][field], member);
    }
    // The group got the role above, so the role has the group.
    await page.goto(`${server.url}/admin/roles/r?members=groups`);
    await count(rowsOf(page, 'Members'), 1);
  }));

test('a mapping rule is created, changed and deleted', () =>
  withUser('admin', '/admin/mapping-rules', async (page) => {
    await page.getByRole('button', { name: 'New mapping rule' }).click();
    await page.getByLabel('ID', { exact: true }).fill('managers');
    await page.getByLabel('Name', { exact: true }).fill('Managers');
    await page.getByLabel(/^Claim/).fill('groups');
    await page.getByLabel('Value of the claim').fill('managers');
    await create(page);
    assert.equal((await get('/v2/mapping-rules/managers')).claimName, 'groups');
    await page.getByRole('button', { name: 'Edit managers' }).click();
    await page.getByLabel('Value of the claim').fill('bosses');
    await page.getByRole('button', { name: 'Save' }).click();
    await rowsOf(page, 'Mapping rules').filter({ hasText: 'bosses' }).waitFor();
    assert.equal((await get('/v2/mapping-rules/managers')).claimValue, 'bosses');
    await page.getByRole('button', { name: 'Delete managers' }).click();
    await sure(page);
    assert.equal((await found('mapping-rules', { mappingRuleId: 'managers' })).page.totalItems, 0);
  }));

test('a row that somebody else changes keeps the dialog that stands in it, and what was typed there', async () => {
  await server.rest('POST', '/v2/groups', { groupId: 'kept', name: 'Before' }, admin);
  await withUser('admin', '/admin/groups', async (page) => {
    await page.getByRole('button', { name: 'Edit kept' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Mine');
    const read = page.waitForResponse(/groups\/search$/);
    await server.rest('PUT', '/v2/groups/kept', { name: 'Theirs', description: 'theirs' }, admin);
    await (await read).finished();
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Mine');
    page.once('dialog', (question) => question.accept());
    await page.keyboard.press('Escape');
    await rowsOf(page, 'Groups').filter({ hasText: 'Theirs' }).waitFor();
  });
});

test('rows that stay as they are keep the focus when others change', async () => {
  for (const groupId of ['moving', 'still']) await server.rest('POST', '/v2/groups', { groupId, name: groupId }, admin);
  await withUser('admin', '/admin/groups', async (page) => {
    await page.getByRole('button', { name: 'Edit still' }).focus();
    await server.rest('PUT', '/v2/groups/moving', { name: 'Moved', description: '' }, admin);
    await rowsOf(page, 'Groups').filter({ hasText: 'Moved' }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText), 'Edit still');
  });
});

for (const [path, table, text, body] of [
  ['users', 'Users', 'late-user', { username: 'late-user', password: 'late-user', name: 'Late' }],
  ['groups', 'Groups', 'late-group', { groupId: 'late-group', name: 'Late' }],
  ['roles', 'Roles', 'late-role', { roleId: 'late-role', name: 'Late' }],
  ['tenants', 'Tenants', 'late-tenant', { tenantId: 'late-tenant', name: 'Late' }],
  ['mapping-rules', 'Mapping rules', 'late-rule', { mappingRuleId: 'late-rule', name: 'Late', claimName: 'late', claimValue: 'v' }],
  ['authorizations', 'Authorizations', 'late-process', { ownerId: 'ann', ownerType: 'USER', resourceId: 'late-process', resourceType: 'PROCESS_DEFINITION', permissionTypes: ['READ_PROCESS_DEFINITION'] }],
]) {
  test(`${path} that others make are shown by a hint`, () =>
    withUser('admin', `/admin/${path}`, async (page) => {
      await page.getByRole('table', { name: table }).waitFor();
      await page.getByRole('button', { name: 'Live', exact: true }).waitFor();
      const made = await server.rest('POST', `/v2/${path}`, body, admin);
      const row = rowsOf(page, table).filter({ hasText: text });
      await row.waitFor({ timeout: 6000 });
      await server.rest('DELETE', `/v2/${path}/${made.authorizationKey ?? text}`, undefined, admin);
      await row.waitFor({ state: 'detached', timeout: 6000 });
    }));
}

test('the permissions that can be granted are those that the server knows', async () => {
  const source = readFileSync(new URL('../../src/admin/permissions.ts', import.meta.url), 'utf8');
  const { PERMISSIONS } = await import(`data:text/javascript,${encodeURIComponent(source.replace(/import type.*\n/g, '').replaceAll(' as const', '').replace(/: (Record<[^=]*|ResourceTypeEnum) =/g, ' ='))}`);
  const every = [...new Set(Object.values(PERMISSIONS).flat())];
  const grant = async (resourceType, permissionTypes) => {
    const body = JSON.stringify({ ownerType: 'USER', ownerId: 'nobody', resourceType, resourceId: '*', permissionTypes });
    const answer = await fetch(`${server.url}/v2/authorizations`, { method: 'POST', body, headers: { ...admin, 'content-type': 'application/json' } });
    if (answer.status === 201) await server.rest('DELETE', `/v2/authorizations/${(await answer.json()).authorizationKey}`, undefined, admin);
    return answer.status;
  };
  for (const [type, permissions] of Object.entries(PERMISSIONS)) {
    assert.equal(await grant(type, permissions), 201, `${type} has ${permissions}`);
    for (const other of every.filter((one) => !permissions.includes(one))) assert.equal(await grant(type, [other]), 400, `${type} has no ${other}`);
  }
});

test('an authorization is granted by a picked owner and resource, changed, and by a property of tasks', () =>
  withUser('admin', '/admin/authorizations', async (page) => {
    await page.getByRole('button', { name: 'New authorization' }).click();
    await page.getByRole('combobox', { name: 'ID of the owner' }).fill('nob');
    await page.getByRole('option', { name: /nobody/ }).click();
    await page.getByRole('combobox', { name: 'ID of the resource' }).fill('pla');
    await page.getByRole('option', { name: /plain/ }).click();
    await page.getByLabel('Read process definition').check();
    await create(page);
    const granted = async () => (await found('authorizations', { ownerId: 'nobody' })).items;
    const [one] = await granted();
    assert.deepEqual([one.resourceType, one.resourceId, one.permissionTypes], ['PROCESS_DEFINITION', 'plain', ['READ_PROCESS_DEFINITION']]);
    await page.goto(`${server.url}/admin/authorizations?owner=nobody&ownerType=USER&resourceType=PROCESS_DEFINITION`);
    await count(rowsOf(page, 'Authorizations'), 1);
    await page.getByRole('button', { name: 'Edit the authorization of nobody' }).click();
    assert.ok(await page.getByLabel('Read process definition').isChecked());
    await page.getByLabel('Update user task').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.deepEqual((await granted())[0].permissionTypes.toSorted(), ['READ_PROCESS_DEFINITION', 'UPDATE_USER_TASK']);

    await page.getByRole('button', { name: 'New authorization' }).click();
    await page.getByRole('combobox', { name: 'ID of the owner' }).fill('nobody');
    await page.locator('select[name=resourceType]').selectOption('USER_TASK');
    await page.getByLabel('by a property of the task').check();
    await page.locator('select[name=property]').selectOption('candidateGroups');
    await page.getByLabel('Claim').check();
    await create(page);
    const property = (await granted()).find((row) => row.resourceType === 'USER_TASK');
    assert.deepEqual([property.resourcePropertyName, property.resourceId, property.permissionTypes], ['candidateGroups', null, ['CLAIM']]);
  }));

test('a page tells what somebody may do and through what, and a picker how much it does not show', async () => {
  await server.rest('POST', '/v2/groups', { groupId: 'night', name: 'Night' }, admin);
  await server.rest('POST', '/v2/roles', { roleId: 'guard', name: 'Guard' }, admin);
  await server.rest('PUT', '/v2/groups/night/users/ann', undefined, admin);
  await server.rest('PUT', '/v2/roles/guard/groups/night', undefined, admin);
  for (const [ownerType, ownerId, resourceType, permissionTypes] of [
    ['GROUP', 'night', 'DOCUMENT', ['READ']],
    ['ROLE', 'guard', 'MESSAGE', ['CREATE']],
  ]) {
    await server.rest('POST', '/v2/authorizations', { ownerType, ownerId, resourceType, resourceId: '*', permissionTypes }, admin);
  }
  for (let at = 0; at < ROLES; at += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, ROLES - at) }, (_, more) => at + more);
    await Promise.all(some.map((one) => server.rest('POST', '/v2/roles', { roleId: `many-${String(one).padStart(4, '0')}`, name: `Many ${one}` }, admin)));
  }
  await until(async () => (await server.rest('POST', '/v2/roles/search', {}, admin)).page.totalItems > ROLES, 'all roles are found');
  await withUser('admin', '/admin/access?kind=USER&id=ann', async (page) => {
    const row = (text) => rowsOf(page, 'Permissions').filter({ hasText: text });
    await row(/Document.*Read.*group night/).waitFor();
    await row(/Message.*Create.*group night › role guard/).waitFor();
    await row(/Component.*tasklist.*Access.*itself/).waitFor();
    assert.equal(await row('Authorization').count(), 0);
    await page.getByRole('combobox', { name: 'Kind', exact: true }).selectOption('ROLE');
    const picker = page.getByRole('combobox', { name: 'ID', exact: true });
    await picker.fill('many-');
    await page.getByText('20 of 1,001: write more to find the others.').waitFor();
    await picker.fill('many-1000');
    await page.getByRole('option', { name: 'many-1000' }).click();
    await page.getByRole('button', { name: 'Look' }).click();
    await page.getByText('Role many-1000 may do nothing that needs a permission.').waitFor();
    await page.goto(`${server.url}/admin/roles`);
    await page.getByText(/1,0\d\d in all/).waitFor();
  });
});

test('cluster variables are global or of a tenant, keep every digit, and are changed and deleted', () =>
  withUser('admin', '/admin/cluster-variables', async (page) => {
    await server.rest('POST', '/v2/tenants', { tenantId: 'south', name: 'South' }, admin);
    for (const [name, tenant] of [['limit', ''], ['local', 'south']]) {
      await page.getByRole('button', { name: 'New cluster variable' }).click();
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByLabel('Value').fill('{"n":');
      await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
      await page.getByRole('alert').getByText('The value is no JSON').waitFor();
      await page.getByLabel('Value').fill(`{"n":${BIG}}`);
      if (tenant) await page.getByRole('combobox', { name: 'Tenant' }).fill(tenant);
      await create(page);
    }
    await count(rowsOf(page, 'Cluster variables'), 2);
    assert.equal((await get('/v2/cluster-variables/global/limit')).value, `{"n":${BIG}}`);
    assert.equal((await get('/v2/cluster-variables/tenants/south/local')).tenantId, 'south');
    await page.getByRole('button', { name: 'Edit limit' }).click();
    assert.match(await page.getByLabel('Value').inputValue(), /9007199254740993\.5/);
    await page.getByLabel('Value').fill('7');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal((await get('/v2/cluster-variables/global/limit')).value, '7');
    for (const name of ['limit', 'local']) {
      await page.getByRole('button', { name: `Delete ${name}` }).click();
      await sure(page);
    }
    assert.equal((await found('cluster-variables', {})).page.totalItems, 0);
  }));

test('global task listeners are created, changed and deleted', () =>
  withUser('admin', '/admin/global-task-listeners', async (page) => {
    await page.getByRole('button', { name: 'New task listener' }).click();
    await page.getByLabel('ID', { exact: true }).fill('notify');
    await page.getByLabel('Type of its jobs').fill('notify-job');
    await page.getByLabel('All', { exact: true }).uncheck();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByText('Choose at least one event.').waitFor();
    await page.getByLabel('Assigning').check();
    await page.getByLabel('Completing').check();
    await create(page);
    const told = await get('/v2/global-task-listeners/notify');
    assert.deepEqual([told.type, told.eventTypes, told.afterNonGlobal, told.source], ['notify-job', ['assigning', 'completing'], false, 'API']);
    await page.getByRole('button', { name: 'Edit notify' }).click();
    await page.getByLabel('Priority').fill('70');
    await page.getByLabel(/After the listeners/).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const changed = await get('/v2/global-task-listeners/notify');
    assert.deepEqual([changed.priority, changed.afterNonGlobal], [70, true]);
    await page.getByRole('button', { name: 'Delete notify' }).click();
    await sure(page);
    assert.equal((await found('global-task-listeners', {})).page.totalItems, 0);
  }));

test('the operations log is filtered by the address, and shows all that is known of a row', () =>
  withUser('admin', '/admin/operations-log', async (page) => {
    await server.rest('POST', '/v2/groups', { groupId: 'logged', name: 'Logged' }, admin);
    await until(async () => (await found('audit-logs', { entityKey: 'logged' })).page.totalItems > 0, 'it is logged');
    await page.getByLabel('Key or ID').fill('logged');
    await page.getByLabel('Key or ID').press('Enter');
    await page.waitForURL(/key=logged/);
    await count(rowsOf(page, 'Operations log'), 1);
    assert.match(await rowsOf(page, 'Operations log').innerText(), /Create group\s+Logged\s+–\s+admin\s+Done/);
    await page.getByRole('combobox', { name: 'Operation', exact: true }).selectOption('DELETE');
    await page.getByText('Nothing was done, or nothing that you may see.').waitFor();
    await page.goto(`${server.url}/admin/operations-log?key=logged&operationType=CREATE&result=SUCCESS&actor=admin`);
    await rowsOf(page, 'Operations log').getByRole('button').click();
    await page.getByRole('dialog').getByText('logged', { exact: true }).waitFor();
  }));

test('usage, cluster and licences are told', () =>
  withUser('admin', '/admin/usage', async (page) => {
    await start(server, 'plain', {}, { tenantId: '<default>' }, admin);
    const day = new Date().toISOString().slice(0, 10);
    const end = new Date(Date.parse(day) + 86_400_000).toISOString();
    const told = await get(`/v2/system/usage-metrics?startTime=${day}T00:00:00Z&endTime=${end}`);
    await rowsOf(page, 'Usage').first().getByText(String(told.processInstances), { exact: true }).first().waitFor();
    await page.getByLabel('From').fill('2020-01-01');
    await page.getByLabel('From').press('Enter');
    await page.waitForURL(/from=2020-01-01/);
    await page.getByText('From 2020-01-01 to').waitFor();
    await page.goto(`${server.url}/admin/cluster`);
    const topology = await get('/v2/topology');
    await count(rowsOf(page, 'Partitions of brokers'), topology.brokers.flatMap((one) => one.partitions).length);
    await rowsOf(page, 'Partitions of brokers').filter({ hasText: 'Leader' }).first().waitFor();
    await page.getByText(`Version ${topology.gatewayVersion}.`).waitFor();
    await page.goto(`${server.url}/admin/about`);
    await page.getByText(/^bpmn\.io: .*bpmn-js/).click();
    await page.locator('details[open] pre', { hasText: 'displaying the bpmn.io project watermark' }).waitFor();
  }));

test('Admin speaks German: what is shown follows the choice while the page is open', () =>
  withUser('admin', '/admin/authorizations?resourceType=PROCESS_DEFINITION', async (page) => {
    await rowsOf(page, 'Authorizations').filter({ hasText: 'Process definition' }).first().waitFor();
    await openMenu(page);
    await page.getByLabel('Language').selectOption('de');
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Berechtigungen' }).waitFor();
    await page.getByRole('columnheader', { name: 'Inhaber' }).waitFor();
    await rowsOf(page, 'Berechtigungen').filter({ hasText: 'Prozessdefinition' }).first().waitFor();
    await page.getByRole('button', { name: 'Neue Berechtigung' }).click();
    await page.getByRole('dialog', { name: 'Neue Berechtigung' }).getByRole('combobox', { name: 'ID des Inhabers' }).waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`${server.url}/admin/cluster`);
    await rowsOf(page, 'Partitionen der Broker').first().waitFor();
    await openMenu(page);
    await page.getByLabel('Sprache').selectOption('en');
    await rowsOf(page, 'Partitions of brokers').first().waitFor();
  }));

test('the cluster page tells brokers and partitions to those who may not see its inside', () =>
  withUser(
    'admin',
    '/admin/about',
    async (page) => {
      await page.route('**/baton/v1/cluster', (route) => route.fulfill({ status: 403, contentType: 'application/problem+json', body: '{"title":"FORBIDDEN","detail":"SYSTEM READ is missing","status":403}' }));
      await page.goto(`${server.url}/admin/cluster`);
      await page.getByRole('alert').getByText('SYSTEM READ is missing').waitFor();
      await rowsOf(page, 'Partitions of brokers').first().waitFor();
    },
    { statuses: [403] },
  ));

test('without a permission, lists are empty and controls say what is missing; a right that comes is found out by the same key', () =>
  withUser(
    'olga',
    '/admin/users',
    async (page) => {
      for (const [path, text] of [
        ['users', 'There are no users'],
        ['groups', 'There are no groups'],
        ['roles', 'There are no roles'],
        ['tenants', 'There are no tenants'],
        ['mapping-rules', 'There are no mapping rules'],
        ['authorizations', 'There are no authorizations'],
        ['cluster-variables', 'There are no cluster variables'],
        ['global-task-listeners', 'There are no global task listeners'],
        ['operations-log', 'Nothing was done'],
      ]) {
        await page.goto(`${server.url}/admin/${path}`);
        await page.getByText(text).or(page.getByRole('alert')).first().waitFor();
      }
      await page.goto(`${server.url}/admin/roles`);
      const create = page.getByRole('button', { name: 'New role' });
      await until(async () => (await create.getAttribute('aria-disabled')) === 'true', 'it is held');
      await create.focus();
      await page.keyboard.press('Enter');
      await page.locator('.toast.failed', { hasText: 'The permission CREATE of ROLE is missing' }).waitFor();
      assert.equal(await page.getByRole('dialog').count(), 0);
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await violations(page), []);
      }
      const grant = { ownerType: 'USER', ownerId: 'olga', resourceType: 'ROLE', resourceId: '*', permissionTypes: ['CREATE', 'READ'] };
      await server.rest('POST', '/v2/authorizations', grant, admin);
      await page.keyboard.press('Enter');
      await page.getByLabel('ID', { exact: true }).fill('aaa');
      await page.getByLabel('Name', { exact: true }).fill('Mine');
      await page.getByRole('button', { name: 'Create' }).click();
      await rowsOf(page, 'Roles').filter({ hasText: 'aaa' }).first().waitFor();
      assert.equal((await found('roles', { roleId: 'aaa' })).page.totalItems, 1);
    },
    { statuses: [403] },
  ));
