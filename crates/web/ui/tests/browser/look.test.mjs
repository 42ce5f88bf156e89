// Operate, looking: tabs of an instance, incidents, messages, operations log, definitions; effects as REST tells them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, pressInMenu, violations, withPage } from '../page.mjs';
import { bpmn, deploy, fail, model, search, start, startServer, until } from '../server.mjs';

let server;
const keys = {};
const opens = (page, path) => page.goto(server.url + path);
const rowsOf = (page, label) => page.getByRole('table', { name: label, exact: true }).locator('tbody tr');
const count = (locator, expected) => until(async () => (await locator.count()) === expected, async () => `${await locator.count()} instead of ${expected}`);
const tab = (page, name) => page.getByRole('tab', { name, exact: true }).click();

before(async () => {
  server = await startServer();
  await deploy(server, {
    'rich.bpmn': model(
      'rich',
      `<startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="work"/>
<serviceTask id="work" name="Work"><extensionElements><z:taskDefinition type="rich-work" retries="5"/><z:ioMapping><z:input source="=total * 2" target="double"/><z:output source="=answer" target="kept"/></z:ioMapping>
<z:taskHeaders><z:header key="speed" value="high"/></z:taskHeaders><z:executionListeners><z:executionListener eventType="start" type="rich-listener" retries="2"/></z:executionListeners></extensionElements></serviceTask>
<sequenceFlow id="f2" sourceRef="work" targetRef="decide"/><businessRuleTask id="decide" name="Decide"><extensionElements><z:calledDecision decisionId="rate" resultVariable="rate"/></extensionElements></businessRuleTask>
<sequenceFlow id="f3" sourceRef="decide" targetRef="paid"/><intermediateCatchEvent id="paid" name="Paid"><messageEventDefinition messageRef="msg"/></intermediateCatchEvent>
<sequenceFlow id="f4" sourceRef="paid" targetRef="again"/><receiveTask id="again" name="Again" messageRef="msg"/>`,
      '<message id="msg" name="rich-paid"><extensionElements><z:subscription correlationKey="=order"/></extensionElements></message>',
      'Rich',
    ),
    'rate.dmn': `<?xml version="1.0"?><definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="rates" name="rates" namespace="n"><decision id="rate" name="Rate"><variable id="v" name="x"/><literalExpression id="l"><text>total + 1</text></literalExpression></decision></definitions>`,
    'broken.bpmn': bpmn('broken', [['job', 'work', 'broken-work', 'Work']], { name: 'Broken' }),
    'signaled.bpmn': model(
      'signaled',
      '<startEvent id="start"><signalEventDefinition signalRef="sig"/></startEvent><sequenceFlow id="f" sourceRef="start" targetRef="wait"/><serviceTask id="wait"><extensionElements><z:taskDefinition type="never"/></extensionElements></serviceTask>',
      '<signal id="sig" name="look-signal"/>',
    ),
  });
  keys.rich = await start(server, 'rich', { order: 'order-1', total: 21 });
  for (const type of ['rich-listener', 'rich-work']) {
    const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type, worker: 'w', timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 10_000 });
    await server.rest('POST', `/v2/jobs/${jobs[0].jobKey}/completion`, { variables: type === 'rich-work' ? { answer: 42 } : {} });
  }
  await until(async () => (await search(server, 'message-subscriptions', { processInstanceKey: keys.rich })).page.totalItems === 1, 'it waits for a message');
  await server.rest('POST', '/v2/messages/correlation', { name: 'rich-paid', correlationKey: 'order-1' });
  for (let at = 0; at < 3; at += 1) {
    keys.broken = await start(server, 'broken');
    await fail(server, 'broken-work', at === 0 ? 'no paper' : 'no ink');
  }
  await until(async () => (await search(server, 'incidents', { state: 'ACTIVE' })).page.totalItems === 3, 'the incidents are found');
  await until(async () => (await search(server, 'correlated-message-subscriptions', { processInstanceKey: keys.rich })).page.totalItems === 1, 'the correlation is found');
  await until(async () => (await search(server, 'decision-instances', { processInstanceKey: keys.rich })).page.totalItems === 1, 'the decision is found');
  await until(async () => (await search(server, 'element-instances', { processInstanceKey: keys.rich, elementId: 'again', state: 'ACTIVE' })).page.totalItems === 1, 'it waits again');
  await server.rest('POST', `/v2/process-instances/${keys.rich}/suspension`, {});
  await server.rest('POST', `/v2/process-instances/${keys.rich}/resumption`, {});
  await until(async () => (await search(server, 'audit-logs', { processInstanceKey: keys.rich, operationType: 'RESUME' })).page.totalItems === 1, 'the operation is found');
});

after(async () => {
  await closeBrowser();
  await server?.stop();
});

test('the timeline shows elements and operations in their order, by keyboard, too', () =>
  withPage(server, async (page) => {
    await opens(page, `/operate/processes/${keys.rich}`);
    await tab(page, 'Timeline');
    const line = page.getByRole('list', { name: 'Timeline' });
    await line.getByText('Resume').waitFor();
    const names = (await line.locator('li .what').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
    assert.deepEqual(names.map((text) => text.replace(/ by .*/, '')), ['Completed start', 'Completed Work', 'Completed Decide', 'Completed Paid', 'Active Again', 'Suspend', 'Resume']);
    const lefts = await line.locator('.span').evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().left));
    assert.deepEqual(lefts, [...lefts].sort((a, b) => a - b), 'bars begin in their order');
    await line.getByRole('button').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/element=work&scope=\d+/);
    assert.equal(await line.locator('[aria-pressed="true"]').innerText().then((text) => text.includes('Work')), true);
    await opens(page, `/operate/processes/${keys.rich}/instance-history`);
    await line.getByText('Work').waitFor();
  }));

test('details of an instance and of an element, with what it does and its mappings', () =>
  withPage(server, async (page) => {
    await opens(page, `/operate/processes/${keys.rich}/details`);
    await page.getByRole('table', { name: 'The instance' }).getByText(keys.rich).first().waitFor();
    await page.getByRole('treegrid').getByText('Work').click();
    const element = page.getByRole('table', { name: 'The element', exact: true });
    for (const text of ['Service task', 'rich-work', '5', 'high']) await element.getByText(text, { exact: true }).waitFor();
    const [instance] = (await search(server, 'element-instances', { processInstanceKey: keys.rich, elementId: 'work' })).items;
    await page.getByRole('table', { name: 'The element instance' }).getByText(instance.elementInstanceKey).waitFor();
    await page.getByRole('region', { name: 'Input mappings' }).getByText('=total * 2').waitFor();
    await page.getByRole('region', { name: 'Output mappings' }).getByText('kept').waitFor();
    await opens(page, `/operate/processes/${keys.rich}/output-mappings?element=work`);
    await page.getByRole('region', { name: 'Output mappings' }).getByText('=answer').waitFor();
    assert.equal(await page.getByRole('region', { name: 'Input mappings' }).count(), 0);
  }));

test('listeners, messages, decisions and the operations log of an instance', () =>
  withPage(server, async (page) => {
    await opens(page, `/operate/processes/${keys.rich}/listeners`);
    await count(rowsOf(page, 'Listeners of the model'), 1);
    assert.match(await rowsOf(page, 'Jobs of listeners').innerText(), /Completed\s+Execution listener\s+Start\s+rich-listener\s+work/);
    await tab(page, 'Messages');
    await until(async () => (await rowsOf(page, 'Subscriptions').allInnerTexts()).some((text) => /Created\s+rich-paid\s+order-1/.test(text)), 'it waits for a message');
    await page.getByRole('button', { name: 'Correlated', exact: true }).click();
    await page.waitForURL(/view=correlated/);
    await count(rowsOf(page, 'Correlated messages'), 1);
    await tab(page, 'Called instances and decisions');
    assert.match(await rowsOf(page, 'Decisions').innerText(), /Rate/);
    await rowsOf(page, 'Decisions').getByRole('link').click();
    await page.waitForURL(/\/operate\/decisions\/\d+/);
    await page.goBack();
    await tab(page, 'Operations log');
    await rowsOf(page, 'Operations log').filter({ hasText: 'Create process instance' }).getByRole('button').click();
    await page.getByRole('dialog', { name: 'Create process instance' }).getByText(keys.rich).first().waitFor();
  }));

test('tabs of an instance tell how much they have, and agents what they said and used', async () => {
  await deploy(server, { 'helped.bpmn': model('helped', '<startEvent id="start"/><sequenceFlow id="f" sourceRef="start" targetRef="help"/><serviceTask id="help" name="Help desk"><extensionElements><z:taskDefinition type="help"/><z:agentDefinition agentType="external"/></extensionElements></serviceTask>') });
  const key = await start(server, 'helped');
  const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type: 'help', timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 5000 });
  const { elementInstanceKey, jobKey } = jobs[0];
  const text = (text) => ({ contentType: 'text', text });
  const definition = { model: 'model-1', provider: 'provider-1', systemPrompt: 'Be helpful.' };
  const { agentInstanceKey } = await server.rest('POST', '/v2/agent-instances', { elementInstanceKey, definition, limits: { maxModelCalls: 10, maxToolCalls: 5, maxTokens: 1000 } });
  const said = [
    { role: 'USER', content: [text('Where is my order?')] },
    { role: 'ASSISTANT', content: [text('I look it up.')], toolCalls: [{ toolCallId: 'c1', toolName: 'find-order', elementId: null, arguments: { id: 7 } }], metrics: { inputTokens: 120, outputTokens: 30, durationMs: 800 } },
  ];
  const history = said.map((one, at) => ({ historyItemId: `h${at}`, loopIteration: 1, producedAt: new Date(Date.now() + at * 1000).toISOString(), ...one }));
  await server.rest('PATCH', `/v2/agent-instances/${agentInstanceKey}`, { elementInstanceKey, jobKey, status: 'THINKING', tools: [{ name: 'find-order', description: 'Finds an order', elementId: null }], history });
  await until(async () => (await server.rest('POST', `/v2/agent-instances/${agentInstanceKey}/history/search`, { filter: { commitStatus: { $in: ['PENDING', 'COMMITTED'] } } })).page.totalItems === 2, 'what was said is found');
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${key}`);
    const countOf = (name) => page.getByRole('tab', { name, exact: true }).locator('.count');
    await countOf('Agents').waitFor();
    assert.deepEqual([await countOf('Agents').innerText(), await countOf('Jobs').innerText(), await countOf('Incidents').count()], ['1', '1', 0]);
    await tab(page, 'Agents');
    const agent = page.getByRole('region', { name: 'Agent Help desk' });
    await agent.getByRole('listitem').filter({ hasText: 'Where is my order?' }).waitFor();
    const answer = agent.getByRole('listitem').filter({ hasText: 'I look it up.' });
    assert.match(await answer.innerText(), /Agent\s+iteration 1[^]*in 120, out 30, 800 ms/);
    await answer.getByText('calls find-order').click();
    await answer.getByText('"id": 7').waitFor();
    assert.match(await agent.innerText(), /provider-1 · model-1[^]*Model calls 1 \/ 10[^]*Tool calls 1 \/ 5[^]*Tokens in 120 \/ 1,000[^]*Tools: 1/);
    assert.deepEqual(await violations(page), []);
    // Each number is that of its tab.
    await opens(page, `/operate/processes/${keys.broken}`);
    assert.equal(await countOf('Incidents').innerText(), '1');
    await page.getByRole('status').getByText('1 incident', { exact: true }).waitFor();
  });
});

test('incidents by error, by process and by age, retried one by one and all of an error', () =>
  withPage(server, async (page) => {
    await opens(page, '/operate/incidents');
    const rows = rowsOf(page, 'Incidents');
    await count(rows, 3);
    await page.getByRole('region', { name: 'By age' }).getByText('3', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'a day to a week' }).click();
    await page.getByText('No open incident matches.').waitFor();
    await page.getByRole('button', { name: 'a day to a week' }).click();
    await page.getByLabel('Message has').fill('ink');
    await page.keyboard.press('Enter');
    await page.waitForURL(/message=ink/);
    await count(rows, 2);
    const errors = page.getByRole('region', { name: 'By error' });
    await errors.getByRole('button', { name: 'Processes with the error no ink' }).click();
    await errors.getByRole('link', { name: 'Broken, version 1' }).waitFor();
    await page.getByLabel('Message has').fill('');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'By process' }).getByRole('button', { name: 'Broken' }).click();
    await page.waitForURL(/process=broken/);
    await pressInMenu(rows.filter({ hasText: 'no paper' }), 'Retry');
    await count(rows, 2);
    assert.equal((await search(server, 'incidents', { state: 'ACTIVE', errorMessage: 'no paper' })).page.totalItems, 0);
    await errors.getByRole('button', { name: 'Retry all with the error no ink' }).click();
    await page.getByRole('dialog').getByText('2 instances have incidents now').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry incidents' }).click();
    await page.getByText('2 done, 0 failed, 2 in all').waitFor();
    await until(async () => (await search(server, 'incidents', { state: 'ACTIVE' })).page.totalItems === 0, 'all are resolved');
  }));

test('messages are found, sent and correlated, and signals broadcast', async () => {
  const key = await start(server, 'rich', { order: 'order-2', total: 1 });
  for (const type of ['rich-listener', 'rich-work']) {
    const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type, timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 10_000 });
    await server.rest('POST', `/v2/jobs/${jobs[0].jobKey}/completion`, { variables: { answer: 1 } });
  }
  await until(async () => (await search(server, 'message-subscriptions', { processInstanceKey: key })).page.totalItems === 1, 'it waits for a message');
  await withPage(server, async (page) => {
    await opens(page, '/operate/messages?correlationKey=order-2');
    await count(rowsOf(page, 'Subscriptions'), 1);
    await page.getByRole('button', { name: 'Send rich-paid to order-2' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Publish').check();
    await dialog.getByLabel('Kept for').fill('1 h');
    await dialog.getByLabel('ID of the message').fill('m-1');
    await dialog.getByRole('button', { name: 'Publish' }).dblclick();
    await dialog.waitFor({ state: 'detached' });
    await until(async () => (await search(server, 'correlated-message-subscriptions', { processInstanceKey: key })).page.totalItems >= 1, 'the message has arrived');
    await page.getByRole('button', { name: 'Correlated', exact: true }).click();
    await rowsOf(page, 'Correlated messages').first().waitFor();
    await page.getByRole('button', { name: 'Broadcast a signal …' }).click();
    await dialog.getByLabel('Name of the signal').fill('look-signal');
    await dialog.getByRole('button', { name: 'Broadcast' }).dblclick();
    await dialog.waitFor({ state: 'detached' });
    await until(async () => (await search(server, 'process-instances', { processDefinitionId: 'signaled' })).page.totalItems === 1, 'one click is one signal');
  });
});

test('the operations log is filtered, and the URL has the filter', () =>
  withPage(server, async (page) => {
    await opens(page, '/operate/operations-log');
    await rowsOf(page, 'Operations log').first().waitFor();
    await page.getByRole('search').locator('label', { hasText: /^Operation/ }).locator('select').selectOption('SUSPEND');
    await page.waitForURL(/operationType=SUSPEND/);
    await count(rowsOf(page, 'Operations log'), 1);
    await page.reload();
    await count(rowsOf(page, 'Operations log'), 1);
    await page.getByRole('search').locator('label', { hasText: /^Result/ }).locator('select').selectOption('FAIL');
    await page.getByText('Nothing was done, or nothing that you may see.').waitFor();
    await opens(page, `/operate/operations-log?processInstance=${keys.rich}&entityType=PROCESS_INSTANCE&operationType=RESUME`);
    await count(rowsOf(page, 'Operations log'), 1);
  }));

test('versions of a process are compared: what was added, removed and changed', async () => {
  const versions = [
    bpmn('compared', [['job', 'a', 'a-type', 'First'], ['job', 'b', 'b-type', 'Second'], ['job', 'named', 'named-type', 'Before']], { name: 'Compared' }),
    bpmn('compared', [['job', 'a', 'other-type', 'First'], ['job', 'named', 'named-type', 'After'], ['job', 'c', 'c-type', 'Third']], { name: 'Compared' }),
  ];
  for (const text of versions) await deploy(server, { 'compared.bpmn': text });
  await until(async () => (await search(server, 'process-definitions', { processDefinitionId: 'compared' })).page.totalItems === 2, 'both are found');
  await withPage(server, async (page) => {
    await opens(page, '/operate/definitions/compared');
    await page.getByLabel('Compare with').selectOption('1');
    await page.waitForURL(/compare=1/);
    const rows = rowsOf(page, 'Differences between the versions');
    await rows.filter({ hasText: 'Third (c)' }).getByText('Added').waitFor();
    await rows.filter({ hasText: 'Second (b)' }).getByText('Removed').waitFor();
    const changed = await rows.filter({ hasText: 'First (a)' }).innerText();
    assert.match(changed, /Changed[\s\S]*Job type: a-type → other-type/);
    assert.match(await rows.filter({ hasText: 'After (named)' }).innerText(), /name: Before → After/);
    await page.locator('.djs-element.added[data-element-id="c"]').waitFor({ state: 'attached' });
    await page.locator('.djs-element.removed[data-element-id="b"]').waitFor({ state: 'attached' });
    await rows.filter({ hasText: 'First (a)' }).getByRole('button').click();
    await count(page.locator('.djs-element.selected[data-element-id="a"]'), 2);
    await page.reload();
    await rows.filter({ hasText: 'Third (c)' }).waitFor();
  });
});

test('the wheel over a diagram scrolls the page, and zooms with Ctrl', () =>
  withPage(
    server,
    async (page) => {
      await opens(page, `/operate/processes/${keys.rich}`);
      const drawing = page.locator('.djs-container .viewport').first();
      await page.locator('.djs-element[data-element-id="work"]').first().waitFor();
      const place = () => drawing.evaluate((one) => one.getAttribute('transform') ?? one.transform.baseVal.consolidate()?.matrix.a);
      const scrolled = () => page.evaluate(() => scrollY);
      const box = await page.locator('.djs-container').first().boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + Math.min(box.height, 200) / 2);
      const before = await place();
      await page.mouse.wheel(0, 120);
      await until(async () => (await scrolled()) > 0, 'the page scrolls');
      assert.equal(await place(), before, 'the drawing stays');
      const at = await scrolled();
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -240);
      await page.keyboard.up('Control');
      await until(async () => (await place()) !== before, 'the drawing is zoomed');
      assert.equal(await scrolled(), at, 'the page stays');
    },
    { viewport: { width: 1280, height: 500 } },
  ));

/** Tells how far the lines of texts in a row are apart, in pixels. */
const unevenness = (row) =>
  row.evaluate((row) => {
    const lines = [...row.children].flatMap((cell) => {
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const { parentElement: parent } = texts.currentNode;
        if (texts.currentNode.data.trim() === '' || parent.closest('button, a.button, .hidden-label, .state')) continue;
        const mark = parent.insertBefore(document.createElement('span'), texts.currentNode);
        mark.style.cssText = 'display: inline-block; width: 0; height: 0';
        const { bottom } = mark.getBoundingClientRect();
        mark.remove();
        return [bottom];
      }
      return [];
    });
    return lines.length > 2 ? Math.max(...lines) - Math.min(...lines) : NaN;
  });

test('keys and texts of a row stand on one line', () =>
  withPage(server, async (page) => {
    await opens(page, '/operate/processes');
    const row = rowsOf(page, 'Process instances').first();
    await row.waitFor();
    assert.ok((await unevenness(row)) <= 1, `a row of the list: ${await unevenness(row)} px`);
    await opens(page, `/operate/processes/${keys.broken}/incidents`);
    const head = page.locator('header.stack > .row');
    await head.waitFor();
    assert.ok((await unevenness(head)) <= 1, `the head of an instance: ${await unevenness(head)} px`);
  }));

test('a tick moves no row, and with Shift it ticks all from the last one on', () =>
  withPage(server, async (page) => {
    await opens(page, '/operate/processes');
    const rows = rowsOf(page, 'Process instances');
    await rows.nth(3).waitFor();
    const boxes = rows.getByRole('checkbox');
    const ticked = async () => (await boxes.evaluateAll((all) => all.map((one) => one.checked))).slice(0, 4);
    const before = await rows.nth(3).boundingBox();
    await boxes.nth(0).click();
    await page.getByRole('toolbar', { name: 'Selection' }).waitFor();
    assert.deepEqual(await rows.nth(3).boundingBox(), before);
    await boxes.nth(3).click({ modifiers: ['Shift'] });
    assert.deepEqual(await ticked(), [true, true, true, true]);
    await boxes.nth(1).click({ modifiers: ['Shift'] });
    assert.deepEqual(await ticked(), [true, false, false, false]);
    await boxes.nth(2).click();
    assert.deepEqual(await ticked(), [true, false, true, false]);
  }));

test('a version is started at chosen elements with JSON, and by its form', async () => {
  const schema = JSON.stringify({ id: 'look-form', type: 'default', schemaVersion: 18, components: [{ key: 'customer', type: 'textfield', id: 'f1', label: 'Customer' }] });
  await deploy(server, { 'started.bpmn': bpmn('started', [['job', 'a', 'started-a', 'A'], ['job', 'b', 'started-b', 'B']], { name: 'Started', startForm: 'look-form' }), 'look.form': schema });
  await until(async () => (await search(server, 'process-definitions', { processDefinitionId: 'started' })).page.totalItems === 1, 'it is found');
  await withPage(server, async (page) => {
    await opens(page, '/operate/definitions/started');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Start …' }).click();
    await dialog.getByLabel('as JSON').check();
    await dialog.getByLabel('Variables as JSON').fill('{"a": 1,}');
    assert.ok(await dialog.getByRole('button', { name: 'Start', exact: true }).isDisabled());
    await dialog.getByLabel('Variables as JSON').fill('{"big": 12345678901234567890.25}');
    await dialog.getByLabel('Start at').selectOption('b');
    await dialog.getByLabel('Start at').selectOption('a');
    await dialog.getByRole('button', { name: 'Remove A (a)' }).click();
    await dialog.getByLabel('Business ID').fill('started-1');
    await dialog.getByLabel('Tags').fill('urgent, red');
    await dialog.getByRole('button', { name: 'Start', exact: true }).dblclick();
    await page.waitForURL(/\/operate\/processes\/\d+/);
    const key = /processes\/(\d+)/.exec(page.url())[1];
    const instance = await server.rest('GET', `/v2/process-instances/${key}`);
    assert.deepEqual([instance.businessId, [...instance.tags].sort()], ['started-1', ['red', 'urgent']]);
    const { items } = await search(server, 'element-instances', { processInstanceKey: key, state: 'ACTIVE', type: 'SERVICE_TASK' });
    assert.deepEqual(items.map((one) => one.elementId), ['b']);
    assert.equal((await search(server, 'variables', { processInstanceKey: key, name: 'big' })).items[0].value, '12345678901234567890.25');
    assert.equal((await search(server, 'process-instances', { processDefinitionId: 'started' })).page.totalItems, 1, 'two clicks are one start');
    await opens(page, '/operate/definitions/started');
    await page.getByRole('button', { name: 'Start …' }).click();
    await dialog.locator('.form[data-drawn]').waitFor();
    await dialog.getByLabel('Customer').fill('ann');
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL((url) => /\/operate\/processes\/\d+/.test(url.pathname) && !url.pathname.endsWith(key));
    const other = /processes\/(\d+)/.exec(page.url())[1];
    assert.equal((await search(server, 'variables', { processInstanceKey: other, name: 'customer' })).items[0].value, '"ann"');
  });
});

test('the diagram of a process is coloured by counts and by wait, with the numbers beside it', () =>
  withPage(server, async (page) => {
    await opens(page, '/operate/definitions/broken?heat=tokens');
    await page.locator('.djs-element.heat-5[data-element-id="work"]').waitFor({ state: 'attached' });
    assert.match(await rowsOf(page, 'Elements by tokens now').innerText(), /Work\s+3/);
    await page.getByLabel('Colour by').selectOption('passed');
    await count(rowsOf(page, 'Elements by how often passed'), 2);
    await page.locator('.djs-element.heat-5[data-element-id="start"]').waitFor({ state: 'attached' });
    await page.getByLabel('Colour by').selectOption('wait');
    assert.match(await rowsOf(page, 'Elements by longest wait now').innerText(), /Work\s+\d+/);
  }));

/** The contrast of a control's text with what is behind it, by WCAG 2.2. */
const contrast = (control) =>
  control.evaluate((element) => {
    const channels = (color) => color.match(/[\d.]+/g).map(Number);
    const luminance = ([red, green, blue]) => {
      const [r, g, b] = [red, green, blue].map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    let behind = element;
    while (behind.parentElement && channels(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
    const [text, back] = [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor].map((color) => luminance(channels(color)));
    return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
  });

for (const theme of ['light', 'dark']) {
  test(`each kind of control can be read under the pointer and in focus, ${theme}`, () =>
    withPage(
      server,
      async (page) => {
        const kinds = new Set();
        for (const path of ['/admin/users', '/admin/operations-log', '/operate/processes', `/operate/processes/${keys.broken}`, '/operate/incidents', '/tasklist']) {
          await opens(page, path);
          await page.getByRole('heading', { level: 1 }).waitFor();
          for (const control of await page.locator('button:not(:disabled, [aria-disabled="true"]):visible, a.button:visible, label.button:visible, select:visible, input:visible').all()) {
            const kind = await control.evaluate((element) => `${element.tagName} ${element.type ?? ''} ${element.className}`);
            if (kinds.has(kind)) continue;
            // What the page draws anew meanwhile comes again on another one.
            if (!(await control.scrollIntoViewIfNeeded().then(() => true, () => false))) continue;
            kinds.add(kind);
            const box = await control.boundingBox();
            await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
            assert.ok(await control.evaluate((element) => element.matches(':hover')), `${kind} of ${path} is under the pointer`);
            assert.ok((await contrast(control)) >= 4.5, `${kind} of ${path} under the pointer: ${await contrast(control)}`);
            await page.mouse.move(0, 0);
            await control.focus();
            assert.ok((await contrast(control)) >= 4.5, `${kind} of ${path} in focus: ${await contrast(control)}`);
          }
        }
        assert.ok([...kinds].some((kind) => kind.includes('primary')), `no primary button among ${[...kinds]}`);
      },
      { theme },
    ));
}
