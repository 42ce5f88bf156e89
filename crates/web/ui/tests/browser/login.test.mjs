// Ways in: the first administrator, the issuer, and a session that ends.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeBrowser, press, violations, withPage } from '../page.mjs';
import { startServer, until } from '../server.mjs';

let server;
const FIRST = { username: 'first', password: 'first-password' };

before(async () => {
  server = await startServer(['security.authentication.method=basic', 'security.authorizations=true'], { expected: [/the set-up is open/] });
});

after(async () => {
  await closeBrowser();
  await server?.stop();
});

/** Has the server tell of itself what a test needs; everything else is the server's own. */
const tell = (page, told) =>
  page.route('**/baton/v1/boot', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), ...told } });
  });

test('the first administrator is created at the login, once', () =>
  withPage(
    server,
    async (page) => {
      await tell(page, { setUp: true });
      await page.goto(`${server.url}/login?next=/admin/users`);
      await page.getByRole('heading', { name: 'Create the first administrator' }).waitFor();
      await page.getByLabel('User name').fill(FIRST.username);
      await page.getByLabel('Password').fill(FIRST.password);
      await page.getByRole('button', { name: 'Create and sign in' }).click();
      await page.waitForURL((url) => url.pathname === '/admin/users');
      await page.getByRole('table', { name: 'Users', exact: true }).getByRole('link', { name: 'first' }).waitFor();
      const authorization = `Basic ${Buffer.from(`${FIRST.username}:${FIRST.password}`).toString('base64')}`;
      assert.equal((await server.rest('GET', '/v2/authentication/me', undefined, { authorization })).username, 'first');
      await page.goto(`${server.url}/login`);
      await page.getByLabel('User name').fill('second');
      await page.getByLabel('Password').fill('second-password');
      await page.getByRole('button', { name: 'Create and sign in' }).click();
      await page.getByRole('alert').waitFor();
      assert.equal(await page.getByLabel('User name').inputValue(), 'second');
    },
    { statuses: [401, 403] },
  ));

test('where an issuer asks who one is, the login leads there and back, and says why it failed', () =>
  withPage(
    server,
    async (page) => {
      await tell(page, { authentication: 'oidc', signIn: 'REDIRECT' });
      await page.goto(`${server.url}/login?next=${encodeURIComponent('/tasklist?filter=unassigned')}`);
      const link = page.getByRole('link', { name: 'Sign in at the issuer' });
      assert.equal(await link.getAttribute('href'), `/oauth2/login?next=${encodeURIComponent('/tasklist?filter=unassigned')}`);
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await violations(page), []);
      }
      for (const [error, text] of [
        ['denied', 'The issuer has denied the login.'],
        ['expired', 'The login took too long.'],
        ['unavailable', "The issuer can't be reached."],
        ['<b>anything</b>', 'This server refuses what the issuer told.'],
      ]) {
        await page.goto(`${server.url}/login?error=${encodeURIComponent(error)}&next=//evil.example`);
        await page.getByRole('alert').getByText(text).waitFor();
        assert.equal(await link.getAttribute('href'), '/oauth2/login?next=%2F', 'nothing leads to another site');
      }
      let asked = '';
      await page.route('**/oauth2/login?**', (route) => {
        asked = route.request().url();
        return route.fulfill({ status: 200, contentType: 'text/html', body: '<title>Issuer</title>' });
      });
      await link.click();
      await until(() => asked !== '', 'the browser goes to the issuer');
    },
    { statuses: [401] },
  ));

test('at an issuer, a session that ends is begun again in another tab, and the page goes on', () =>
  withPage(
    server,
    async (page, context) => {
      await tell(page, { authentication: 'oidc', signIn: 'REDIRECT' });
      const signIn = () => context.request.post(`${server.url}/login`, { form: FIRST });
      assert.ok((await signIn()).ok());
      await page.goto(`${server.url}/admin/groups`);
      await page.getByRole('button', { name: 'New group' }).click();
      await page.getByLabel('ID', { exact: true }).fill('kept');
      await page.getByLabel('Name', { exact: true }).fill('Kept');
      await context.clearCookies();
      await press(page.getByRole('button', { name: 'Create' }));
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      assert.equal(await dialog.getByRole('link', { name: 'Sign in at the issuer' }).getAttribute('target'), '_blank');
      await dialog.getByRole('button', { name: 'Go on' }).click();
      await page.getByText('Nobody is signed in yet.').waitFor();
      assert.ok((await signIn()).ok());
      await dialog.getByRole('button', { name: 'Go on' }).click();
      await page.getByRole('table', { name: 'Groups', exact: true }).getByRole('link', { name: 'kept' }).waitFor();
    },
    { statuses: [401] },
  ));
