// Incidents repaired in one step: variables, retries of the job, resolution; and "retrying" until it is known what came of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, pressInMenu, violations, withPage } from '../page.mjs';
import { count, rowsOf } from '../people.mjs';
import { bpmn, deploy, fail, model, search, start, startServer, until } from '../server.mjs';

let server;
before(async () => {
  server = await startServer();
  await deploy(server, {
    'paid.bpmn': bpmn('paid', [['job', 'charge', 'repair-charge', 'Charge']]),
    'many.bpmn': bpmn('many', [['job', 'send', 'repair-send', 'Send']]),
    'mapped.bpmn': model('mapped', '<startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="x"/><exclusiveGateway id="x"/><sequenceFlow id="b" sourceRef="x" targetRef="end"><conditionExpression>=amount &gt; 5</conditionExpression></sequenceFlow><endEvent id="end"/>'),
  });
});
after(async () => {
  await closeBrowser();
  await server?.stop();
});

const openIncidents = async (filter) => (await search(server, 'incidents', { state: 'ACTIVE', ...filter })).page.totalItems;
const jobOf = async (key) => (await search(server, 'jobs', { processInstanceKey: key })).items[0];
const variablesOf = async (key) => Object.fromEntries((await search(server, 'variables', { processInstanceKey: key })).items.map(({ name, value }) => [name, value]));
const complete = async (type) => {
  const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type, timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 10_000 });
  await server.rest('POST', `/v2/jobs/${jobs[0].jobKey}/completion`, {});
};

test('an incident is resolved with retries and variables, and retried until a worker is done or a new incident comes', async () => {
  const key = await start(server, 'paid', { card: 'wrong', amount: 1 });
  await fail(server, 'repair-charge', 'the card is wrong');
  await until(async () => (await openIncidents({ processInstanceKey: key })) === 1, 'the incident is found');
  await withPage(
    server,
    async (page) => {
      await page.goto(`${server.url}/operate/processes/${key}/incidents`);
      await pressInMenu(page.getByRole('region', { name: 'Incidents' }), 'Repair …');
      const dialog = page.getByRole('dialog', { name: 'Repair and resolve' });
      const resolve = dialog.getByRole('button', { name: 'Resolve' });
      for (const wrong of ['', '0', '-1', 'x', '1.5', '99999999999']) {
        await dialog.getByLabel('Retries').fill(wrong);
        await dialog.getByText('The retries are a number above zero.').waitFor();
        assert.ok(await resolve.isDisabled(), wrong);
      }
      await dialog.getByLabel('Retries').fill('3');
      await dialog.getByLabel('Value of card').fill('{"number":');
      await resolve.click();
      await dialog.getByText('The variable card is wrong: ').waitFor();
      assert.equal((await jobOf(key)).retries, 0, 'nothing was sent');
      assert.equal(await dialog.getByLabel('Value of card').inputValue(), '{"number":');
      // Escape asks before it throws away what was typed.
      page.once('dialog', (asked) => asked.dismiss());
      await page.keyboard.press('Escape');
      await dialog.getByLabel('Value of card').fill('{"number": 12345678901234567890}');
      assert.deepEqual(await violations(page), []);
      await resolve.dblclick();
      await dialog.waitFor({ state: 'detached' });
      const retried = rowsOf(page, 'Jobs that are retried');
      await count(retried, 1);
      assert.match(await retried.innerText(), /Retrying\s+charge\s+waits for a worker of the type repair-charge\s+retries 3/);
      await page.getByText('There are no incidents here.').waitFor();
      assert.deepEqual([(await jobOf(key)).retries, await openIncidents({ processInstanceKey: key })], [3, 0]);
      assert.deepEqual(await variablesOf(key), { card: '{"number":12345678901234567890}', amount: '1' });
      await page.reload();
      await count(retried, 1);
      assert.deepEqual(await violations(page), []);
      // A failure with retries left is not the end, without any it is a new incident.
      const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type: 'repair-charge', timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 10_000 });
      await server.rest('POST', `/v2/jobs/${jobs[0].jobKey}/failure`, { retries: 1, errorMessage: 'still wrong' });
      await until(async () => /still wrong/.test(await retried.first().innerText()), 'it is still retried');
      await fail(server, 'repair-charge', 'wrong for good');
      await page.getByText('wrong for good').first().waitFor();
      await count(retried, 0);
      await pressInMenu(page.getByRole('region', { name: 'Incidents' }), 'Retry');
      await count(retried, 1);
      await complete('repair-charge');
      await count(retried, 0);
      assert.equal((await server.rest('GET', `/v2/process-instances/${key}`)).state, 'COMPLETED');
    },
    { statuses: [400] },
  );
});

test('an incident without a job is resolved with variables', async () => {
  const key = await start(server, 'mapped', { amount: 1 });
  await until(async () => (await openIncidents({ processInstanceKey: key })) === 1, 'the incident is found');
  await withPage(server, async (page) => {
    await page.goto(`${server.url}/operate/incidents?process=mapped`);
    await pressInMenu(rowsOf(page, 'Incidents'), 'Repair …');
    const dialog = page.getByRole('dialog', { name: 'Repair and resolve' });
    assert.equal(await dialog.getByLabel('Retries').count(), 0);
    await dialog.getByLabel('Value of amount').fill('7');
    await dialog.getByRole('button', { name: 'Resolve' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('No open incident matches.').waitFor();
    assert.equal((await server.rest('GET', `/v2/process-instances/${key}`)).state, 'COMPLETED');
  });
});

test('all incidents with an error are resolved with retries and variables, and what is refused is told', async () => {
  const keys = [];
  for (let at = 0; at < 3; at += 1) {
    keys.push(await start(server, 'many', { at }));
    await fail(server, 'repair-send', 'no network');
  }
  await until(async () => (await openIncidents({ processDefinitionId: 'many' })) === 3, 'the incidents are found');
  await withPage(
    server,
    async (page) => {
      await page.goto(`${server.url}/operate/incidents`);
      await page.getByRole('button', { name: 'Repair all with the error no network' }).click();
      const dialog = page.getByRole('dialog', { name: 'Repair and resolve all' });
      await dialog.getByText('3 incidents have this error now').waitFor();
      const run = dialog.getByRole('button', { name: 'Repair and resolve all' });
      await dialog.getByLabel('Variables as JSON').fill('[1]');
      assert.ok(await run.isDisabled(), 'variables are an object');
      await dialog.getByLabel('Variables as JSON').fill('{"proxy": 9007199254740993}');
      await dialog.getByLabel('Retries').fill('2');
      assert.deepEqual(await violations(page), []);
      // One instance ends while somebody looks.
      let canceled;
      await page.route('**/v2/element-instances/**', async (route) => {
        if (canceled === undefined) {
          canceled = keys[0];
          await server.rest('POST', `/v2/process-instances/${keys[0]}/cancellation`, {});
        }
        await route.continue();
      });
      await run.dblclick();
      await dialog.getByText('2 resolved, 1 refused').waitFor();
      await dialog.getByRole('listitem').filter({ hasText: 'It is not there, or not any more' }).waitFor();
      for (const key of keys.slice(1)) {
        assert.deepEqual([(await jobOf(key)).retries, (await variablesOf(key)).proxy], [2, '9007199254740993']);
      }
      assert.equal(await openIncidents({ processDefinitionId: 'many' }), 0);
      assert.equal((await search(server, 'audit-logs', { entityType: 'INCIDENT', processDefinitionId: 'many' })).page.totalItems, 2, 'two clicks are one run');
      page.once('dialog', (asked) => asked.accept());
      await dialog.getByRole('button', { name: 'Close' }).last().click();
      await count(rowsOf(page, 'Jobs that are retried'), 2);
    },
    { statuses: [404] },
  );
});
