// Time travel and where time goes, on a server that keeps steps and on one that does not.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, violations, withPage } from '../page.mjs';
import { bpmn, deploy, fail, search, start, startServer, until } from '../server.mjs';

const BIG = '12345678901234567890.123';
const HOSTILE = '<img src=x onerror=alert(1)><b>bold</b>"\'`{{7*7}}';
let server;
let key;
let definition;
let steps;

before(async () => {
  server = await startServer(['secondary_storage.steps=true', 'secondary_storage.durations=false']);
  await deploy(server, { 'two.bpmn': bpmn('two', [['job', 'first', 'first', 'First task'], ['job', 'second', 'second', HOSTILE]], { name: 'Two' }) });
  key = await start(server, 'two', { state: 'early', text: HOSTILE });
  await server.rest('PUT', `/v2/element-instances/${key}/variables`, `{"variables":{"big":${BIG}}}`);
  await fail(server, 'first', `no luck ${HOSTILE}`);
  const incident = await until(async () => (await search(server, 'incidents', {})).items[0], 'the incident is found');
  await server.rest('PUT', `/v2/element-instances/${key}/variables`, { variables: { state: 'repaired' } });
  await new Promise((done) => setTimeout(done, 300));
  await server.rest('PATCH', `/v2/jobs/${incident.jobKey}`, { changeset: { retries: 1 } });
  await server.rest('POST', `/v2/incidents/${incident.incidentKey}/resolution`, {});
  const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type: 'first', worker: 'w1', timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 5000 });
  await server.rest('POST', `/v2/jobs/${jobs[0].jobKey}/completion`, {});
  await until(async () => (await search(server, 'jobs', { type: 'second' })).page.totalItems === 1, 'the second job is found');
  steps = (await server.rest('GET', `/baton/v1/process-instances/${key}/steps`)).items;
  definition = (await search(server, 'process-definitions', { processDefinitionId: 'two' })).items[0].processDefinitionKey;
});
after(async () => {
  await closeBrowser();
  await server?.stop();
});

const opened = async (page, path) => {
  await page.goto(server.url + path);
  await page.locator('.diagram[data-drawn]').waitFor();
};
const values = (page) =>
  page
    .getByRole('table', { name: 'Variables at this moment' })
    .locator('tbody tr')
    .evaluateAll((rows) => Object.fromEntries(rows.map((row) => [row.cells[0].innerText, row.cells[1].innerText])));
const elements = (page) =>
  page
    .getByRole('table', { name: 'Element instances at this moment' })
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.cells].slice(0, 2).map((cell) => cell.innerText.trim()).join(' ')));
const at = (kind, name) => steps.find((step) => step.kind === kind && (name === undefined || step.name === name)).position;
const countAt = (position) => steps.findIndex((step) => step.position === position) + 1;

test('the tab of an instance leads to its history, which begins at the end and goes to any step by slider, keyboard and button', () =>
  withPage(server, async (page) => {
    await opened(page, `/operate/processes/${key}`);
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('heading', { level: 1, name: 'History of Two' }).waitFor();
    await page.getByText(`Step ${steps.length} of ${steps.length}`).waitFor();
    assert.deepEqual(await values(page), { big: BIG, state: '"repaired"', text: JSON.stringify(HOSTILE) });
    const incident = at('INCIDENT_CREATED');
    await page.getByRole('button', { name: 'First step' }).click();
    await page.getByText(`Step 1 of ${steps.length}`).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('at'), String(steps[0].position));
    assert.deepEqual(await elements(page), ['Active Two']);
    await page.getByRole('button', { name: 'Next event' }).click();
    await page.waitForURL(new RegExp(`at=${incident}$`));
    await page.locator('.counts[data-element="first"]').getByText('▲ 1').waitFor();
    await page.getByRole('heading', { name: 'Incidents at this moment' }).waitFor();
    assert.equal((await values(page)).state, '"early"', 'as it was then');
    assert.match(await page.getByRole('table', { name: 'Variables at this moment' }).innerText(), /"repaired"/, 'with what it became later');
    assert.deepEqual(await elements(page), ['Active Two', 'Completed start', 'Incident First task']);
    await page.getByRole('slider', { name: 'Step' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText(`Step ${countAt(incident) + 1} of`).waitFor();
    await page.keyboard.press('Home');
    await page.getByText('Step 1 of').waitFor();
    await page.keyboard.press('End');
    await page.waitForURL((url) => !url.searchParams.has('at'));
    await page.getByRole('button', { name: 'Previous step' }).click();
    await page.getByText(`Step ${steps.length - 1} of`).waitFor();
    await page.getByRole('region', { name: 'Steps' }).getByRole('button').first().click();
    await until(async () => /at=/.test(page.url()), 'a step of the list is a way to it');
    assert.equal(await page.locator('img[src="x"], main b').count(), 0, 'content is text');
  }));

test('a link with a moment shows that moment, for instances that go on, too; nonsense shows the end', () =>
  withPage(server, async (page) => {
    const early = at('JOB_CREATED', 'first');
    await opened(page, `/operate/processes/${key}/history?at=${early}`);
    await page.getByText(`Step ${countAt(early)} of`).waitFor();
    await page.locator('.counts[data-element="first"]').getByText('● 1').waitFor();
    assert.equal(await page.locator('.counts[data-element="second"]').count(), 0);
    assert.equal((await values(page)).big, undefined);
    await server.rest('PUT', `/v2/element-instances/${key}/variables`, { variables: { more: true } });
    await page.getByText(`of ${steps.length + 1}`).waitFor();
    await page.getByText(`Step ${countAt(early)} of ${steps.length + 1}`).waitFor();
    await page.getByRole('button', { name: 'Last step' }).click();
    await until(async () => (await values(page)).more === 'true', 'the new value is there');
    await opened(page, `/operate/processes/${key}/history?at=nonsense`);
    await page.getByText(`Step ${steps.length + 1} of`).waitFor();
    await opened(page, `/operate/processes/${key}/history?at=1`);
    await page.getByText('Step 1 of').waitFor();
  }));

test('play goes on by itself until it is stopped', () =>
  withPage(server, async (page) => {
    await opened(page, `/operate/processes/${key}/history?at=${steps[0].position}`);
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByText('Step 3 of').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    const url = page.url();
    await new Promise((done) => setTimeout(done, 1500));
    assert.equal(page.url(), url);
  }));

test('where the time of an instance went is told by element and way', () =>
  withPage(server, async (page) => {
    await opened(page, `/operate/processes/${key}/history`);
    const table = page.getByRole('table', { name: 'Time by element' });
    const row = table.getByRole('row', { name: /First task/ });
    const cells = await row.getByRole('cell').allInnerTexts();
    const created = Date.parse(steps.find(({ kind }) => kind === 'INCIDENT_CREATED').time);
    const resolved = Date.parse(steps.find(({ kind }) => kind === 'INCIDENT_RESOLVED').time);
    assert.ok(resolved - created >= 300);
    assert.equal(cells[1], '1');
    assert.match(cells[5], /^\d+ ms$|^\d\.\d s$/);
    const ms = cells[5].endsWith('ms') ? Number.parseInt(cells[5], 10) : 1000 * Number.parseFloat(cells[5]);
    assert.ok(Math.abs(ms - (resolved - created)) <= 60, `${cells[5]} in incidents, of ${resolved - created} ms`);
  }));

test('where instances of a process spend their time is a table and heat on the diagram, in a time that the URL has', () =>
  withPage(server, async (page) => {
    const told = await server.rest('POST', `/baton/v1/process-definitions/${definition}/durations`, {});
    await opened(page, '/operate/definitions/two');
    await page.getByRole('link', { name: 'Where time goes' }).click();
    await page.getByRole('heading', { level: 1, name: 'Where time goes: Two' }).waitFor();
    const rows = page.getByRole('table', { name: 'Durations' }).locator('tbody tr');
    await until(async () => (await rows.count()) === told.items.length, async () => `${await rows.count()} rows`);
    assert.match(await rows.first().innerText(), /First task/);
    await page.locator('.djs-element.heat-4[data-element-id="first"]').waitFor({ state: 'attached' });
    await page.getByLabel('Heat by').selectOption('count');
    await page.waitForURL(/by=count/);
    await page.locator('.djs-element.heat-4[data-element-id="start"]').waitFor({ state: 'attached' });
    await page.getByLabel('Ended before').fill('2020-01-01T00:00');
    await page.waitForURL(/to=20/);
    await page.getByText('No element has ended in this time.').waitFor();
    assert.equal(await page.locator('.djs-element.heat-4').count(), 0);
  }));

test('where durations are counted, waiting and work are heat of their own, and an element has bars by hour', async () => {
  const counting = await startServer(['secondary_storage.durations=true']);
  try {
    await deploy(counting, { 'two.bpmn': bpmn('two', [['job', 'first', 'first', 'First task'], ['job', 'second', 'second', 'Second task']], { name: 'Two' }) });
    const own = await start(counting, 'two', {});
    for (const [type, waitMs, workMs] of [['first', 400, 0], ['second', 0, 400]]) {
      await new Promise((done) => setTimeout(done, waitMs));
      const { jobs } = await counting.rest('POST', '/v2/jobs/activation', { type, worker: 'w1', timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 5000 });
      await new Promise((done) => setTimeout(done, workMs));
      await counting.rest('POST', `/v2/jobs/${jobs[0].jobKey}/completion`, {});
    }
    await until(async () => (await search(counting, 'process-instances', { processInstanceKey: own })).items[0]?.state === 'COMPLETED', 'the instance ends');
    const { processDefinitionKey } = (await search(counting, 'process-definitions', { processDefinitionId: 'two' })).items[0];
    const told = await counting.rest('POST', `/baton/v1/process-definitions/${processDefinitionKey}/durations`, { elementId: 'first' });
    const of = (id) => told.items.find(({ elementId }) => elementId === id);
    assert.equal(told.source, 'COUNTERS');
    assert.deepEqual([of('first').wait.count, of('second').work.count, of('start').wait, told.process.count, told.hours.length], [1, 1, null, 1, 1]);
    assert.ok(of('first').wait.maxMs >= 400 && of('second').wait.maxMs < 400 && of('second').work.maxMs >= 400 && told.process.totalMs >= 800, JSON.stringify(told));
    await withPage(counting, async (page) => {
      await page.goto(`${counting.url}/operate/definitions/two/durations?by=waitMs`);
      await page.locator('.djs-element.heat-4[data-element-id="first"]').waitFor({ state: 'attached' });
      assert.equal(await page.locator('.djs-element.heat-4[data-element-id="second"]').count(), 0);
      await page.getByLabel('Heat by').selectOption('Work, 95th percentile');
      await page.waitForURL(/by=workMs/);
      await page.locator('.djs-element.heat-4[data-element-id="second"]').waitFor({ state: 'attached' });
      await page.getByRole('status').filter({ hasText: /^Counted when \d+ elements ended since / }).waitFor();
      await page.getByRole('heading', { name: 'Work, 95th percentile by hour: Two' }).waitFor();
      await page.locator('[data-element-id="second"] .djs-hit').first().click({ force: true });
      await page.waitForURL(/element=second/);
      await page.getByRole('heading', { name: 'by hour: Second task' }).waitFor();
      const bars = page.getByRole('img', { name: /by hour, from/ }).locator('rect');
      await until(async () => (await bars.count()) === 1 && Number(await bars.first().getAttribute('height')) === 80, async () => `${await bars.count()} bars`);
      await page.getByText('As a table').click();
      const cells = await page.getByRole('table', { name: 'Durations by hour' }).locator('tbody tr').first().getByRole('cell').allInnerTexts();
      assert.equal(cells[5], '1');
      assert.deepEqual(await violations(page), []);
    });
  } finally {
    await counting.stop();
  }
});

test('steps that are not kept are made of what is known, and the page says so', async () => {
  const plain = await startServer();
  try {
    await deploy(plain, { 'two.bpmn': bpmn('two', [['job', 'first', 'first']]) });
    const own = await start(plain, 'two', { a: 1 });
    await until(async () => (await search(plain, 'jobs', { type: 'first' })).page.totalItems === 1, 'the job is found');
    await withPage(plain, async (page) => {
      await page.goto(`${plain.url}/operate/processes/${own}/history`);
      await page.getByText('The server keeps no steps of this instance.').waitFor();
      await page.getByText('Earlier values are not known.').waitFor();
      await page.locator('.counts[data-element="first"]').getByText('● 1').waitFor();
      await page.goto(`${plain.url}/operate/processes/1/history`);
      await page.getByRole('heading', { name: 'There is no such instance' }).waitFor();
    }, { statuses: [404] });
  } finally {
    await plain.stop();
  }
});

test('these pages violate nothing of WCAG 2.2 A and AA, in light and dark, and fit', () =>
  withPage(
    server,
    async (page) => {
      for (const path of [`/operate/processes/${key}/history`, `/operate/processes/${key}/history?at=${at('INCIDENT_CREATED')}&element=first`, '/operate/definitions/two/durations', '/operate/definitions/nothing/durations']) {
        await page.goto(server.url + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await until(() => page.evaluate(() => !document.body.innerText.includes('Loading …') && !document.querySelector('.diagram:not([data-drawn])')), 'the page is there');
        for (const colorScheme of ['light', 'dark']) {
          await page.emulateMedia({ colorScheme });
          assert.deepEqual(await violations(page, { coloursAlone: colorScheme === 'dark' }), [], `${path}, ${colorScheme}`);
        }
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, `${path} fits`);
      }
    },
    { statuses: [404] },
  ));

test('a browser loads little for a history', () =>
  withPage(server, async (page) => {
    const answers = [];
    page.on('response', (response) => response.url().includes('/assets/') && answers.push(response));
    await opened(page, `/operate/processes/${key}/history`);
    const sizes = await Promise.all(answers.map(async (answer) => Number((await answer.allHeaders())['content-length'] ?? 0)));
    const kib = Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024);
    console.log(`a history takes ${kib} KiB`);
    assert.ok(kib > 50 && kib <= 160, `${kib} KiB`);
  }));
