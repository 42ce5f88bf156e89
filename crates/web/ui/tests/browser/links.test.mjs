// Addresses: the whole state of a list is in its URL, and addresses of the reference lead to what they show there.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { LISTS, links } from '../links.mjs';
import { closeBrowser, withPage } from '../page.mjs';
import { bpmn, deploy, fail, search, start, startServer, until } from '../server.mjs';

let server;
const keys = {};
const opens = (page, path) => page.goto(server.url + path);
const rowsOf = (page, label) => page.getByRole('table', { name: label, exact: true }).locator('tbody tr');
const count = (locator, expected, why = '') => until(async () => (await locator.count()) === expected, async () => `${await locator.count()} instead of ${expected} ${why}`);
const state = async (key) => (await server.rest('GET', `/v2/process-instances/${key}`)).state;

before(async () => {
  server = await startServer();
  await deploy(server, {
    'order.bpmn': bpmn('order', [['job', 'pay', 'link-pay', 'Pay'], ['user', 'check', undefined, 'Check']], { name: 'Order' }),
    'parent.bpmn': bpmn('parent', [['call', 'child', 'order', 'Child']], { name: 'Parent' }),
    'rate.dmn': `<?xml version="1.0"?><definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="rates" name="rates" namespace="n"><decision id="rate" name="Rate"><variable id="v" name="x"/><literalExpression id="l"><text>assert(total, total != null) + 1</text></literalExpression></decision></definitions>`,
  });
  keys.broken = await start(server, 'order', { customer: 'ann', amount: 5 }, { businessId: 'link-1', tags: ['urgent', 'red'] });
  assert.equal((await fail(server, 'link-pay', 'no money')).processInstanceKey, keys.broken);
  await deploy(server, { 'order.bpmn': bpmn('order', [['job', 'pay', 'link-pay', 'Pay'], ['user', 'check', undefined, 'Check'], ['job', 'ship', 'link-ship', 'Ship']], { name: 'Order' }) });
  keys.active = await start(server, 'order', { customer: 'bob', amount: 7 }, { tags: ['red'] });
  keys.suspended = await start(server, 'order', { customer: 'carol', paid: true });
  await server.rest('POST', `/v2/process-instances/${keys.suspended}/suspension`, {});
  keys.canceled = await start(server, 'order', { customer: null });
  keys.parent = await start(server, 'parent');
  await until(async () => (await search(server, 'process-instances', {})).page.totalItems === 6, 'the instances are found');
  const { batchOperationKey } = await server.rest('POST', '/v2/process-instances/cancellation', { filter: { processInstanceKey: keys.canceled } });
  keys.batch = batchOperationKey;
  await until(async () => (await state(keys.canceled)) === 'TERMINATED' && (await state(keys.suspended)) === 'SUSPENDED', 'they are as they should be');
  await until(async () => (await server.rest('GET', `/v2/batch-operations/${keys.batch}`)).state === 'COMPLETED', 'the batch operation is over');
  await until(async () => (await search(server, 'process-instances', { hasIncident: true })).page.totalItems === 1, 'the incident is found');
  for (const variables of [{ total: 1 }, {}]) await server.rest('POST', '/v2/decision-definitions/evaluation', { decisionDefinitionId: 'rate', variables }).catch(() => undefined);
  await until(async () => (await search(server, 'decision-instances', {})).page.totalItems === 2, 'the evaluations are found');
  keys.evaluation = (await search(server, 'decision-instances', { state: 'EVALUATED' })).items[0].decisionEvaluationInstanceKey;
  keys.hash = (await server.rest('POST', '/v2/incidents/statistics/process-instances-by-error', {})).items[0].errorHashCode;
  keys.child = (await search(server, 'process-instances', { parentProcessInstanceKey: keys.parent })).items[0].processInstanceKey;
});

after(async () => {
  await closeBrowser();
  await server?.stop();
});

test('typed conditions on variables, with suggested names, tags and alternatives make a list', () =>
  withPage(server, async (page) => {
    const rows = rowsOf(page, 'Process instances');
    const dialog = page.getByRole('dialog');
    await opens(page, '/operate/processes?process=order&version=2');
    await count(rows, 4);
    await page.getByRole('button', { name: '+ Filter' }).click();
    const names = await until(async () => {
      const found = await dialog.locator('datalist option').evaluateAll((options) => options.map((option) => option.value));
      return found.includes('customer') && found;
    }, 'names are suggested');
    assert.deepEqual([...names].sort(), ['amount', 'customer', 'paid']);
    await dialog.getByLabel('Name of the variable').fill('paid');
    await dialog.getByLabel('Type of the value').selectOption('true or false');
    await dialog.getByLabel('Value', { exact: true }).selectOption('true');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/var=paid%3Aeq%3Atrue/);
    await count(rows, 1);
    assert.match(await rows.innerText(), new RegExp(keys.suspended));
    await page.getByRole('button', { name: '+ Filter' }).click();
    await dialog.getByLabel('Condition', { exact: true }).first().selectOption('exists');
    await dialog.getByLabel('Name of the variable').first().fill('amount');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/var=amount%3Aexists/);
    await count(rows, 1);
    const without = async (name) => (await search(server, 'process-instances', { variables: [{ name, value: { $exists: false } }] })).items.map((one) => one.processInstanceKey).sort();
    await opens(page, '/operate/processes');
    await page.getByRole('button', { name: '+ Filter' }).click();
    await dialog.getByLabel('Name of the variable').fill('amount');
    await dialog.getByLabel('Condition', { exact: true }).selectOption('exists');
    await dialog.getByLabel('Value', { exact: true }).selectOption('no');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/var=amount%3Aexists%3Afalse/);
    await page.getByText('amount exists not').waitFor();
    await count(rows, 4);
    assert.deepEqual(await without('amount'), [keys.suspended, keys.canceled, keys.parent, keys.child].sort());
    await opens(page, '/operate/processes');
    await page.getByRole('button', { name: '+ Alternative' }).click();
    await dialog.getByLabel('Business ID').fill('link-1');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/or=businessId%3Dlink-1/);
    await count(rows, 1);
    await page.getByRole('button', { name: '+ Alternative' }).click();
    await dialog.getByLabel('Name of the variable').fill('amount');
    await dialog.getByLabel('Type of the value').selectOption('number');
    await dialog.getByLabel('Value', { exact: true }).fill('7');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await count(rows, 2);
    await page.getByRole('button', { name: '+ Alternative' }).click();
    await dialog.getByLabel('canceled').check();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await count(rows, 3);
    await page.reload();
    await count(rows, 3);
    const { items } = await search(server, 'process-instances', { $or: [{ businessId: 'link-1' }, { variables: [{ name: 'amount', value: '7' }] }, { state: 'TERMINATED' }] });
    assert.deepEqual(items.map((one) => one.processInstanceKey).sort(), [keys.active, keys.broken, keys.canceled].sort());
    await page.getByRole('button', { name: 'Remove the alternative: canceled' }).click();
    await count(rows, 2);
    await page.getByRole('button', { name: 'Change the alternative: business ID link-1' }).click();
    await dialog.getByLabel('Business ID').fill('nobody');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await count(rows, 1);
    await page.goBack();
    await count(rows, 2);
  }));

test('columns and orders are chosen, and the URL has them', () =>
  withPage(server, async (page) => {
    const heads = async () => (await page.getByRole('table', { name: 'Process instances', exact: true }).locator('thead th').allInnerTexts()).map((text) => text.replace(/[↑↓\s]+$/, '').trim()).filter(Boolean);
    await opens(page, '/operate/processes');
    await rowsOf(page, 'Process instances').first().waitFor();
    assert.deepEqual(await heads(), ['State', 'Process', 'Key', 'Business ID', 'Version', 'Started', 'Ended', 'Parent']);
    await page.getByRole('button', { name: 'Columns' }).click();
    const dialog = page.getByRole('dialog');
    for (const name of ['Business ID', 'Ended', 'Parent', 'Started']) await dialog.getByLabel(name, { exact: true }).uncheck();
    await dialog.getByLabel('Tags', { exact: true }).check();
    await dialog.getByRole('button', { name: 'Move Tags to the left' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.waitForURL(/columns=state%2Cprocess%2Ckey%2Ctags%2Cversion/);
    assert.deepEqual(await heads(), ['State', 'Process', 'Key', 'Tags', 'Version']);
    await page.reload();
    await until(async () => (await heads()).join() === 'State,Process,Key,Tags,Version', heads);
    await page.getByRole('button', { name: 'Version', exact: true }).click();
    await page.waitForURL(/sort=processDefinitionVersion%3Aasc/);
    await page.getByRole('button', { name: 'Completed', exact: true }).click();
    await page.waitForURL((url) => ['sort', 'columns', 'completed'].every((name) => url.searchParams.has(name)));
  }));

test('addresses of the reference, with their parameters, show what they name', () =>
  withPage(
    server,
    async (page) => {
      const table = links(keys);
      assert.ok(table.length >= 60, `${table.length} addresses`);
      const wrong = [];
      for (const [path, expected, list = LISTS.instances] of table) {
        await opens(page, path);
        try {
          if (typeof expected === 'string') await page.getByText(expected).first().waitFor({ state: 'attached', timeout: 8000 });
          else if (expected === 0) await page.getByText('No instance matches.').waitFor({ timeout: 8000 });
          else if (list === LISTS.variables) await count(page.getByRole('region', { name: list, exact: true }).locator('tbody tr'), expected);
          else await count(rowsOf(page, list), expected);
        } catch (error) {
          wrong.push(`${path}: ${error.message.split('\n')[0]}`);
        }
      }
      assert.deepEqual(wrong, []);
    },
    { statuses: [404, 400] },
  ));

test('back, forward, reload and a copied address give the same page', () =>
  withPage(server, async (page, context) => {
    const rows = rowsOf(page, 'Process instances');
    await opens(page, '/operate/processes?process=order');
    await count(rows, 5);
    await page.getByRole('button', { name: 'Canceled', exact: true }).click();
    await count(rows, 1);
    await rows.getByRole('link').first().click();
    await page.waitForURL(new RegExp(`/operate/processes/${keys.canceled}`));
    await page.getByRole('tab', { name: 'Details' }).click();
    await page.waitForURL(/\/details/);
    await page.goBack();
    await page.goBack();
    await count(rows, 1);
    await page.goBack();
    await count(rows, 5);
    await page.goForward();
    await count(rows, 1);
    const copy = await context.newPage();
    await copy.goto(page.url());
    await count(rowsOf(copy, 'Process instances'), 1);
    await page.reload();
    await count(rows, 1);
  }));
