// A server below a path of an address that a proxy shares: pages, login, links, requests and cookies stay below it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, openMenu, withPage } from '../page.mjs';
import { as, FILES, PEOPLE, rowsOf, SETTINGS } from '../people.mjs';
import { shareAddress } from '../proxy.mjs';
import { bpmn, deploy, startServer, start, until } from '../server.mjs';

const PATH = '/tools/baton';
let server;
const keys = {};

before(async () => {
  server = await startServer([...SETTINGS, `web.base_path=${PATH}/`], { files: FILES });
  await deploy(server, { 'orders.bpmn': bpmn('orders', [['job', 'charge', 'charge', 'Charge card']], { name: 'Orders' }) }, as('admin'));
  for (const name of ['one', 'other']) keys[name] = await start(server, 'orders', {}, {}, as('admin'));
  const found = () => server.rest('POST', '/v2/process-instances/search', {}, as('admin'));
  await until(async () => (await found()).page.totalItems === 2, 'the instances are found');
});

after(async () => {
  await closeBrowser();
  await server?.stop();
});

for (const [how, strips, name] of [
  ['passes the path on', false, 'one'],
  ['takes the path off', true, 'other'],
]) {
  test(`behind a proxy that ${how}, all stays below the path`, async () => {
    const proxy = await shareAddress(server.url, PATH, strips);
    const isAt = (page, path) => page.waitForURL((url) => url.origin === proxy.url && url.pathname === PATH + path);
    try {
      await withPage(
        proxy,
        async (page, context) => {
          const tree = page.getByRole('treegrid', { name: 'Element instances' });
          await page.goto(`${proxy.url}${PATH}/operate/processes/${keys[name]}?element=charge`);
          await isAt(page, '/login');
          await page.getByLabel('User name').fill('admin');
          await page.getByLabel('Password').fill(PEOPLE.admin);
          await page.getByRole('button', { name: 'Sign in' }).click();
          // Where one wanted to go.
          await isAt(page, `/operate/processes/${keys[name]}`);
          assert.equal(new URL(page.url()).search, '?element=charge');
          await tree.getByText('Charge card').waitFor();
          await page.locator('.diagram[data-drawn]').waitFor();
          const cookies = await context.cookies(proxy.url + PATH);
          assert.deepEqual(cookies.map(({ name, path }) => [name, path]).sort(), [['X-CSRF-TOKEN', PATH], ['__Secure-baton-session', PATH]]);
          assert.deepEqual(await context.cookies(`${proxy.url}/other`), [], 'programs beside it get none');
          // What is done here is done there.
          page.on('dialog', (dialog) => dialog.accept());
          for (const [action, expected] of [['Suspend', 'SUSPENDED'], ['Resume', 'ACTIVE']]) {
            await page.getByRole('button', { name: action }).click();
            const path = `/v2/process-instances/${keys[name]}`;
            await until(async () => (await server.rest('GET', path, undefined, as('admin'))).state === expected, `it is ${expected}`);
          }
          await page.getByRole('button', { name: 'Suspend' }).waitFor();
          // Links of the frame, of pages and in between, back and anew.
          await page.getByRole('link', { name: 'Tasklist' }).click();
          await isAt(page, '/tasklist');
          await page.getByRole('link', { name: 'Operate' }).click();
          await isAt(page, '/operate');
          await page.locator('.totals a').first().click();
          await isAt(page, '/operate/processes');
          await rowsOf(page, 'Process instances').getByRole('link', { name: keys[name] }).click();
          await isAt(page, `/operate/processes/${keys[name]}`);
          await page.goBack();
          await isAt(page, '/operate/processes');
          await page.reload();
          await rowsOf(page, 'Process instances').getByRole('link', { name: keys[name] }).waitFor();
          // Requests for use elsewhere have the path, too.
          await page.getByRole('button', { name: 'Copy as …' }).click();
          const copies = page.getByRole('dialog', { name: 'Copy as' });
          for (const form of ['curl', 'baton', 'Node']) assert.ok((await copies.getByRole('region', { name: form }).locator('pre').innerText()).includes(`${proxy.url}${PATH}${form === 'baton' ? ' ' : '/v2/process-instances/search'}`), form);
          await copies.getByRole('button', { name: 'Close' }).click();
          await openMenu(page);
          await page.getByRole('button', { name: 'Sign out' }).click();
          await isAt(page, '/login');
          assert.deepEqual((await context.cookies(proxy.url + PATH)).map(({ name }) => name), []);
        },
        { statuses: [401] },
      );
      assert.deepEqual(proxy.strays, [], 'nothing was asked of others');
    } finally {
      proxy.close();
    }
  });
}
