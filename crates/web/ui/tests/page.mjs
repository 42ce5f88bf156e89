// A page of a real browser. Whatever a user would not see, but should not be, is a failure when it closes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { launch } from './chromium.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** Rules of these that look at colours: the others find the same in each theme. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];
/** Markup of the libraries of bpmn.io, which is not ours to change: their drawings and editors. */
export const NOT_OURS = ['.djs-container', '.dmn-js-parent', '.fjs-container', '.bjs-powered-by'];
const TIMEOUT_MS = 15_000;

let browser;
export async function openBrowser() {
  browser ??= await launch();
  return browser;
}
export async function closeBrowser() {
  await browser?.close();
  browser = undefined;
}

/** Presses a button, although the page may find out by itself that the session has ended and lay its login over it. */
export const press = (button) => button.evaluate((one) => one.click());

/** Whether an element can be seen: its middle is in the window, and nothing lies over it. */
export const isSeen = (locator) =>
  locator.evaluate((one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    const there = one.getRootNode().elementFromPoint(left + width / 2, top + height / 2);
    return there !== null && (one.contains(there) || there.contains(one));
  });

/** Opens the menu of the user, with theme, times, language and the way out. */
export const openMenu = (page) => page.locator('.bar button.user').click();

/** Opens the menu of a row that has an incident, and presses what is in it. */
export async function pressInMenu(row, name) {
  await row.getByRole('button', { name: /^Actions on the incident/ }).click();
  await row.page().locator('.menu:popover-open').getByRole('button', { name, exact: true }).click();
}

/** Opens a page and does something with it. `statuses` are refusals that the test provokes, `gone` are requests that it cuts
 * off, `blocked` is content of strangers that the content security policy stops; `origins` of others may be asked, too. */
export async function withPage(server, work, { statuses = [], origins = [], gone = false, blocked = false, theme, viewport = { width: 1280, height: 900 }, locale = 'en-US' } = {}) {
  const context = await (await openBrowser()).newContext({ viewport, locale, colorScheme: theme ?? 'light', acceptDownloads: false });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  const trouble = [];
  page.on('console', (message) => {
    const text = message.text();
    const isProvoked = statuses.some((status) => text.includes(`status of ${status}`));
    const isGone = gone && /net::ERR_(FAILED|CONNECTION|EMPTY|CONTENT|INCOMPLETE)/.test(text);
    const isBlocked = blocked && text.includes('Content Security Policy');
    if (message.type() === 'error' && !isProvoked && !isGone && !isBlocked) trouble.push(`console: ${text} ${message.location().url}`);
  });
  page.on('pageerror', (error) => trouble.push(`unhandled: ${error.stack ?? error}`));
  page.on('request', (request) => {
    const url = request.url();
    if (![server.url, ...origins].some((origin) => url.startsWith(origin)) && !/^(data|blob|about):/.test(url)) trouble.push(`request to ${url}`);
  });
  // The browser itself would ask for a password, over a blank page; without a window it does not show that.
  page.on('response', (response) => {
    if (/^basic/i.test(response.headers()['www-authenticate'] ?? '')) trouble.push(`a password box of the browser at ${response.url()}`);
  });
  await page.addInitScript(() => {
    globalThis.violations = [];
    addEventListener('securitypolicyviolation', (event) => globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
  });
  try {
    await work(page, context);
    if (!blocked) trouble.push(...(await page.evaluate(() => globalThis.violations ?? [])));
  } catch (error) {
    const shown = await page.locator('body').innerText().catch(() => '');
    error.message += `\n  at ${page.url()}\n  with ${JSON.stringify(trouble)}\n  shown: ${shown.slice(0, 1500)}`;
    throw error;
  } finally {
    // A request that a test answers itself may be under way still.
    if (!page.isClosed()) await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  }
  assert.deepEqual(trouble, [], 'the page is clean');
}

/** The violations of WCAG 2.2 A and AA on a page; of one that was looked at in another theme, those of colours. */
export async function violations(page, { coloursAlone = false } = {}) {
  await page.evaluate(AXE);
  const runOnly = coloursAlone ? { type: 'rule', values: OF_COLOURS } : { type: 'tag', values: WCAG };
  const found = await page.evaluate(
    ({ runOnly, exclude }) => globalThis.axe.run({ exclude: exclude.map((one) => [one]) }, { runOnly, resultTypes: ['violations'] }),
    { runOnly, exclude: NOT_OURS },
  );
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target.join(' ')} ${node.failureSummary.split('\n')[1]?.trim() ?? ''}`).join(' | ')}`);
}
