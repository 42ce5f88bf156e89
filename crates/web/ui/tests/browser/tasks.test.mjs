// Tasklist beyond the first task: filters, a list that stays, drafts, documents, dates, bulk, languages, keys.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { closeBrowser, isSeen, openMenu, press, violations, withPage } from '../page.mjs';
import { as, count, crewOf, FILES, PEOPLE, rowsOf, SETTINGS } from '../people.mjs';
import { bpmn, deploy, search, start, startServer, until } from '../server.mjs';

const admin = as('admin');
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');
const SCRIPT = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
const FORM = JSON.stringify({
  type: 'default',
  id: 'papers-form',
  schemaVersion: 16,
  components: [
    { type: 'textfield', id: 'Field_n', key: 'note', label: 'Note' },
    { type: 'filepicker', id: 'Field_f', key: 'papers', label: 'Papers', multiple: true },
  ],
});
/** Expressions that never end, take all memory, or match for ever, beside some that are like others. */
const BOMBS = JSON.stringify({
  type: 'default',
  id: 'bombs-form',
  schemaVersion: 16,
  components: [
    { type: 'text', id: 'Field_t', text: 'Hello {{name}}, {{count([1, 2, 3])}} things' },
    { type: 'number', id: 'Field_a', key: 'a', label: 'First' },
    { type: 'expression', id: 'Field_s', key: 'sum', computeOn: 'change', expression: '=a + 2' },
    { type: 'textfield', id: 'Field_h', key: 'more', label: 'More', conditional: { hide: '=a < 10' } },
    { type: 'textfield', id: 'Field_1', key: 'x1', label: '=string(count(for i in 1..2.5 return i))' },
    { type: 'textfield', id: 'Field_2', key: 'x2', label: 'Second', description: '=string(count(for i in 1..1000000000, j in 1..1000 return [i, j]))' },
    { type: 'textfield', id: 'Field_3', key: 'x3', label: 'Third', readonly: '=matches("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "^(a+)+$")' },
    { type: 'textfield', id: 'Field_4', key: 'x4', label: 'Fourth', validate: { pattern: '^(a+)+$' } },
    { type: 'textfield', id: 'Field_5', key: 'x5', label: 'Fifth', validate: { pattern: '^[A-Z]{2}$' } },
  ],
});
/** More fields than a window has room for. */
const LINES = 30;
const LONG = JSON.stringify({
  type: 'default',
  id: 'long-form',
  schemaVersion: 16,
  components: Array.from({ length: LINES }, (_, at) => ({ type: 'textfield', id: `Field_${at}`, key: `line${at + 1}`, label: `Line ${at + 1}` })),
});
const MANY = 60;
/** A process with one task whose form is elsewhere. */
const external = (id, reference) => bpmn(id, [['user', 'sign']], { name: id }).replace('<z:userTask/>', `<z:userTask/><z:formDefinition externalReference="${reference}"/>`);
let server;
const { withUser } = crewOf(() => server);
const tasks = (filter) => search(server, 'user-tasks', filter, {}, admin);
const read = (key) => server.rest('GET', `/v2/user-tasks/${key}`, undefined, admin);
const taskOf = async (processInstanceKey) => (await until(async () => (await tasks({ processInstanceKey, state: 'CREATED' })).items[0], 'its task is found')).userTaskKey;
const newTask = async (process, variables = {}) => taskOf(await start(server, process, variables, {}, admin));
const assigned = async (key, assignee) => {
  await server.rest('POST', `/v2/user-tasks/${key}/assignment`, { assignee }, admin);
  await until(async () => (await read(key)).assignee === assignee, 'it is assigned');
};
const list = (page) => page.getByRole('navigation', { name: 'Tasks that match' }).getByRole('link');

before(async () => {
  server = await startServer(SETTINGS, { files: FILES });
  const files = { 'papers.form': FORM, 'papers.bpmn': bpmn('papers', [['user', 'file', 'papers-form', 'File it']], { name: 'Papers' }) };
  Object.assign(files, { 'bombs.form': BOMBS, 'bombs.bpmn': bpmn('bombs', [['user', 'file', 'bombs-form', 'Defuse it']], { name: 'Bombs' }) });
  Object.assign(files, { 'long.form': LONG, 'many.bpmn': bpmn('many', [['user', 'fill', 'long-form', 'Fill it in']], { name: 'Many' }) });
  for (const id of ['one', 'bulk', 'stay', 'dates', 'draft', 'history', 'keys', 'other']) files[`${id}.bpmn`] = bpmn(id, [['user', 'task', undefined, `Task of ${id}`]], { name: id });
  files['link.bpmn'] = external('link', 'https://forms.example/f?a=1&amp;b=2');
  files['evil.bpmn'] = external('evil', 'javascript:alert(1)');
  await deploy(server, files, admin);
  for (const [resourceType, permissionTypes] of [['DOCUMENT', ['CREATE', 'READ']], ['AUDIT_LOG', ['READ']], ['USER', ['READ']]]) {
    await server.rest('POST', '/v2/authorizations', { ownerType: 'USER', ownerId: 'ann', resourceType, resourceId: '*', permissionTypes }, admin);
  }
});

after(async () => {
  await closeBrowser();
  await server?.stop();
});

test('an own filter is kept in the browser under its name, changed and deleted', async () => {
  const key = await newTask('one', { city: 'Bonn' });
  await newTask('one', { city: 'Ulm' });
  await until(async () => (await tasks({ processDefinitionId: 'one' })).page.totalItems === 2, 'both are found');
  await withUser('ann', '/tasklist', async (page) => {
    await page.getByLabel('Filter', { exact: true }).selectOption('custom');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('ID of the process').fill('one');
    await dialog.getByLabel(/^Variables/).fill('city=Bonn');
    await dialog.getByLabel(/^Keep it/).fill('From <b>Bonn</b>');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.getByText('expected name=JSON').waitFor();
    await dialog.getByLabel(/^Variables/).fill('city="Bonn"');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await count(list(page), 1);
    assert.ok((await list(page).getAttribute('href')).includes(key));
    await page.goto(`${server.url}/tasklist`);
    await page.getByLabel('Filter', { exact: true }).selectOption({ label: 'From <b>Bonn</b>' });
    await page.waitForURL(/process=one/);
    await count(list(page), 1);
    await page.getByRole('button', { name: 'Change …' }).click();
    await dialog.getByRole('button', { name: 'Delete the filter' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual(await page.getByLabel('Filter', { exact: true }).locator('option', { hasText: 'Bonn' }).count(), 0);
  });
});

test('a list stays in place while it lives, and tells what is new', async () => {
  const first = await newTask('stay');
  await withUser('ann', '/tasklist?filter=custom&process=stay', async (page) => {
    await count(list(page), 1);
    const second = await newTask('stay');
    await page.getByRole('button', { name: '1 new: show it' }).waitFor();
    assert.equal(await list(page).count(), 1, 'nothing has jumped');
    await page.getByRole('button', { name: '1 new: show it' }).click();
    await count(list(page), 2);
    assert.ok((await list(page).first().getAttribute('href')).includes(second), 'the newest is first');
    await server.rest('POST', `/v2/user-tasks/${first}/completion`, {}, admin);
    await count(list(page), 1);
  });
});

test('list and task scroll each by itself, and the way to complete stays in sight', async () => {
  const first = await newTask('many');
  await assigned(first, 'ann');
  for (let at = 1; at < MANY; at += 1) await start(server, 'many', {}, {}, admin);
  await until(async () => (await tasks({ processDefinitionId: 'many' })).page.totalItems === MANY, 'all are found');
  const field = (page, at) => page.getByLabel(`Line ${at}`, { exact: true });
  const complete = (page) => page.getByRole('button', { name: 'Complete' });
  const toTheEnd = async (page) => {
    await page.getByRole('button', { name: 'Show more' }).click();
    await count(list(page), MANY);
    await list(page).last().scrollIntoViewIfNeeded();
  };
  const isActive = (page, locator) => until(() => locator.evaluate((one) => one === document.activeElement), async () => page.evaluate(() => document.activeElement.outerHTML));
  for (const viewport of [{ width: 1280, height: 800 }, { width: 360, height: 740 }]) {
    await withUser(
      'ann',
      '/tasklist?filter=custom&process=many',
      async (page) => {
        await toTheEnd(page);
        await list(page).last().click();
        await page.waitForURL(new RegExp(first));
        await field(page, 1).waitFor();
        await until(() => isSeen(field(page, 1)), 'the first field is seen');
        assert.ok(await isSeen(complete(page)), 'and the way to complete');
        // The element with the focus is not below the bar at the end.
        await field(page, 1).focus();
        for (let at = 2; at <= LINES; at += 1) {
          await page.keyboard.press('Tab');
          await isActive(page, field(page, at));
          assert.ok(await isSeen(field(page, at)), `line ${at} is seen`);
          assert.ok(await isSeen(complete(page)));
        }
      },
      { viewport },
    );
  }
  await withUser('ann', '/tasklist?filter=custom&process=many', async (page) => {
    await toTheEnd(page);
    assert.equal(await page.evaluate(() => document.scrollingElement.scrollHeight > innerHeight), false, 'the page itself does not scroll');
    // Keys work from a box of the list, too.
    await page.getByRole('checkbox', { name: 'Choose Fill it in' }).nth(MANY - 2).focus();
    await page.keyboard.press('j');
    await isActive(page, list(page).last());
    await page.keyboard.press('k');
    await isActive(page, list(page).nth(MANY - 2));
    // Without fields to fill in, the task itself has the focus; with them, the first one has.
    await page.keyboard.press('Enter');
    await isActive(page, page.getByRole('heading', { name: 'Fill it in' }));
    await page.keyboard.press('a');
    await page.getByText('Assigned to ann').waitFor();
    await isActive(page, field(page, 1));
    await list(page).last().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(first));
    await isActive(page, field(page, 1));
    assert.ok(await isSeen(field(page, 1)));
    await list(page).last().focus();
    await page.keyboard.press('Enter');
    await isActive(page, field(page, 1));
    assert.deepEqual(await violations(page), []);
  });
});

test('the first that the keyboard comes to is the way past the bar', () =>
  withUser('ann', '/tasklist', async (page) => {
    const skip = page.getByRole('link', { name: 'Skip to the content' });
    await page.getByRole('main').waitFor();
    assert.equal(await skip.evaluate((one) => getComputedStyle(one).clipPath), 'inset(50%)');
    await page.keyboard.press('Tab');
    assert.ok(await skip.evaluate((one) => one === document.activeElement));
    assert.ok(await isSeen(skip));
    await page.keyboard.press('Enter');
    await until(() => page.evaluate(() => document.activeElement.tagName === 'MAIN'), 'the content has the focus');
    await page.keyboard.press('Tab');
    assert.ok(await page.getByLabel('Filter', { exact: true }).evaluate((one) => one === document.activeElement));
    assert.ok(page.url().endsWith('/tasklist'));
  }));

test('tasks are assigned to others by search, one and many', async () => {
  const keys = [await newTask('bulk'), await newTask('bulk'), await newTask('bulk')];
  await until(async () => (await tasks({ processDefinitionId: 'bulk' })).page.totalItems === 3, 'all are found');
  await withUser('ann', '/tasklist?filter=custom&process=bulk', async (page) => {
    await count(list(page), 3);
    for (const box of await page.getByRole('checkbox', { name: 'Choose Task of bulk' }).all()) await box.check();
    await page.getByRole('button', { name: 'Assign 3 tasks …' }).click();
    await page.getByRole('combobox', { name: 'User name' }).fill('nob');
    await page.getByRole('option', { name: /nobody/ }).click();
    await page.getByRole('button', { name: 'Assign', exact: true }).click();
    await page.getByText('All are assigned.').waitFor();
    for (const key of keys) assert.equal((await read(key)).assignee, 'nobody');
    await list(page).first().click();
    await page.getByRole('button', { name: 'Assign …', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Assign to me' }).click();
    await page.getByText('Assigned to ann').waitFor();
    await until(async () => (await tasks({ processDefinitionId: 'bulk', assignee: 'ann' })).page.totalItems === 1, 'one is mine');
  });
});

test('of many, those that are refused stay chosen, with the reason', async () => {
  await newTask('other');
  await until(async () => (await tasks({ processDefinitionId: 'other' })).page.totalItems === 1, 'it is found');
  await withUser(
    'ann',
    '/tasklist?filter=custom&process=other',
    async (page) => {
      await page.getByRole('checkbox', { name: 'Choose Task of other' }).check();
      await page.getByRole('button', { name: 'Assign 1 task …' }).click();
      await page.route('**/assignment', (route) => route.fulfill({ status: 409, contentType: 'application/problem+json', body: '{"title":"INVALID_STATE","detail":"it is being completed","status":409}' }));
      await page.getByRole('dialog').getByRole('button', { name: 'Assign to me' }).click();
      await page.getByText('0 of 1 are assigned. INVALID_STATE: it is being completed').waitFor();
      await page.getByRole('button', { name: 'Assign 1 task …' }).waitFor();
    },
    { statuses: [409] },
  );
});

test('priority, dates and candidates are changed, and what was not touched stays', async () => {
  const key = await newTask('dates');
  await withUser('ann', `/tasklist/${key}`, async (page) => {
    await page.getByRole('button', { name: 'Change …' }).click();
    await page.getByLabel('Priority').fill('80');
    await page.getByLabel('Due').fill('2031-01-02T03:04');
    await page.getByLabel('Follow-up').fill('2030-12-24T08:00');
    await page.getByLabel(/^Candidate groups/).fill('night\nday');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('priority 80').waitFor();
    const task = await read(key);
    const local = await page.evaluate(() => [new Date('2031-01-02T03:04').toISOString(), new Date('2030-12-24T08:00').toISOString()]);
    assert.deepEqual([task.priority, task.candidateGroups, task.candidateUsers], [80, ['night', 'day'], []]);
    assert.deepEqual([task.dueDate, task.followUpDate].map((date) => new Date(date).toISOString()), local);
    await page.getByRole('button', { name: 'Change …' }).click();
    await page.getByLabel('Due').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await until(async () => (await read(key)).dueDate === null, 'the date is gone');
    assert.equal((await read(key)).priority, 80);
  });
});

test('a draft outlives the page, is its author\'s alone, and goes when it is sent', async () => {
  const key = await newTask('draft', { known: 1 });
  await assigned(key, 'ann');
  await withUser('ann', `/tasklist/${key}`, async (page) => {
    await page.getByLabel('Value of known').fill('{"half":');
    await page.getByRole('button', { name: 'Add a variable' }).click();
    await page.getByLabel('Name', { exact: true }).fill('more');
    await page.getByLabel('Value of more').fill('2');
    await page.reload();
    await page.getByText('What was typed here before').waitFor();
    assert.equal(await page.getByLabel('Value of known').inputValue(), '{"half":');
    assert.equal(await page.getByLabel('Value of more').inputValue(), '2');
    assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter((name) => name.startsWith('baton.draft.ann.'))), [`baton.draft.ann.${key}`]);
    await page.getByRole('button', { name: 'Discard it' }).click();
    assert.equal(await page.getByLabel('Value of known').inputValue(), '1');
    await page.getByLabel('Value of known').fill('7');
    await page.getByRole('button', { name: 'Complete' }).click();
    await page.locator('.toast', { hasText: 'Completed' }).waitFor();
    assert.equal(await page.evaluate(() => Object.keys(localStorage).filter((name) => name.startsWith('baton.draft.')).length), 0);
    const { items } = await search(server, 'variables', { processInstanceKey: (await read(key)).processInstanceKey, name: 'known' }, {}, admin);
    assert.equal(items[0].value, '7');
  });
});

test('files of a form are kept as documents, shown, and downloaded; a drawing with a script is never shown', async () => {
  const instance = await start(server, 'papers', {}, {}, admin);
  const key = await taskOf(instance);
  await assigned(key, 'ann');
  const variables = async (of) => (await search(server, 'variables', { processInstanceKey: of, name: 'papers' }, {}, admin)).items[0]?.value;
  await withUser('ann', `/tasklist/${key}`, async (page) => {
    await page.locator('.fjs-container input[type=file]').setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: PNG },
      { name: 'evil.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(SCRIPT) },
      { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a <b>note</b>') },
    ]);
    await page.getByLabel('Note').fill('three papers');
    await page.getByRole('button', { name: 'Complete' }).click();
    await page.locator('.toast', { hasText: 'Completed' }).waitFor();
  });
  const documents = JSON.parse(await variables(instance));
  assert.deepEqual(documents.map((one) => [one['camunda.document.type'], one.metadata.fileName]), [['camunda', 'dot.png'], ['camunda', 'evil.svg'], ['camunda', 'note.txt']]);
  const again = await newTask('one', { papers: documents });
  await assigned(again, 'ann');
  await withUser('ann', `/tasklist/${again}`, async (page) => {
    page.on('dialog', (dialog) => assert.fail(`a script ran: ${dialog.message()}`));
    const section = page.getByRole('region', { name: 'Documents' });
    await section.getByText('evil.svg').waitFor();
    assert.equal(await section.getByRole('button', { name: 'Preview evil.svg' }).count(), 0);
    await section.getByRole('button', { name: 'Preview dot.png' }).click();
    await until(() => page.getByRole('dialog').locator('img').evaluate((image) => image.naturalWidth === 1), 'the picture is shown');
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press('Escape');
    await section.getByRole('button', { name: 'Preview note.txt' }).click();
    await page.getByRole('dialog').getByText('a <b>note</b>').waitFor();
    await page.keyboard.press('Escape');
    const path = await section.getByRole('link', { name: 'Download evil.svg' }).getAttribute('href');
    const told = await page.evaluate(async (href) => {
      const answer = await fetch(href);
      return [answer.status, answer.headers.get('content-disposition'), answer.headers.get('x-content-type-options'), answer.headers.get('content-type'), await answer.text()];
    }, path);
    assert.deepEqual([told[0], told[1].split(';')[0], told[2], told[3], told[4]], [200, 'attachment', 'nosniff', 'application/octet-stream', SCRIPT]);
    // Without a form, files become a variable that refers to them.
    await page.getByLabel('Add documents').setInputFiles({ name: 'more.txt', mimeType: 'text/plain', buffer: Buffer.from('more') });
    await page.getByLabel('Value of documents').waitFor();
    await page.getByRole('button', { name: 'Complete' }).click();
    await page.locator('.toast', { hasText: 'Completed' }).waitFor();
    const { items } = await search(server, 'variables', { processInstanceKey: (await read(again)).processInstanceKey, name: 'documents' }, {}, admin);
    assert.equal(JSON.parse(items[0].value)[0].metadata.fileName, 'more.txt');
  });
});

test('a form shows images from origins that the server names, and from no others', async () => {
  const images = createServer((_, answer) => answer.writeHead(200, { 'content-type': 'image/png' }).end(PNG));
  await new Promise((done) => images.listen(0, '127.0.0.1', done));
  const port = images.address().port;
  const [named, other] = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  const open = await startServer([`web.image_origins=${named}`]);
  try {
    const image = (id, source) => ({ type: 'image', id, source, alt: id });
    await deploy(open, {
      'shown.form': JSON.stringify({ type: 'default', id: 'shown', schemaVersion: 16, components: [image('named', `${named}/dot.png`), image('other', `${other}/dot.png`)] }),
      'shown.bpmn': bpmn('shown', [['user', 'look', 'shown']]),
    });
    const processInstanceKey = await start(open, 'shown');
    const task = await until(async () => (await search(open, 'user-tasks', { processInstanceKey })).items[0], 'its task is found');
    await withPage(
      open,
      async (page) => {
        await page.goto(`${open.url}/tasklist/${task.userTaskKey}`);
        const width = (alt) => page.getByRole('img', { name: alt }).evaluate((one) => (one.complete ? one.naturalWidth : -1));
        await until(async () => (await width('named')) === 1, 'the image of the origin that is named is shown');
        await until(async () => (await width('other')) === 0, 'the other one is not');
        assert.deepEqual(await page.evaluate(() => globalThis.violations.map((one) => one.split(' ').slice(0, 2))), [['img-src', `${other}/dot.png`]]);
      },
      { origins: [named, other], blocked: true },
    );
  } finally {
    await open.stop();
    images.close();
  }
});

test('a form whose expressions never end is drawn all the same, and computes the others', async () => {
  const instance = await start(server, 'bombs', { name: 'Ann', a: 1 }, {}, admin);
  const key = await taskOf(instance);
  await assigned(key, 'ann');
  await withUser('ann', `/tasklist/${key}`, async (page) => {
    await page.locator('.form[data-drawn=true]').waitFor();
    await page.getByText('An expression of this form takes too long').waitFor();
    await page.getByText('Hello Ann, 3 things').waitFor();
    await count(page.getByLabel('More'), 0);
    await page.getByLabel('First').fill('40');
    await page.getByLabel('More').fill('typed');
    await page.getByLabel('Second').fill('fine');
    // Patterns are matched in the worker, too.
    await page.getByLabel('Fourth').fill(`${'a'.repeat(40)}!`);
    await page.getByLabel('Fifth').fill('abc');
    await page.getByText('Field must match pattern ^[A-Z]{2}$.').waitFor();
    await page.getByRole('button', { name: 'Complete' }).click();
    await page.getByLabel('Fifth').fill('AB');
    await page.getByText('Field must match pattern').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Complete' }).click();
    await page.locator('.toast', { hasText: 'Completed' }).waitFor();
  });
  const variables = await until(async () => {
    const { items } = await search(server, 'variables', { processInstanceKey: instance }, {}, admin);
    return items.length >= 6 && Object.fromEntries(items.map((item) => [item.name, item.value]));
  }, 'its variables are found');
  assert.deepEqual([variables.a, variables.sum, variables.more, variables.x2, variables.x5], ['40', '42', '"typed"', '"fine"', '"AB"']);
});

test('a form that is elsewhere is a link, unless it is none', async () => {
  const [link, evil] = [await newTask('link'), await newTask('evil')];
  await withUser('ann', `/tasklist/${link}`, async (page) => {
    const shown = page.getByRole('link', { name: 'https://forms.example/f?a=1&b=2' });
    await shown.waitFor();
    assert.deepEqual([await shown.getAttribute('href'), await shown.getAttribute('rel')], ['https://forms.example/f?a=1&b=2', 'noreferrer noopener']);
    await page.goto(`${server.url}/tasklist/${evil}`);
    await page.getByText('javascript:alert(1)').waitFor();
    assert.equal(await page.locator('a[href^="javascript"]').count(), 0);
  });
});

test('a task shows its process and its history', async () => {
  const key = await newTask('history');
  await assigned(key, 'ann');
  await withUser('ann', `/tasklist/${key}/process`, async (page) => {
    await page.locator('.diagram[data-drawn]').waitFor();
    await page.locator('.djs-element.selected[data-element-id=task]').waitFor({ state: 'attached' });
    await page.getByRole('tab', { name: 'History' }).click();
    await page.waitForURL(new RegExp(`/tasklist/${key}/history`));
    await rowsOf(page, 'Operations log').filter({ hasText: /Assign/ }).first().waitFor();
    assert.deepEqual(await violations(page), []);
  });
});

test('a notification tells of a task that comes while nobody looks', async () => {
  await withUser('ann', '/tasklist?filter=custom&process=keys&state=open', async (page, context) => {
    await context.grantPermissions(['notifications'], { origin: server.url });
    await page.evaluate(() => {
      globalThis.told = [];
      globalThis.Notification = class extends EventTarget {
        static permission = 'granted';
        static requestPermission = async () => 'granted';
        constructor(title, { body, tag }) {
          super();
          globalThis.told.push({ title, body, tag });
        }
        close() {}
      };
    });
    await page.getByLabel('Notify me of new tasks').check();
    await page.evaluate(() => Object.defineProperty(document, 'visibilityState', { get: () => 'hidden', configurable: true }));
    const key = await newTask('keys');
    const told = await until(async () => (await page.evaluate(() => globalThis.told))[0], 'it is told', 40_000);
    assert.deepEqual(told, { title: 'New task: Task of keys', body: 'keys', tag: key });
    await server.rest('POST', `/v2/user-tasks/${key}/completion`, {}, admin);
  });
});

test('Tasklist speaks German, and counts, dates and choices do, too; the choice stays', async () => {
  await newTask('one');
  await withUser('ann', '/tasklist', async (page) => {
    await openMenu(page);
    await page.getByLabel('Language').selectOption('de');
    await page.getByRole('link', { name: 'Prozess starten' }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'de');
    await page.getByText(/^\d+ Aufgaben?$/).first().waitFor();
    await list(page).or(page.getByRole('navigation', { name: 'Passende Aufgaben' }).getByRole('link')).first().click();
    await page.getByRole('button', { name: 'Mir zuweisen' }).waitFor();
    await page.getByText(/erstellt vor/).waitFor();
    await openMenu(page);
    await page.getByRole('button', { name: 'Abmelden' }).click();
    await page.getByRole('button', { name: 'Anmelden' }).waitFor();
    await page.getByLabel('Benutzername').waitFor();
    await page.getByLabel('Sprache').selectOption('en');
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });
});

test('a task is claimed and completed with the keyboard alone, and `?` lists the keys', async () => {
  const key = await newTask('keys', { known: 1 });
  await withUser('ann', '/tasklist?filter=custom&process=keys', async (page) => {
    await count(list(page), 1);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('assign the task to yourself').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/tasklist/${key}`));
    await page.getByRole('button', { name: 'Assign to me' }).waitFor();
    await page.keyboard.press('a');
    await page.getByText('Assigned to ann').waitFor();
    for (let at = 0; at < 60; at += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement?.tagName === 'TEXTAREA')) break;
    }
    await page.keyboard.press('Control+a');
    await page.keyboard.type('42');
    await page.keyboard.press('Control+Enter');
    await page.locator('.toast', { hasText: 'Completed' }).waitFor();
    await until(async () => (await read(key)).state === 'COMPLETED', 'it is completed');
    const { items } = await search(server, 'variables', { processInstanceKey: (await read(key)).processInstanceKey, name: 'known' }, {}, admin);
    assert.equal(items[0].value, '42');
  });
});

test('a role is created and granted with the keyboard alone', () =>
  withUser('admin', '/tasklist', async (page) => {
    const tabTo = async (is) => {
      for (let at = 0; at < 80; at += 1) {
        if (await page.evaluate(is)) return;
        await page.keyboard.press('Tab');
      }
      assert.fail('the keyboard does not reach it');
    };
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.waitForURL(/\/admin\/users/);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Roles');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/admin\/roles/);
    await page.getByRole('button', { name: 'New role' }).waitFor();
    await tabTo(() => document.activeElement?.textContent === 'New role');
    await page.keyboard.press('Enter');
    await tabTo(() => document.activeElement?.getAttribute('name') === 'id');
    await page.keyboard.type('typist');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Typist');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal((await server.rest('GET', '/v2/roles/typist', undefined, admin)).name, 'Typist');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Authorizations');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/admin\/authorizations/);
    await page.getByRole('button', { name: 'New authorization' }).waitFor();
    await tabTo(() => document.activeElement?.textContent?.trim() === 'New authorization');
    await page.keyboard.press('Enter');
    await tabTo(() => document.activeElement?.getAttribute('name') === 'ownerType');
    await page.keyboard.type('Role');
    await page.keyboard.press('Tab');
    await page.keyboard.type('typ');
    await page.getByRole('option', { name: /typist/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await tabTo(() => document.activeElement?.getAttribute('value') === 'READ_PROCESS_DEFINITION');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const [granted] = (await search(server, 'authorizations', { ownerId: 'typist' }, {}, admin)).items;
    assert.deepEqual([granted.ownerType, granted.resourceType, granted.permissionTypes], ['ROLE', 'PROCESS_DEFINITION', ['READ_PROCESS_DEFINITION']]);
  }));

test('a token against forgery that is lost is asked for over the page; what was typed stays', () =>
  withUser(
    'admin',
    '/admin/groups',
    async (page, context) => {
      await page.getByRole('button', { name: 'New group' }).click();
      await page.getByLabel('ID', { exact: true }).fill('tokenless');
      await page.getByLabel('Name', { exact: true }).fill('Tokenless');
      const cookies = await context.cookies();
      await context.clearCookies();
      await context.addCookies(cookies.filter(({ name }) => name !== 'X-CSRF-TOKEN'));
      await press(page.getByRole('button', { name: 'Create' }));
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      await dialog.getByLabel('User name').fill('admin');
      await dialog.getByLabel('Password').fill(PEOPLE.admin);
      await dialog.getByRole('button', { name: 'Sign in' }).click();
      await rowsOf(page, 'Groups').filter({ hasText: 'tokenless' }).waitFor();
      assert.equal((await search(server, 'groups', { groupId: 'tokenless' }, {}, admin)).items.length, 1);
    },
    { statuses: [403] },
  ));
