// Operate, changing instances: modification, migration, acting as the worker, bulk actions; each effect as REST tells it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, isSeen, violations, withPage } from '../page.mjs';
import { bpmn, deploy, fail, model, search, start, startServer, until } from '../server.mjs';

const BIG = '12345678901234567890.5';
let server;
const opens = (page, path) => page.goto(server.url + path);
const drawn = (page) => page.locator('.diagram[data-drawn]').first().waitFor();
const rowsOf = (page, label) => page.getByRole('table', { name: label, exact: true }).locator('tbody tr');
const click = (page, element, within = page) => within.locator(`.djs-element[data-element-id="${element}"] .djs-hit`).first().click({ force: true });
const active = async (key) => {
  const { items } = await search(server, 'element-instances', { processInstanceKey: key, state: 'ACTIVE' });
  return items.filter((one) => one.type !== 'PROCESS').map((one) => one.elementId).sort();
};
const isActive = (key, ...expected) => until(async () => (await active(key)).join() === expected.join(), async () => `${await active(key)} instead of ${expected}`);
const found = (key) => until(async () => (await search(server, 'process-instances', { processInstanceKey: key })).page.totalItems === 1, 'the instance is found');

before(async () => {
  server = await startServer();
  await deploy(server, {
    'line.bpmn': bpmn('line', [['job', 'first', 'first', 'First'], ['job', 'second', 'second', 'Second'], ['job', 'third', 'third', 'Third']], { name: 'Line' }),
    'nested.bpmn': model(
      'nested',
      `<startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="each"/>
<subProcess id="each" name="Each"><multiInstanceLoopCharacteristics><extensionElements><z:loopCharacteristics inputCollection="=items" inputElement="item"/></extensionElements></multiInstanceLoopCharacteristics>
<startEvent id="inner_start"/><sequenceFlow id="g1" sourceRef="inner_start" targetRef="work"/><serviceTask id="work" name="Work"><extensionElements><z:taskDefinition type="nested-work"/></extensionElements></serviceTask>
<sequenceFlow id="g2" sourceRef="work" targetRef="more"/><serviceTask id="more" name="More"><extensionElements><z:taskDefinition type="nested-more"/></extensionElements></serviceTask></subProcess>
<sequenceFlow id="f2" sourceRef="each" targetRef="plain"/>
<subProcess id="plain" name="Plain"><startEvent id="plain_start"/><sequenceFlow id="h1" sourceRef="plain_start" targetRef="deep"/><serviceTask id="deep" name="Deep"><extensionElements><z:taskDefinition type="deep"/></extensionElements></serviceTask></subProcess>`,
    ),
    'waits.bpmn': model(
      'waits',
      `<startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="fork"/><parallelGateway id="fork"/>
<sequenceFlow id="f2" sourceRef="fork" targetRef="charge"/><serviceTask id="charge" name="Charge"><extensionElements><z:taskDefinition type="waits-charge"/></extensionElements></serviceTask>
<boundaryEvent id="refused" name="Refused" attachedToRef="charge"><errorEventDefinition errorRef="err"/></boundaryEvent>
<sequenceFlow id="f7" sourceRef="refused" targetRef="repair"/><userTask id="repair" name="Repair"><extensionElements><z:userTask/></extensionElements></userTask>
<sequenceFlow id="f3" sourceRef="fork" targetRef="paid"/><intermediateCatchEvent id="paid" name="Paid"><messageEventDefinition messageRef="msg"/></intermediateCatchEvent>
<sequenceFlow id="f4" sourceRef="fork" targetRef="later"/><intermediateCatchEvent id="later" name="Later"><timerEventDefinition><timeDuration>PT2H</timeDuration></timerEventDefinition></intermediateCatchEvent>
<sequenceFlow id="f5" sourceRef="fork" targetRef="alarm"/><intermediateCatchEvent id="alarm" name="Alarm"><signalEventDefinition signalRef="sig"/></intermediateCatchEvent>
<sequenceFlow id="f6" sourceRef="fork" targetRef="review"/><userTask id="review" name="Review"><extensionElements><z:userTask/></extensionElements></userTask>`,
      `<message id="msg" name="paid"><extensionElements><z:subscription correlationKey="=order"/></extensionElements></message><signal id="sig" name="alarm"/><error id="err" errorCode="REFUSED"/>`,
    ),
  });
});

after(async () => {
  await closeBrowser();
  await server?.stop();
});

test('tokens are added, moved and canceled by clicks, told in words, undone and applied', async () => {
  const key = await start(server, 'line');
  await isActive(key, 'first');
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${key}`);
    await drawn(page);
    await page.getByRole('button', { name: 'Modify' }).click();
    await page.waitForURL(/modify=true/);
    const panel = page.getByRole('region', { name: 'Modification' });
    await click(page, 'third');
    await panel.getByText('0 tokens').waitFor();
    await panel.getByRole('button', { name: 'Add a token …' }).click();
    await panel.getByRole('button', { name: 'Add a variable' }).click();
    await panel.getByLabel('Scope of the variable').selectOption('third');
    await panel.getByLabel('Name of the variable').fill('big');
    await panel.getByLabel('Value as JSON').fill('{no');
    assert.ok(await panel.getByRole('button', { name: 'Add to the plan' }).isDisabled());
    await panel.getByLabel('Value as JSON').fill(BIG);
    await panel.getByRole('button', { name: 'Add to the plan' }).click();
    await panel.getByText('Put a token on “Third”, and set big in “Third”.').waitFor();
    await click(page, 'first');
    await panel.getByRole('button', { name: 'Cancel the token' }).click();
    await panel.getByText('Cancel the token of “First”, with all that runs inside.').waitFor();
    assert.ok(await panel.getByRole('button', { name: 'Move …' }).isDisabled(), 'nothing is done twice with a token');
    await panel.getByRole('button', { name: 'Undo' }).click();
    await panel.getByText('Cancel the token of').waitFor({ state: 'detached' });
    await panel.getByRole('button', { name: 'Move …' }).click();
    await click(page, 'second');
    await panel.getByRole('button', { name: 'Add to the plan' }).click();
    await panel.getByText('Move the token from “First” to “Second”').waitFor();
    // The mode is told wherever one looks, what is planned is marked, and nothing else is offered that changes the instance.
    const banner = page.getByText('Nothing changes until the plan is reviewed and applied. 2 changes are planned.');
    await page.mouse.wheel(0, 10_000);
    await until(() => isSeen(banner), 'the mode is told at the end of the page, too');
    for (const id of ['first', 'second', 'third']) assert.equal(await page.locator(`.diagram .djs-element.planned[data-element-id=${id}]`).count(), 1, id);
    assert.equal(await page.locator('.diagram').evaluate((one) => getComputedStyle(one).borderStyle), 'dashed');
    for (const name of ['Suspend', 'Cancel instance', 'Migrate …']) assert.equal(await page.getByRole('button', { name }).or(page.getByRole('link', { name })).count(), 0, name);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(await active(key), ['first'], 'nothing happens before it is applied');
    await panel.getByRole('button', { name: 'Review and apply …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Apply these changes?' });
    assert.deepEqual(
      (await rowsOf(page, 'Tokens before and after').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')),
      ['Third 0 1', 'First 1 0', 'Second 0 1'],
    );
    await dialog.getByRole('button', { name: 'Apply 2 changes' }).dblclick();
    await panel.waitFor({ state: 'detached' });
    await isActive(key, 'second', 'third');
    const [variable] = (await search(server, 'variables', { processInstanceKey: key, name: 'big' })).items;
    assert.equal(variable.value, BIG);
    const { items } = await search(server, 'element-instances', { processInstanceKey: key, elementId: 'third' });
    assert.equal(variable.scopeKey, items[0].elementInstanceKey);
  });
});

test('the scope of a new token is chosen where there are several, and scopes that are made are told', async () => {
  const key = await start(server, 'nested', { items: [1, 2] });
  await isActive(key, 'each', 'each', 'each', 'work', 'work');
  const { items } = await search(server, 'element-instances', { processInstanceKey: key, elementId: 'each', type: 'SUB_PROCESS' });
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${key}?modify=true`);
    const panel = page.getByRole('region', { name: 'Modification' });
    await panel.getByLabel('Element').selectOption('inner_start');
    await panel.getByText('A start event cannot be activated.').waitFor();
    await panel.getByLabel('Element').selectOption('more');
    await panel.getByRole('button', { name: 'Add a token …' }).click();
    assert.ok(await panel.getByRole('button', { name: 'Add to the plan' }).isDisabled(), 'one of the scopes must be chosen');
    await panel.getByLabel('In which scope').selectOption(items[1].elementInstanceKey);
    await panel.getByRole('button', { name: 'Add to the plan' }).click();
    await panel.getByLabel('Element').selectOption('deep');
    await panel.getByRole('button', { name: 'Add a token …' }).click();
    await panel.getByText('Made for it: Plain').waitFor();
    await panel.getByRole('button', { name: 'Add a variable' }).click();
    assert.equal(await panel.getByLabel('Scope of the variable').inputValue(), 'plain');
    await panel.getByLabel('Name of the variable').fill('inside');
    await panel.getByLabel('Value as JSON').fill('true');
    await panel.getByRole('button', { name: 'Add to the plan' }).click();
    await panel.getByRole('button', { name: 'Review and apply …' }).click();
    await page.getByRole('dialog').getByText('New scopes: Plain').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply 2 changes' }).click();
    await panel.waitFor({ state: 'detached' });
    await isActive(key, 'deep', 'each', 'each', 'each', 'more', 'plain', 'work', 'work');
    const more = (await search(server, 'element-instances', { elementInstanceScopeKey: items[1].elementInstanceKey, elementId: 'more' })).items;
    assert.equal(more.length, 1, 'it is in the scope that was chosen');
    const [scope] = (await search(server, 'element-instances', { processInstanceKey: key, elementId: 'plain' })).items;
    const [variable] = (await search(server, 'variables', { processInstanceKey: key, name: 'inside' })).items;
    assert.equal(variable.scopeKey, scope.elementInstanceKey);
  });
});

test('a modification that is refused keeps what was planned, and one that ends the instance says so', async () => {
  const key = await start(server, 'line');
  await isActive(key, 'first');
  await withPage(
    server,
    async (page) => {
      await opens(page, `/operate/processes/${key}?modify=true&element=first`);
      const panel = page.getByRole('region', { name: 'Modification' });
      await panel.getByRole('button', { name: 'Cancel the token' }).click();
      await panel.getByRole('button', { name: 'Review and apply …' }).click();
      await page.getByRole('dialog').getByText('it ends as canceled').waitFor();
      // Meanwhile a worker completes the job, and the token is gone.
      const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type: 'first', timeout: 60_000, maxJobsToActivate: 10, requestTimeout: 5000 });
      for (const job of jobs) if (job.processInstanceKey === key) await server.rest('POST', `/v2/jobs/${job.jobKey}/completion`, {});
      await isActive(key, 'second');
      await page.getByRole('dialog').getByRole('button', { name: 'Apply the change' }).click();
      await panel.getByRole('alert').getByText("no active instance of element 'first'").waitFor();
      await panel.getByText('Cancel the token of “First”').waitFor();
      page.once('dialog', (dialog) => dialog.dismiss());
      await page.getByRole('link', { name: 'Overview' }).click({ noWaitAfter: true });
      await panel.getByText('Cancel the token of “First”').waitFor();
      page.once('dialog', (dialog) => dialog.accept());
      await panel.getByRole('button', { name: 'Leave' }).click();
      await panel.waitFor({ state: 'detached' });
      await isActive(key, 'second');
    },
    { statuses: [400] },
  );
});

test('an instance says what it waits for, and jobs, messages and signals are given to it', async () => {
  const key = await start(server, 'waits', { order: 'order-7' });
  await isActive(key, 'alarm', 'charge', 'later', 'paid', 'review');
  await withPage(
    server,
    async (page) => {
      await opens(page, `/operate/processes/${key}`);
      const now = page.getByRole('region', { name: 'Now' });
      for (const text of [/Charge waits for a worker of the type waits-charge for .*; no worker is connected; \d+ retr/, 'Paid waits for the message paid with the key order-7', 'Alarm waits for the signal alarm', 'Review waits for a person', 'Later waits until']) {
        await now.getByText(text).waitFor();
      }
      const dialog = page.getByRole('dialog');
      await now.getByRole('button', { name: 'Act as the worker …' }).click();
      await dialog.getByLabel('Fail').check();
      await dialog.getByText('No worker has this job yet').waitFor();
      assert.equal((await server.rest('POST', '/v2/jobs/activation', { type: 'waits-charge', worker: 'w', timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 5000 })).jobs.length, 1);
      await dialog.getByText('with the worker w').waitFor();
      await dialog.getByLabel('Retries left').fill('0');
      await dialog.getByLabel('Message').fill('out of paper');
      await dialog.getByRole('button', { name: 'Fail' }).click();
      await now.getByText('the job has no retries left').waitFor();
      assert.equal((await search(server, 'incidents', { processInstanceKey: key })).items[0].errorMessage, 'out of paper');
      await now.getByRole('button', { name: 'Act as the worker …' }).click();
      await dialog.getByLabel('Complete').check();
      await dialog.getByRole('button', { name: 'Complete' }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByLabel('Change retries').check();
      await dialog.getByLabel('Retries', { exact: true }).fill('4');
      await dialog.getByRole('button', { name: 'Change retries' }).click();
      await now.getByText('4 retries left').waitFor();
      await page.getByRole('button', { name: 'Retry all incidents' }).click();
      await page.waitForURL(/batch-operations/);
      await until(async () => (await search(server, 'incidents', { processInstanceKey: key, state: 'ACTIVE' })).page.totalItems === 0, 'it is resolved');
      await opens(page, `/operate/processes/${key}/jobs`);
      await page.getByRole('button', { name: /Act as the worker of the job/ }).first().click();
      await dialog.getByLabel('Throw an error').check();
      await dialog.getByLabel('Code of the error').fill('REFUSED');
      await dialog.getByRole('button', { name: 'Throw an error' }).click();
      await dialog.waitFor({ state: 'detached' });
      await isActive(key, 'alarm', 'later', 'paid', 'repair', 'review');
      await now.getByRole('button', { name: 'Correlate …' }).click();
      await dialog.getByLabel('Correlation key').fill('nobody');
      await dialog.getByRole('button', { name: 'Correlate' }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByLabel('Correlation key').fill('order-7');
      await dialog.getByLabel('Variables as JSON').fill(`{"amount": ${BIG}}`);
      await dialog.getByRole('button', { name: 'Correlate' }).click();
      await dialog.waitFor({ state: 'detached' });
      await isActive(key, 'alarm', 'later', 'repair', 'review');
      assert.equal((await search(server, 'variables', { processInstanceKey: key, name: 'amount' })).items[0].value, BIG);
      await now.getByRole('button', { name: 'Broadcast …' }).click();
      await dialog.getByRole('button', { name: 'Broadcast' }).click();
      await dialog.waitFor({ state: 'detached' });
      await isActive(key, 'later', 'repair', 'review');
    },
    { statuses: [404, 409] },
  );
});

test('a job is completed with variables, and its time-out changed', async () => {
  const key = await start(server, 'line');
  await isActive(key, 'first');
  const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type: 'first', worker: 'slow', timeout: 600_000, maxJobsToActivate: 10, requestTimeout: 5000 });
  const job = jobs.find((one) => one.processInstanceKey === key);
  await withPage(server, async (page) => {
    const dialog = page.getByRole('dialog');
    const act = async () => {
      await opens(page, `/operate/processes/${key}/jobs`);
      await page.getByRole('button', { name: `Act as the worker of the job ${job.jobKey}` }).click();
    };
    await act();
    await dialog.getByText('with the worker slow').waitFor();
    await dialog.getByLabel('Change the timeout').check();
    await dialog.getByLabel('Time from now').fill('soon');
    await dialog.getByText('The time is such as').waitFor();
    await dialog.getByLabel('Time from now').fill('2 h');
    await dialog.getByRole('button', { name: 'Change the timeout' }).click();
    await dialog.waitFor({ state: 'detached' });
    const deadline = async () => Date.parse((await search(server, 'jobs', { jobKey: job.jobKey })).items[0].deadline);
    await until(async () => (await deadline()) > Date.now() + 3_600_000, async () => `deadline ${await deadline()}`);
    await act();
    await dialog.getByLabel('Variables as JSON').fill('[1]');
    await dialog.getByText('Variables are a JSON object').waitFor();
    await dialog.getByLabel('Variables as JSON').fill(`{"amount": ${BIG}}`);
    await dialog.getByRole('button', { name: 'Complete' }).click();
    await dialog.waitFor({ state: 'detached' });
    await isActive(key, 'second');
    assert.equal((await search(server, 'variables', { processInstanceKey: key, name: 'amount' })).items[0].value, BIG);
  });
});

test('one instance is migrated: suggestions, mapping by table and by click, reasons before anything runs', async () => {
  await deploy(server, { 'moving.bpmn': bpmn('moving', [['job', 'a', 'moving-a', 'Pay'], ['job', 'b', 'moving-b', 'Pack'], ['job', 'c', 'moving-c', 'Send']]) });
  const key = await start(server, 'moving');
  await isActive(key, 'a');
  await deploy(server, { 'moving.bpmn': bpmn('moving', [['job', 'pay', 'moving-pay', 'Charge'], ['job', 'b', 'moving-b', 'Pack'], ['job', 'send', 'moving-send', 'Send'], ['user', 'check', undefined, 'Check']]) });
  await until(async () => (await search(server, 'process-definitions', { processDefinitionId: 'moving' })).page.totalItems === 2, 'both versions are found');
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${key}`);
    await page.getByRole('link', { name: 'Migrate …' }).click();
    await page.waitForURL(/\/operate\/migrate\?/);
    const table = rowsOf(page, 'Mapping of elements');
    await table.first().waitFor();
    assert.deepEqual(
      (await table.evaluateAll((rows) => rows.map((row) => [row.cells[0].innerText, row.cells[2].innerText, row.querySelector('select').value, row.cells[4].innerText, row.cells[5].innerText].join('|')))),
      ['Pay (a)|1||–|Tokens stand here, and it is not mapped.', 'Pack (b)|0|b|the same ID|–', 'Send (c)|0|send|the same name|–'],
    );
    await page.getByText('Only in the target: Charge, Check.').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Migrate …' }).isDisabled());
    await page.getByLabel('Target of Pay (a)').selectOption('check');
    await table.first().getByText('A service task cannot become a user task.').waitFor();
    await page.waitForURL(/map=a%3Acheck/);
    await page.getByText('1 mapping is not possible.').waitFor();
    await page.reload();
    await table.first().getByText('A service task cannot become a user task.').waitFor();
    await page.locator('.diagram[data-drawn]').nth(1).waitFor();
    await click(page, 'a', page.getByRole('region', { name: 'Source' }));
    await click(page, 'pay', page.getByRole('region', { name: 'Target' }));
    await page.waitForURL(/map=a%3Apay/);
    await page.getByRole('button', { name: 'Migrate …' }).click();
    await page.getByRole('dialog').getByText('1 instance matches now').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Migrate the instance' }).click();
    await page.waitForURL(new RegExp(`/operate/processes/${key}`));
    await page.getByRole('link', { name: 'version 2' }).waitFor();
    assert.equal((await server.rest('GET', `/v2/process-instances/${key}`)).processDefinitionVersion, 2);
    await isActive(key, 'pay');
  });
});

test('all that match are migrated as a batch operation, and what is refused is told', async () => {
  await deploy(server, { 'mass.bpmn': bpmn('mass', [['job', 'a', 'mass-a', 'A'], ['job', 'b', 'mass-b', 'B']]) });
  const keys = [await start(server, 'mass'), await start(server, 'mass'), await start(server, 'mass')];
  for (const key of keys) await isActive(key, 'a');
  const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type: 'mass-a', timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 5000 });
  await server.rest('POST', `/v2/jobs/${jobs[0].jobKey}/completion`, {});
  await isActive(jobs[0].processInstanceKey, 'b');
  await deploy(server, { 'mass.bpmn': bpmn('mass', [['job', 'a', 'mass-a', 'A'], ['job', 'new', 'mass-new', 'New']]) });
  await until(async () => (await search(server, 'process-definitions', { processDefinitionId: 'mass' })).page.totalItems === 2, 'both versions are found');
  await withPage(server, async (page) => {
    await opens(page, '/operate/processes?process=mass&version=1&active=true');
    await page.getByLabel('Choose all of this page').check();
    await page.getByRole('button', { name: 'Choose all 3 that match' }).click();
    await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'Migrate' }).click();
    await page.getByText('Tokens stand on elements without a mapping: B (1). The server refuses their instances.').waitFor();
    await page.getByRole('button', { name: 'Migrate …' }).click();
    await page.getByRole('dialog').getByText('3 instances match now').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Migrate 3 instances' }).click();
    await page.waitForURL(/batch-operations\/\d+/);
    await page.getByText('2 done, 1 failed, 3 in all').waitFor();
    await rowsOf(page, 'Items').getByText("no mapping instruction is defined for the active element 'b'").waitFor();
    assert.equal((await search(server, 'process-instances', { processDefinitionId: 'mass', processDefinitionVersion: 2 })).page.totalItems, 2);
  });
});

test('called instances are left out of a cancellation, which tells so and offers their roots', async () => {
  await deploy(server, { 'callee.bpmn': bpmn('callee', [['job', 'a', 'callee-a', 'A']]), 'caller.bpmn': bpmn('caller', [['call', 'call', 'callee', 'Call']], { name: 'Caller' }) });
  const roots = [await start(server, 'caller'), await start(server, 'caller')];
  await until(async () => (await search(server, 'process-instances', { processDefinitionId: 'callee', state: 'ACTIVE' })).page.totalItems === 2, 'both have called');
  const states = async () => (await search(server, 'process-instances', { processDefinitionId: { $in: ['callee', 'caller'] } })).items.map((one) => one.state).sort().join();
  await withPage(server, async (page) => {
    await opens(page, '/operate/processes?process=callee');
    const dialog = page.getByRole('dialog');
    await page.locator('tbody tr').first().getByRole('checkbox').check();
    await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'Cancel' }).click();
    await dialog.getByText('1 were called by other instances and end only with them.').waitFor();
    await dialog.getByText('None of these instances would change.').waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Cancel instances' }).isDisabled());
    await dialog.getByRole('button', { name: 'Cancel their root instances instead' }).click();
    await dialog.getByText('Caller').waitFor();
    await dialog.getByRole('button', { name: 'Cancel instances' }).click();
    await page.waitForURL(/batch-operations\/\d+/);
    await page.getByText('1 done, 0 failed, 1 in all').waitFor();
    await until(async () => (await states()) === 'ACTIVE,ACTIVE,TERMINATED,TERMINATED', states);
  });
  const [left] = (await search(server, 'process-instances', { processDefinitionId: 'callee', state: 'ACTIVE' })).items;
  assert.ok(roots.includes(left.rootProcessInstanceKey));
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${left.processInstanceKey}`);
    await page.getByRole('button', { name: 'Cancel instance' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the root instance' }).click();
    await until(async () => (await states()) === 'TERMINATED,TERMINATED,TERMINATED,TERMINATED', states);
  });
});

test('an instance shows and retries the incidents of those that it called, and an operation without items is not told as done', async () => {
  await deploy(server, { 'low.bpmn': bpmn('low', [['job', 'a', 'low-a', 'A']]), 'high.bpmn': bpmn('high', [['call', 'call', 'low', 'Call']], { name: 'High' }) });
  const key = await start(server, 'high');
  const { processInstanceKey: called } = await fail(server, 'low-a', 'out of ink');
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${key}/incidents`);
    await page.getByRole('region', { name: 'Incidents' }).getByText('out of ink').waitFor();
    await page.getByRole('link', { name: called }).waitFor();
    await page.getByRole('button', { name: 'Retry all incidents' }).click();
    await page.waitForURL(/batch-operations\/\d+/);
    await page.getByText('1 done, 0 failed, 1 in all').waitFor();
    await until(async () => (await search(server, 'incidents', { processInstanceKey: called, state: 'ACTIVE' })).page.totalItems === 0, 'it is resolved');
    const { batchOperationKey } = await server.rest('POST', '/v2/process-instances/cancellation', { filter: { processInstanceKey: '1' } });
    await opens(page, `/operate/batch-operations/${batchOperationKey}`);
    await page.getByText('Nothing to do').waitFor();
  });
});

test('a refusal is told inside of the dialog that covers the page', async () => {
  const key = await start(server, 'line');
  await isActive(key, 'first');
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${key}`);
    await page.getByRole('button', { name: 'Cancel instance' }).click();
    await server.rest('POST', `/v2/process-instances/${key}/cancellation`, {});
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Cancel instance' }).click();
    await dialog.getByRole('alert').waitFor();
  }, { statuses: [404] });
});

test('tokens of many instances are moved, and ended ones deleted, after the count and the effect are told', async () => {
  await deploy(server, { 'many.bpmn': bpmn('many', [['job', 'a', 'many-a', 'A'], ['job', 'b', 'many-b', 'B']]) });
  const keys = [await start(server, 'many'), await start(server, 'many'), await start(server, 'many')];
  for (const key of keys) await isActive(key, 'a');
  await server.rest('POST', `/v2/process-instances/${keys[2]}/cancellation`, {});
  await until(async () => (await server.rest('GET', `/v2/process-instances/${keys[2]}`)).state === 'TERMINATED', 'it has ended');
  await withPage(server, async (page) => {
    await opens(page, '/operate/processes?process=many');
    const choose = async (action) => {
      await page.getByLabel('Choose all of this page').check();
      await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: action }).click();
    };
    const dialog = page.getByRole('dialog');
    await choose('Move tokens');
    await dialog.getByLabel('From').selectOption('a');
    await dialog.getByText('2 instances have tokens there now').waitFor();
    await dialog.locator('label', { hasText: /^To/ }).locator('select').selectOption('start');
    await dialog.getByText('A start event cannot be activated.').waitFor();
    await dialog.locator('label', { hasText: /^To/ }).locator('select').selectOption('b');
    await dialog.getByRole('button', { name: 'Move tokens' }).click();
    await page.getByText('2 done, 0 failed, 2 in all').waitFor();
    for (const key of keys.slice(0, 2)) await isActive(key, 'b');
    await opens(page, '/operate/processes?process=many');
    await choose('Delete');
    await dialog.getByText('1 instance has ended').waitFor();
    await dialog.getByText(keys[2]).waitFor();
    await dialog.getByRole('button', { name: 'Delete instances' }).click();
    await page.getByText('1 done, 0 failed, 1 in all').waitFor();
    await until(async () => (await search(server, 'process-instances', { processDefinitionId: 'many' })).page.totalItems === 2, 'it is gone');
    assert.deepEqual((await search(server, 'process-instances', { processDefinitionId: 'many' })).items.map((one) => one.state), ['ACTIVE', 'ACTIVE']);
  });
});

test('an instance that has ended is deleted', async () => {
  const key = await start(server, 'line');
  await found(key);
  await server.rest('POST', `/v2/process-instances/${key}/cancellation`, {});
  await until(async () => (await server.rest('GET', `/v2/process-instances/${key}`)).state === 'TERMINATED', 'it has ended');
  await withPage(
    server,
    async (page) => {
      await opens(page, `/operate/processes/${key}`);
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.waitForURL(/operate\/processes\?process=line/);
      await until(async () => (await search(server, 'process-instances', { processInstanceKey: key })).page.totalItems === 0, 'it is gone');
    },
    { statuses: [404] },
  );
});

test('each number of the overview is that of the list that it leads to, suspended instances included', async () => {
  await deploy(server, { 'counted.bpmn': bpmn('counted', [['job', 'a', 'counted-a', 'A']], { name: 'Counted' }) });
  for (let at = 0; at < 4; at += 1) await start(server, 'counted');
  const broken = [(await fail(server, 'counted-a', 'counted out')).processInstanceKey, (await fail(server, 'counted-a', 'counted out')).processInstanceKey];
  const { items } = await search(server, 'process-instances', { processDefinitionId: 'counted' });
  const whole = items.find((one) => !broken.includes(one.processInstanceKey)).processInstanceKey;
  for (const key of [broken[0], whole]) await server.rest('POST', `/v2/process-instances/${key}/suspension`, {});
  await until(async () => (await search(server, 'process-instances', { processDefinitionId: 'counted', state: 'SUSPENDED' })).page.totalItems === 2, 'two are suspended');
  await withPage(server, async (page) => {
    await opens(page, '/operate');
    await page.getByRole('link', { name: 'Counted', exact: true }).waitFor();
    await page.getByRole('link', { name: 'counted out' }).waitFor();
    const told = await page.locator('.totals a, td.number a').evaluateAll((links) => links.map((link) => [link.getAttribute('href'), /\d[\d,]*/.exec(link.innerText)[0]]));
    assert.ok(told.length >= 6, JSON.stringify(told));
    for (const [href, number] of told) {
      await page.goto(server.url + href);
      await page.getByText(`${number} match`).waitFor();
    }
    const { length } = told.filter(([href]) => href.includes('counted'));
    assert.equal(length, 2, 'incidents and running instances of the process');
  });
});
