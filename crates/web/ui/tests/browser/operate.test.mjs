// Operate on a server that asks nobody for a login: each page and action, and what REST says after it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, isSeen, pressInMenu, violations, withPage } from '../page.mjs';
import { bpmn, deploy, DISCOUNTS, fail, forEach, search, start, startServer, until } from '../server.mjs';

const BIG = '12345678901234567890.123';
let server;
const keys = {};
const opens = (page, path) => page.goto(server.url + path);
const drawn = (page) => page.locator('.diagram[data-drawn]').waitFor();
const rowsOf = (page, label) => page.getByRole('table', { name: label, exact: true }).locator('tbody tr');
const count = (locator, expected) => until(async () => (await locator.count()) === expected, async () => `${await locator.count()} instead of ${expected}`);

before(async () => {
  server = await startServer();
  await deploy(server, {
    'orders.bpmn': bpmn('orders', [['job', 'charge', 'charge', 'Charge card'], ['job', 'ship', 'ship', 'Ship goods']], { name: 'Orders' }),
    'parent.bpmn': bpmn('parent', [['call', 'child', 'orders', 'Order']], { name: 'Parent' }),
    'plain.bpmn': bpmn('plain', [['job', 'only', 'plain-job']], { name: 'Without a diagram', hasDiagram: false }),
    'discounts.dmn': DISCOUNTS,
  });
  keys.broken = await start(server, 'orders', { customer: 'ann', amount: 12, nested: { a: [1, 2] } }, { businessId: 'order-1' });
  const failed = await fail(server, 'charge', 'the card is refused');
  assert.equal(failed.processInstanceKey, keys.broken);
  keys.fine = await start(server, 'orders', { customer: 'bob' });
  keys.parent = await start(server, 'parent');
  keys.plain = await start(server, 'plain');
  await server.rest('POST', '/v2/decision-definitions/evaluation', { decisionDefinitionId: 'discount', variables: { total: 250 } });
  await until(async () => (await search(server, 'incidents', {})).page.totalItems === 1, 'the incident is found');
  await until(async () => (await search(server, 'process-instances', {})).page.totalItems === 5, 'the instances are found');
  await until(async () => (await search(server, 'decision-instances', {})).page.totalItems === 1, 'the evaluation is found');
});

after(async () => {
  await closeBrowser();
  await server?.stop();
});

test('the start leads to the overview, which counts what runs and what is broken', () =>
  withPage(server, async (page) => {
    await opens(page, '/');
    await page.waitForURL('**/operate');
    const totals = page.locator('.totals a');
    await until(async () => (await totals.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')).join() === 'Running 5,With incidents 1,Suspended 0', async () => (await totals.allInnerTexts()).join());
    await page.getByRole('region', { name: 'Jobs without a worker' }).getByRole('link', { name: 'charge' }).waitFor();
    await page.getByRole('link', { name: 'the card is refused' }).first().click();
    await page.waitForURL(/incidentErrorHashCode=/);
    await count(rowsOf(page, 'Process instances'), 1);
    assert.match(await rowsOf(page, 'Process instances').innerText(), new RegExp(keys.broken));
    await page.goBack();
    await page.getByRole('link', { name: 'Parent' }).first().click();
    await page.waitForURL(/process=parent/);
    await count(rowsOf(page, 'Process instances'), 1);
  }));

test('a window is named after its instance, and what is chosen after its element', () =>
  withPage(server, async (page) => {
    await opens(page, `/operate/processes/${keys.fine}?element=charge`);
    await page.locator('.chip', { hasText: 'Charge card' }).waitFor();
    await until(async () => (await page.title()).startsWith(`Orders ${keys.fine} – `), () => page.title());
    await page.getByRole('link', { name: 'Instances', exact: true }).click();
    await until(async () => (await page.title()).startsWith('Instances – '), () => page.title());
  }));

test('states, business IDs, keys and variables filter the list, and the URL has it all', () =>
  withPage(server, async (page) => {
    await opens(page, '/operate/processes?active=true&incidents=true');
    const rows = rowsOf(page, 'Process instances');
    await count(rows, 5);
    await page.getByRole('button', { name: 'Active', exact: true }).click();
    await page.waitForURL((url) => url.search === '?incidents=true');
    await count(rows, 1);
    await page.getByRole('button', { name: 'Incidents', exact: true }).click();
    await page.waitForURL((url) => url.search === '');
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByLabel('Name of the variable').fill('customer');
    await page.getByLabel('Type of the value').selectOption('JSON');
    await page.getByLabel('Value', { exact: true }).fill('ann');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('customer: This is no JSON').waitFor();
    await page.getByLabel('Type of the value').selectOption('text');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/var=customer%3Aeq%3A%22ann%22/);
    await count(rows, 1);
    await page.reload();
    await count(rows, 1);
    await page.getByRole('button', { name: /Remove filter: customer/ }).click();
    await count(rows, 5);
    await page.getByRole('button', { name: '+ Filter' }).click();
    await page.getByLabel('Instance keys').fill(`${keys.fine}\n${keys.plain}, nonsense`);
    await page.getByRole('button', { name: 'Apply' }).click();
    await count(rows, 2);
    await opens(page, '/operate/processes?businessId=order-1');
    await count(rows, 1);
    await opens(page, '/operate/processes?businessId=nobody');
    await page.getByText('No instance matches.').waitFor();
  }));

test('the diagram counts, and a click on an element filters by it', () =>
  withPage(server, async (page) => {
    await opens(page, '/operate/processes?process=orders&active=true&incidents=true');
    await drawn(page);
    const counts = page.locator('.counts[data-element="charge"]');
    await counts.waitFor();
    await until(async () => /▲ 1/.test(await counts.innerText()), async () => counts.innerText());
    assert.match(await counts.innerText(), /● \d/);
    await page.locator('.djs-element[data-element-id="charge"] .djs-hit').first().click({ force: true });
    await page.waitForURL(/elementId=charge/);
    await count(rowsOf(page, 'Process instances'), 3);
    await page.locator('.djs-element.selected[data-element-id="charge"]').waitFor({ state: 'attached' });
    await page.locator('.djs-element[data-element-id="ship"] .djs-hit').first().click({ force: true });
    await page.getByText('No instance matches.').waitFor();
    await page.getByRole('button', { name: 'Remove filter: element ship' }).click();
    await count(rowsOf(page, 'Process instances'), 3);
    await page.getByLabel('Version').selectOption('1');
    await page.waitForURL(/version=1/);
  }));

test('the watermark of a diagram is visible and uncovered at every width', () =>
  withPage(server, async (page) => {
    for (const width of [360, 768, 1280, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      await opens(page, '/operate/processes?process=orders');
      await drawn(page);
      const isOnTop = await page.locator('.bjs-powered-by').evaluate((mark) => {
        mark.scrollIntoView({ block: 'center' });
        const { left, top, width, height } = mark.getBoundingClientRect();
        const hit = document.elementFromPoint(left + width / 2, top + height / 2);
        return width > 20 && height > 10 && (hit === mark || mark.contains(hit)) && getComputedStyle(mark).visibility === 'visible';
      });
      assert.ok(isOnTop, `at ${width} px`);
    }
  }));

test('a model without a diagram is laid out', () =>
  withPage(server, async (page) => {
    await opens(page, '/operate/definitions/plain');
    await drawn(page);
    await page.getByText('The model has no diagram').waitFor();
    await page.locator('.djs-element[data-element-id="only"]').waitFor({ state: 'attached' });
  }));

test('orders and pages of a long list are in the URL', async () => {
  const created = [];
  await deploy(server, { 'many.bpmn': bpmn('many', [['job', 'wait', 'many-job']]) });
  for (let at = 0; at < 55; at += 1) created.push(await start(server, 'many'));
  created.sort((a, b) => Number(BigInt(a) - BigInt(b)));
  await until(async () => (await search(server, 'process-instances', { processDefinitionId: 'many' })).page.totalItems === 55, 'they are found');
  await withPage(server, async (page) => {
    await opens(page, '/operate/processes?process=many');
    const rows = rowsOf(page, 'Process instances');
    await count(rows, 50);
    await page.getByText('55 match').waitFor();
    await page.getByRole('button', { name: 'Key' }).click();
    await page.waitForURL(/sort=processInstanceKey%3Aasc/);
    await until(async () => (await rows.first().innerText()).includes(created[0]), 'the lowest key comes first');
    await page.getByRole('button', { name: 'Next' }).click();
    await count(rows, 5);
    assert.ok((await rows.last().innerText()).includes(created[54]));
    await page.reload();
    await count(rows, 5);
    await page.getByRole('button', { name: 'Previous' }).click();
    await count(rows, 50);
    assert.ok((await rows.first().innerText()).includes(created[0]));
  });
});

test('the head of a long list stays in sight, and covers nothing that has the focus; so does the bar of a selection', () =>
  withPage(
    server,
    async (page) => {
      await deploy(server, { 'tall.bpmn': bpmn('tall', [['job', 'wait', 'tall-job']]) });
      for (let at = 0; at < 50; at += 1) await start(server, 'tall');
      await until(async () => (await search(server, 'process-instances', { processDefinitionId: 'tall' })).page.totalItems === 50, 'all are found');
      for (const width of [1280, 400]) {
        await page.setViewportSize({ width, height: 700 });
        await opens(page, '/operate/processes?process=tall');
        const rows = rowsOf(page, 'Process instances');
        await count(rows, 50);
        await drawn(page);
        const head = page.getByRole('table', { name: 'Process instances' }).getByRole('columnheader').nth(1);
        await rows.last().scrollIntoViewIfNeeded();
        assert.ok(await isSeen(head), `the head at ${width} px`);
        await page.mouse.wheel(0, 100_000);
        assert.ok(await isSeen(head), `the head at the end, at ${width} px`);
        const box = rows.last().getByRole('checkbox');
        await box.check();
        const bar = page.getByRole('toolbar', { name: 'Selection' });
        await bar.waitFor();
        await box.focus();
        for (const key of ['Shift+Tab', 'Tab']) {
          for (let at = 0; at < 90; at += 1) {
            await page.keyboard.press(key);
            const lost = await page.evaluate(() => {
              const one = document.activeElement;
              const { left, top, width, height } = one.getBoundingClientRect();
              const there = document.elementFromPoint(left + width / 2, top + height / 2);
              return one.closest('tbody') && !one.contains(there) && !there?.contains(one) ? one.outerHTML : undefined;
            });
            assert.equal(lost, undefined, `${key} at ${width} px`);
          }
          assert.ok(await isSeen(bar), `the bar at ${width} px`);
        }
      }
    },
    { viewport: { width: 1280, height: 700 } },
  ));

test('a selection is canceled as a batch operation, which is shown as it works', async () => {
  await deploy(server, { 'bulk.bpmn': bpmn('bulk', [['job', 'wait', 'bulk-job']]) });
  const [first, second, third] = [await start(server, 'bulk'), await start(server, 'bulk'), await start(server, 'bulk')];
  await until(async () => (await search(server, 'process-instances', { processDefinitionId: 'bulk' })).page.totalItems === 3, 'they are found');
  await withPage(server, async (page) => {
    await opens(page, '/operate/processes?process=bulk&active=true');
    await count(rowsOf(page, 'Process instances'), 3);
    await page.getByLabel(`Choose ${first}`).check();
    await page.getByLabel(`Choose ${second}`).check();
    await page.getByText('2 chosen').waitFor();
    await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'Cancel' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This cannot be undone').waitFor();
    await dialog.getByText('2 instances match now').waitFor();
    assert.ok(await dialog.evaluate((one) => one.matches(':modal')), 'it stays above the page while it asks');
    await dialog.getByRole('button', { name: 'Cancel instances' }).dblclick();
    await page.waitForURL(/batch-operations\/\d+/);
    await page.getByText('2 done, 0 failed, 2 in all').waitFor();
    await count(rowsOf(page, 'Items'), 2);
    const { items } = await search(server, 'process-instances', { processDefinitionId: 'bulk', state: 'TERMINATED' });
    assert.deepEqual(items.map((one) => one.processInstanceKey).sort(), [first, second].sort());
    assert.equal((await search(server, 'batch-operations', { operationType: 'CANCEL_PROCESS_INSTANCE' })).page.totalItems, 1, 'two clicks are one command');
    await opens(page, '/operate/batch-operations');
    await count(rowsOf(page, 'Batch operations'), 1);
    assert.equal((await server.rest('GET', `/v2/process-instances/${third}`)).state, 'ACTIVE');
  });
});

test('all that match are retried', async () => {
  await deploy(server, { 'retried.bpmn': bpmn('retried', [['job', 'work', 'retried-job']]) });
  for (let at = 0; at < 3; at += 1) {
    await start(server, 'retried');
    await fail(server, 'retried-job', 'no luck');
  }
  const open = () => search(server, 'incidents', { processDefinitionId: 'retried', state: 'ACTIVE' });
  await until(async () => (await open()).page.totalItems === 3, 'the incidents are found');
  await until(async () => (await search(server, 'process-instances', { processDefinitionId: 'retried', hasIncident: true })).page.totalItems === 3, 'the instances have incidents');
  await withPage(server, async (page) => {
    await opens(page, '/operate/processes?process=retried&incidents=true');
    await count(rowsOf(page, 'Process instances'), 3);
    await page.getByLabel('Choose all of this page').check();
    await page.getByRole('button', { name: 'Choose all 3 that match' }).click();
    await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry incidents' }).click();
    await page.getByText('3 done, 0 failed, 3 in all').waitFor();
    await until(async () => (await open()).page.totalItems === 0, 'the incidents are resolved');
  });
});

test('an instance shows its tree, and one selection holds in tree, diagram and tabs', () =>
  withPage(server, async (page) => {
    await opens(page, `/operate/processes/${keys.broken}`);
    await drawn(page);
    await page.getByText('business ID order-1').waitFor();
    const tree = page.getByRole('treegrid', { name: 'Element instances' });
    await tree.getByText('Charge card').click();
    await page.waitForURL(/element=charge/);
    await page.locator('.djs-element.selected[data-element-id="charge"]').waitFor({ state: 'attached' });
    assert.equal(await tree.locator('[aria-selected="true"]').count(), 1);
    await page.getByRole('tab', { name: 'Jobs' }).click();
    await page.waitForURL(/\/jobs\?element=charge/);
    assert.match(await rowsOf(page, 'Jobs').first().innerText(), /the card is refused/);
    await tree.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.waitForURL(/element=start/);
  }));

test('the tree shows what runs, what is broken or what one looks for, and says how much that is', () =>
  withPage(server, async (page) => {
    await opens(page, `/operate/processes/${keys.broken}`);
    const tree = page.getByRole('treegrid', { name: 'Element instances' });
    const rows = async (expected) => until(async () => (await tree.getAttribute('aria-rowcount')) === String(expected), async () => tree.getAttribute('aria-rowcount'));
    await rows(2);
    await page.getByLabel('Elements that are shown').selectOption('incidents');
    await rows(1);
    await tree.getByText('Charge card').waitFor();
    await page.getByLabel('Elements that are shown').selectOption('all');
    await rows(2);
    await page.getByLabel('Order of elements').selectOption('DESC');
    await tree.locator('[aria-rowindex="1"]').getByText('Charge card').waitFor();
    await page.getByLabel('Find an element').fill('star');
    await rows(1);
    await tree.getByText('Start event').waitFor();
    await page.getByLabel('Find an element').fill('nothing of the kind');
    await rows(0);
    const { items } = await search(server, 'element-instances', { processInstanceKey: keys.broken });
    assert.equal(items.filter(({ type }) => type !== 'PROCESS').length, 2, 'the tree had all of them');
  }));

test('a tree with thousands of rows has the nodes of those in view alone', async () => {
  const ITEMS = 3000;
  await deploy(server, { 'each.bpmn': forEach('for-each', 'each-job') });
  const key = await start(server, 'for-each', { items: Array.from({ length: ITEMS }, (_, at) => at) });
  await until(async () => (await search(server, 'element-instances', { processInstanceKey: key, type: 'SERVICE_TASK' })).page.totalItems === ITEMS, 'its elements are found', 60_000);
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${key}`);
    const tree = page.getByRole('treegrid', { name: 'Element instances' });
    await tree.getByText('Multi-instance body (3,000)').waitFor();
    await tree.getByRole('button', { name: 'Open' }).click();
    await until(async () => (await tree.getAttribute('aria-rowcount')) === String(ITEMS + 2), async () => tree.getAttribute('aria-rowcount'));
    await tree.focus();
    await page.keyboard.press('End');
    await tree.locator(`[aria-rowindex="${ITEMS + 2}"]`).getByText('Service task').waitFor();
    const nodes = await page.evaluate(() => document.querySelectorAll('.tree *').length);
    assert.ok(nodes < 1500, `${nodes} nodes`);
    await tree.locator('[aria-level="2"]').last().click();
    await page.waitForURL(/element=each/);
  });
});

test('one iteration of a loop is chosen alone, with its number, and has its own variables', async () => {
  await deploy(server, { 'loop.bpmn': forEach('loop', 'loop-job') });
  const key = await start(server, 'loop', { items: ['a', 'b', 'c'] });
  await until(async () => (await search(server, 'variables', { processInstanceKey: key, name: 'item' })).page.totalItems === 3, 'its variables are found');
  const { items } = await search(server, 'element-instances', { processInstanceKey: key, type: 'SERVICE_TASK' }, { sort: [{ field: 'elementInstanceKey' }] });
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${key}`);
    await drawn(page);
    const tree = page.getByRole('treegrid', { name: 'Element instances' });
    const selected = tree.getByRole('row', { selected: true });
    const which = (name) => page.getByRole('group', { name: 'Scope of the variables' }).getByRole('button', { name });
    const variables = (...expected) => until(async () => JSON.stringify((await rowsOf(page, 'Variables').allInnerTexts()).map((text) => text.split('\t')[0].trim())) === JSON.stringify(expected), async () => JSON.stringify(await rowsOf(page, 'Variables').allInnerTexts()));
    await tree.getByRole('button', { name: 'Open' }).click();
    await count(tree.getByText(/#\d/), 3);
    assert.deepEqual((await tree.getByText(/#\d/).allInnerTexts()).map((text) => text.trim()), ['Each #1', 'Each #2', 'Each #3']);
    // Variables of the process are not lost among those of the iterations, which are counted.
    await variables('items');
    await which('This instance (1)').waitFor();
    const all = await which(/^All scopes/).innerText();
    assert.match(all, /\((\d+)\)/);
    await which(/^All scopes/).click();
    await page.waitForURL(/variables=all/);
    await count(rowsOf(page, 'Variables'), Number(/\d+/.exec(all)[0]));
    assert.equal(await which(/^All scopes/).getAttribute('aria-pressed'), 'true');
    await rowsOf(page, 'Variables').filter({ hasText: 'loopCounter' }).filter({ hasText: `Each ${items[1].elementInstanceKey}` }).first().waitFor();
    await page.reload();
    await count(rowsOf(page, 'Variables'), Number(/\d+/.exec(all)[0]));
    await tree.getByRole('button', { name: 'Open' }).click();
    await tree.getByText('Each #2').click();
    await page.waitForURL(new RegExp(`scope=${items[1].elementInstanceKey}`));
    await count(selected, 1);
    assert.match(await selected.innerText(), /Each #2/);
    await variables('item', 'loopCounter');
    await rowsOf(page, 'Variables').filter({ hasText: '"b"' }).waitFor();
    await which('Selected: Each (2)').waitFor();
    await which('This instance (1)').click();
    await page.waitForURL(/variables=instance/);
    await variables('items');
    // Chosen in the diagram, an element is all of its rows.
    const drawing = page.locator('.djs-element[data-element-id="each"]').first();
    await drawing.click();
    await page.waitForURL((url) => !url.searchParams.has('element'));
    await drawing.click();
    await page.waitForURL((url) => url.searchParams.has('element') && !url.searchParams.has('scope'));
    await count(selected, 4);
    // From the other end the numbers are the same; where something is left out, the place tells none.
    await page.getByLabel('Order of elements').selectOption('DESC');
    await tree.getByRole('button', { name: 'Open' }).click();
    await count(tree.getByText(/#\d/), 3);
    assert.deepEqual((await tree.getByText(/#\d/).allInnerTexts()).map((text) => text.trim()), ['Each #3', 'Each #2', 'Each #1']);
    await page.getByLabel('Elements that are shown').selectOption('running');
    await tree.getByRole('button', { name: 'Open' }).click();
    await count(tree.getByRole('row'), 4);
    await count(tree.getByText(/#\d/), 0);
  });
});

test('variables are found, added and changed, and keep every digit', () =>
  withPage(server, async (page) => {
    await opens(page, `/operate/processes/${keys.fine}/variables`);
    await page.getByRole('button', { name: 'Add a variable' }).click();
    await page.getByLabel('Name', { exact: true }).fill('big');
    await page.getByLabel('Value as JSON').fill('{not json');
    assert.ok(await page.getByRole('button', { name: 'Save' }).isDisabled());
    await page.getByLabel('Value as JSON').fill(BIG);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: BIG }).waitFor();
    const [variable] = (await search(server, 'variables', { processInstanceKey: keys.fine, name: 'big' })).items;
    assert.equal(variable.value, BIG);
    await page.getByLabel('Find a variable by name').fill('cust');
    await page.getByRole('cell', { name: 'big', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /customer/ }).getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Value as JSON').fill('"carol"');
    page.once('dialog', (dialog) => dialog.dismiss());
    await page.keyboard.press('Escape');
    assert.equal(await page.getByLabel('Value as JSON').inputValue(), '"carol"', 'Escape asks before it discards');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: '"carol"' }).waitFor();
    assert.equal((await search(server, 'variables', { processInstanceKey: keys.fine, name: 'customer' })).items[0].value, '"carol"');
    await opens(page, `/operate/processes/${keys.broken}/variables`);
    await page.getByRole('row', { name: /nested/ }).getByRole('button', { name: 'Show' }).click();
    await page.getByRole('dialog', { name: 'nested' }).getByText('"a"').waitFor();
  }));

test('long JSON is folded, searched and changed in an editor', async () => {
  const order = { lines: Array.from({ length: 40 }, (_, at) => ({ item: `item-${at}`, count: at })), total: 780 };
  const key = await start(server, 'orders', { order });
  await until(async () => (await search(server, 'variables', { processInstanceKey: key })).page.totalItems === 1, 'its variable is found');
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${key}/variables`);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    const shown = page.getByRole('dialog', { name: 'order' });
    const line = (text) => shown.locator('.cm-line', { hasText: text });
    await line('"item-1"').waitFor();
    await shown.getByRole('button', { name: 'Fold all', exact: true }).click();
    await line('"item-1"').waitFor({ state: 'detached' });
    await shown.getByRole('button', { name: 'Unfold all' }).click();
    await line('"item-1"').waitFor();
    await shown.getByRole('button', { name: 'Search' }).click();
    await shown.getByPlaceholder('Find').pressSequentially('item-39');
    await page.keyboard.press('Enter');
    await until(() => isSeen(line('"item-39"')), 'the hit is in sight');
    assert.deepEqual(await violations(page), []);
    await shown.getByRole('button', { name: 'Close' }).first().click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const editor = page.getByRole('dialog', { name: 'Edit order' });
    const text = editor.getByRole('textbox', { name: 'Value as JSON' });
    await text.press('Control+End');
    await page.keyboard.type('?');
    assert.ok(await editor.getByRole('button', { name: 'Save' }).isDisabled(), 'what is no JSON is not saved');
    assert.equal(await page.getByRole('dialog').count(), 1, 'a key that is text opens nothing');
    page.once('dialog', (asked) => asked.dismiss());
    await editor.getByRole('button', { name: 'Close' }).first().click();
    await text.press('Control+End');
    await page.keyboard.press('Backspace');
    await text.press('Control+Home');
    for (let at = 0; at < 1; at += 1) await page.keyboard.press('End');
    await page.keyboard.type('\n"first": 12345678901234567890,');
    await editor.getByRole('button', { name: 'Save' }).click();
    await editor.waitFor({ state: 'detached' });
    const [{ value }] = (await server.rest('POST', '/v2/variables/search?truncateValues=false', { filter: { processInstanceKey: key } })).items;
    assert.match(value, /^\{\s*"first":\s*12345678901234567890/);
  });
});

test('an incident is retried, and the page shows it at once', async () => {
  const key = await start(server, 'orders');
  await until(async () => (await search(server, 'jobs', { processInstanceKey: key, type: 'charge' })).page.totalItems === 1, 'its job is found');
  let failed;
  do failed = await fail(server, 'charge', 'again refused');
  while (failed.processInstanceKey !== key);
  await until(async () => (await search(server, 'incidents', { processInstanceKey: key, state: 'ACTIVE' })).page.totalItems === 1, 'its incident is found');
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${key}/incidents`);
    await page.getByText('again refused').first().waitFor();
    await pressInMenu(page.getByRole('region', { name: 'Incidents' }), 'Retry');
    await page.getByText('There are no incidents here.').waitFor();
    assert.equal((await search(server, 'incidents', { processInstanceKey: key, state: 'ACTIVE' })).page.totalItems, 0);
    assert.equal((await search(server, 'jobs', { processInstanceKey: key, type: 'charge' })).items[0].retries, 1);
  });
});

test('an instance opens at its incident, whose message has the whole width and two lines', async () => {
  // So many tasks that the whole of them is too small to be read.
  await deploy(server, { 'long.bpmn': bpmn('long', [['job', 'first', 'long-first', 'A name that fills the task with as many words as it takes to fill it'], ...Array.from({ length: 24 }, (_, at) => ['job', `later${at}`, `long-${at}`])]) });
  const message = 'the printer is on fire, '.repeat(40);
  const key = await start(server, 'long');
  await fail(server, 'long-first', message);
  await until(async () => (await search(server, 'incidents', { processInstanceKey: key, state: 'ACTIVE' })).page.totalItems === 1, 'its incident is found');
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${key}`);
    await page.getByRole('tab', { name: /^Incidents/, selected: true }).waitFor();
    const region = page.getByRole('region', { name: 'Incidents' });
    const text = await region.locator('td.below').evaluate((one) => ({ width: one.clientWidth, height: one.clientHeight, all: one.closest('.scroll').clientWidth }));
    assert.ok(text.width > 0.9 * text.all && text.height <= 40, JSON.stringify(text));
    await pressInMenu(region, 'Show the whole message');
    assert.equal((await page.getByRole('dialog').locator('pre').innerText()).trim(), message.trim());
    await page.keyboard.press('Escape');
    // The element is near enough to be read, and its badge, too; no badge stands over a text.
    const badge = page.locator('.counts[data-element=first] span');
    await badge.waitFor();
    await until(async () => (await page.locator('.diagram [data-element-id=first] .djs-visual > :first-child').first().boundingBox()).width >= 60, 'the element is near');
    for (const way of ['near', 'fit']) {
      if (way === 'fit') await page.getByRole('button', { name: 'Fit the diagram' }).click();
      const { px, over } = await page.evaluate(() => {
        const badges = [...document.querySelectorAll('.counts span')];
        const texts = [...document.querySelectorAll('.diagram .djs-visual text')].map((one) => one.getBoundingClientRect());
        const isOver = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        return {
          px: Math.min(...badges.map((one) => (parseFloat(getComputedStyle(one).fontSize) * one.getBoundingClientRect().height) / one.offsetHeight)),
          over: badges.filter((one) => texts.some((text) => isOver(one.getBoundingClientRect(), text))).length,
        };
      });
      assert.ok(px >= 10.9, `${way}: letters of badges have ${px} px`);
      assert.equal(over, 0, `${way}: badges stand over texts`);
    }
    // The tab stays when nothing is left of it.
    await pressInMenu(region, 'Retry');
    await page.getByText('There are no incidents here.').waitFor();
  });
});

test('waits that are alike are one sentence with their number', async () => {
  await deploy(server, { 'mails.bpmn': forEach('mails', 'send-mail') });
  const key = await start(server, 'mails', { items: Array.from({ length: 40 }, (_, at) => at) });
  await until(async () => (await search(server, 'jobs', { processInstanceKey: key })).page.totalItems === 40, 'its jobs are found');
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${key}`);
    const waits = page.getByRole('region', { name: 'Now' }).getByRole('listitem');
    await waits.filter({ hasText: /^Each × 40 waits for a worker of the type send-mail/ }).waitFor();
    assert.equal(await waits.count(), 1);
    await waits.getByRole('button', { name: 'Show each' }).click();
    await page.getByRole('region', { name: 'Now' }).getByRole('button', { name: 'Act as the worker …' }).first().waitFor();
  });
});

test('an instance is suspended and resumed, alone and with others', async () => {
  await deploy(server, { 'paused.bpmn': bpmn('paused', [['job', 'wait', 'paused-job']]) });
  const key = await start(server, 'paused');
  const state = async () => (await server.rest('GET', `/v2/process-instances/${key}`)).state;
  await withPage(server, async (page) => {
    await opens(page, `/operate/processes/${key}`);
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.locator('header .state', { hasText: 'Suspended' }).waitFor();
    assert.equal(await state(), 'SUSPENDED');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('header .state', { hasText: 'Active' }).waitFor();
    assert.equal(await state(), 'ACTIVE');
    for (const [action, expected] of [['Suspend', 'SUSPENDED'], ['Resume', 'ACTIVE']]) {
      await opens(page, '/operate/processes?process=paused');
      await page.getByLabel(`Choose ${key}`).check();
      await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: action }).click();
      await page.getByRole('dialog').getByRole('button', { name: `${action} instances` }).click();
      await page.getByText('1 done, 0 failed, 1 in all').waitFor();
      await until(async () => (await state()) === expected, `it is ${expected}`);
    }
  });
});

test('an instance is canceled with what it has called', () =>
  withPage(server, async (page) => {
    await opens(page, `/operate/processes/${keys.parent}/called`);
    await count(rowsOf(page, 'Called instances'), 1);
    await rowsOf(page, 'Called instances').getByRole('link').click();
    await page.getByRole('navigation', { name: 'Calling instances' }).getByRole('link', { name: 'Parent' }).click();
    await page.waitForURL(new RegExp(keys.parent));
    await page.getByRole('button', { name: 'Cancel instance' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel instance' }).click();
    await page.locator('header .state', { hasText: 'Canceled' }).waitFor();
    assert.equal((await server.rest('GET', `/v2/process-instances/${keys.parent}`)).state, 'TERMINATED');
    const { items } = await search(server, 'process-instances', { parentProcessInstanceKey: keys.parent });
    assert.deepEqual(items.map((one) => one.state), ['TERMINATED']);
    await until(async () => (await page.getByRole('button', { name: 'Cancel instance' }).count()) === 0, 'nothing is left to cancel');
  }));

test('files are deployed by choosing and by dropping, and a wrong one is named', () =>
  withPage(
    server,
    async (page) => {
      await opens(page, '/operate/definitions');
      const file = (name, text) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(text) });
      await page.locator('input[type=file]').setInputFiles([file('chosen.bpmn', bpmn('chosen', [['job', 'a', 'a']], { name: 'Chosen' }))]);
      await page.getByRole('link', { name: 'Process chosen, version 1' }).waitFor();
      const dropped = async (name, text) => {
        const data = await page.evaluateHandle(([name, text]) => {
          const data = new DataTransfer();
          data.items.add(new File([text], name));
          return data;
        }, [name, text]);
        await page.locator('main .panel').first().dispatchEvent('drop', { dataTransfer: data });
      };
      await dropped('dropped.bpmn', bpmn('dropped', [['job', 'a', 'a']]));
      await page.getByRole('link', { name: 'Process dropped, version 1' }).waitFor();
      assert.equal((await search(server, 'process-definitions', { processDefinitionId: 'dropped' })).items[0].resourceName, 'dropped.bpmn');
      // Beside its place a file must not take the browser away from the page; a click's result is seen in a low window, too.
      assert.ok(await page.evaluate(() => {
        const data = new DataTransfer();
        data.items.add(new File(['x'], 'beside.bpmn'));
        return ['dragover', 'drop'].every((kind) => !document.body.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: data })));
      }), 'the page takes what is dropped beside');
      await page.setViewportSize({ width: 1280, height: 240 });
      await page.evaluate(() => scrollTo(0, 0));
      await dropped('notes.txt', 'hello');
      await until(() => isSeen(page.locator('.failure p')), 'the refusal is in sight');
      await page.getByText('notes.txt: files end with').waitFor();
      await dropped('broken.bpmn', '<definitions');
      await page.locator('.failure', { hasText: 'broken.bpmn' }).waitFor();
      assert.equal((await search(server, 'process-definitions', { resourceName: 'broken.bpmn' })).page.totalItems, 0);
    },
    { statuses: [400] },
  ));

test('a definition shows its versions, and one of them is deleted', async () => {
  await deploy(server, { 'old.bpmn': bpmn('old', [['job', 'a', 'a']]) });
  await deploy(server, { 'old.bpmn': bpmn('old', [['job', 'a', 'a'], ['job', 'b', 'b']]) });
  await until(async () => (await search(server, 'process-definitions', { processDefinitionId: 'old' })).page.totalItems === 2, 'both are found');
  await withPage(server, async (page) => {
    await opens(page, '/operate/definitions/old?version=1');
    await drawn(page);
    assert.equal(await page.getByLabel('Version', { exact: true }).inputValue(), '1');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete version 1' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await until(async () => {
      const { items } = await search(server, 'process-definitions', { processDefinitionId: 'old', state: 'ACTIVE' });
      return items.length === 1 && items[0].version === 2;
    }, 'version 1 is gone');
  });
});

test('an evaluation shows the rule that matched', () =>
  withPage(server, async (page) => {
    await opens(page, '/operate/decisions?decision=discount');
    await page.locator('.dmn[data-drawn]').waitFor();
    await rowsOf(page, 'Evaluations').getByRole('link').first().click();
    await page.locator('.dmn[data-drawn] tr.matched').waitFor();
    assert.equal(await page.locator('tr.matched [data-row-id="rule_large"]').first().count(), 1);
    assert.equal(await page.locator('tr.matched [data-row-id="rule_small"]').count(), 0);
    await page.getByRole('region', { name: 'Inputs' }).getByText('250').waitFor();
    await page.getByRole('region', { name: 'Result' }).getByText('10').waitFor();
    const mark = await page.locator('.dmn .bjs-powered-by').first().evaluate((one) => one.getBoundingClientRect().width);
    assert.ok(mark > 20, 'the watermark of the decision is visible');
    await opens(page, '/operate/decisions?failed=true');
    await page.getByText('No evaluation matches.').waitFor();
  }));

test('the search finds keys, business IDs, processes and pages', () =>
  withPage(
    server,
    async (page) => {
      await opens(page, '/operate');
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      const find = async (text, hit) => {
        await page.keyboard.press('Control+k');
        await page.getByRole('combobox', { name: 'Key, business ID, process or page' }).fill(text);
        await page.getByRole('option', { name: hit }).first().waitFor();
        await page.keyboard.press('Enter');
      };
      await find(keys.broken, `Process instance ${keys.broken}`);
      await page.waitForURL(new RegExp(`/operate/processes/${keys.broken}`));
      await find('order-1', /business ID order-1/);
      await page.waitForURL(new RegExp(`/operate/processes/${keys.broken}`));
      await find('Orders', /Process Orders/);
      await page.waitForURL(/\/operate\/definitions\/orders/);
      await find('Decisions', /Decisions/);
      await page.waitForURL(/\/operate\/decisions/);
      await page.getByRole('heading', { name: 'Decisions' }).waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    },
    { statuses: [404, 400] },
  ));

test('the overview tells of the last day, of slow elements and of the server, and goes on by itself', async () => {
  await deploy(server, { 'day.bpmn': bpmn('day', [['job', 'slow', 'day-job', 'Slow one']], { name: 'Day' }) });
  await withPage(server, async (page) => {
    await opens(page, '/operate');
    const instances = page.getByRole('region', { name: 'Instances in the last 24 hours', exact: true });
    const jobs = page.getByRole('region', { name: 'Jobs in the last 24 hours', exact: true });
    const told = async (region, name) => Number(new RegExp(`${name}\\s+(\\d+)`).exec(await region.innerText())[1]);
    await jobs.waitFor();
    const before = { started: await told(instances, 'Started'), ended: await told(instances, 'Ended'), completed: await told(jobs, 'Completed') };
    for (let at = 0; at < 3; at += 1) await start(server, 'day');
    const { jobs: taken } = await server.rest('POST', '/v2/jobs/activation', { type: 'day-job', timeout: 60_000, maxJobsToActivate: 3, requestTimeout: 5000 });
    for (const { jobKey } of taken.slice(0, 2)) await server.rest('POST', `/v2/jobs/${jobKey}/completion`, {});
    await until(async () => (await told(instances, 'Started')) === before.started + 3, async () => `started ${await instances.innerText()}`);
    await until(async () => (await told(instances, 'Ended')) === before.ended + taken.slice(0, 2).length, 'those that ended are counted');
    await until(async () => (await told(jobs, 'Completed')) === before.completed + 2, 'jobs are counted');
    await page.getByRole('region', { name: 'Slowest elements in the last 24 hours' }).getByRole('link', { name: 'Slow one' }).waitFor();
    const inside = page.getByRole('region', { name: 'Server', exact: true });
    for (const text of [/are free; new work is refused/, /Exporter secondary-storage\s+(has everything|\d+ records? behind)/, /places for requests are taken/]) assert.match(await inside.innerText(), text);
    // Bars tell the part with incidents by their colours.
    const bar = page.getByRole('row', { name: /Day/ }).locator('.share');
    assert.equal(await bar.evaluate((one) => one.style.getPropertyValue('--share')), '0%');
    assert.deepEqual(await violations(page), []);
    for (const { jobKey } of taken.slice(2)) await server.rest('POST', `/v2/jobs/${jobKey}/completion`, {});
  });
});
