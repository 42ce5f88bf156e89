// Nothing is cut without saying so: versions, hits and selections of more than a page of the API. Roles are in admin.test.mjs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, withPage } from '../page.mjs';
import { count, rowsOf } from '../people.mjs';
import { bpmn, deploy, search, start, startServer, until } from '../server.mjs';

const VERSIONS = 101;
const SELECTED = 21_000;
/** Instances that one process calls, which is quicker than to start each. */
const CALLED_AT_ONCE = 3000;
let server;

before(async () => {
  server = await startServer();
});
after(async () => {
  await closeBrowser();
  await server?.stop();
});

test('a process with 101 versions shows and compares each of them', async () => {
  for (let at = 1; at <= VERSIONS; at += 1) await deploy(server, { 'versions.bpmn': bpmn('versions', [['job', 'work', `type-${at}`, `Work ${at}`]]) });
  await until(async () => (await search(server, 'process-definitions', { processDefinitionId: 'versions' })).page.totalItems === VERSIONS, 'all are found');
  await start(server, 'versions', {}, { processDefinitionVersion: 1 });
  await until(async () => (await search(server, 'process-instances', { processDefinitionId: 'versions' })).page.totalItems === 1, 'the instance is found');
  await withPage(server, async (page) => {
    await page.goto(`${server.url}/operate/definitions/versions`);
    const versions = page.getByLabel('Version', { exact: true });
    await count(versions.locator('option'), VERSIONS);
    await versions.selectOption('1');
    await page.waitForURL(/version=1$/);
    await page.locator('.djs-element[data-element-id="work"]', { hasText: 'Work 1' }).waitFor({ state: 'attached' });
    // The filter of the list has the oldest one, too.
    await page.goto(`${server.url}/operate/processes?process=versions&version=1`);
    await count(rowsOf(page, 'Process instances'), 1);
    const filter = page.getByRole('search').getByLabel('Version').or(page.getByLabel('Version', { exact: true })).first();
    await until(async () => (await filter.locator('option').count()) >= VERSIONS, async () => `${await filter.locator('option').count()} options`);
    // And the wizard of migrations.
    await page.goto(`${server.url}/operate/migrate?process=versions&version=1&target=versions&targetVersion=${VERSIONS}`);
    await page.getByRole('table', { name: 'Mapping of elements' }).waitFor();
    await until(async () => (await page.locator('select').evaluateAll((all) => Math.max(...all.map((one) => one.options.length)))) >= VERSIONS, 'all versions can be chosen');
  });
});

test('10,001 hits and a selection of 21,000 are counted exactly and changed, all of them', async () => {
  await deploy(server, {
    'child.bpmn': bpmn('child', [['user', 'wait']], { hasDiagram: false }),
    'parent.bpmn': `<?xml version="1.0"?><definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:z="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t"><process id="parent" isExecutable="true"><startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="each"/><callActivity id="each"><extensionElements><z:calledElement processId="child" propagateAllChildVariables="false" propagateAllParentVariables="false"/></extensionElements><multiInstanceLoopCharacteristics><extensionElements><z:loopCharacteristics inputCollection="=items"/></extensionElements></multiInstanceLoopCharacteristics></callActivity></process></definitions>`,
  });
  const items = Array.from({ length: CALLED_AT_ONCE }, () => 0);
  for (let at = 0; at < SELECTED / CALLED_AT_ONCE; at += 1) await start(server, 'parent', { items });
  const all = async () => (await server.rest('POST', '/baton/v1/process-instances/count', { filter: { processDefinitionId: 'child' } }).catch(() => ({}))).count;
  const found = () => search(server, 'process-instances', { processDefinitionId: 'child', state: 'ACTIVE' }, { page: { limit: 1, from: SELECTED - 1 } });
  await until(async () => (await all()) === SELECTED || (await found().catch(() => ({ items: [] }))).items.length === 1, 'all are found', 180_000);
  await withPage(server, async (page) => {
    await page.goto(`${server.url}/operate/processes?process=child&active=true`);
    await count(rowsOf(page, 'Process instances'), 50);
    // A list may stop counting, if it says so; before something is changed it is counted exactly.
    await page.getByText(/(21,000|at least 10,000|more than 10,000) match/i).first().waitFor();
    await page.getByLabel('Choose all of this page').check();
    await page.getByRole('button', { name: /Choose all .* that match/ }).click();
    await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'Suspend' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('21,000 instances are active now').waitFor();
    await dialog.getByRole('button', { name: 'Suspend instances' }).click();
    await page.waitForURL(/batch-operations\/\d+/);
    const key = /\d+$/.exec(page.url())[0];
    const operation = () => server.rest('GET', `/v2/batch-operations/${key}`);
    await until(async () => (await operation()).operationsTotalCount === SELECTED, async () => JSON.stringify(await operation()), 120_000);
    await page.getByText('21,000 in all').waitFor();
    await until(async () => (await operation()).operationsCompletedCount === SELECTED, async () => JSON.stringify(await operation()), 180_000);
    await page.getByText('21,000 done, 0 failed, 21,000 in all').waitFor();
    // All 10,001st and later items can be reached.
    await page.goto(`${server.url}/operate/batch-operations/${key}?sort=itemKey%3Adesc`);
    await count(rowsOf(page, 'Items'), 50);
  });
});
