// Pictures of pages for docs/web/: `node scripts/screenshots.mjs BATON`. A server with the same content each time, and a
// clock that stands.
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { closeBrowser, openBrowser } from '../tests/page.mjs';
import { as, crewOf, FILES, SETTINGS } from '../tests/people.mjs';
import { bpmn, deploy, search, start, startServer, until } from '../tests/server.mjs';

const TARGET = fileURLToPath(new URL('../../../../docs/web/', import.meta.url));
const BYTES_MAX = 150 * 1024;
const NOW = '2026-03-02T09:00:00Z';
const SIZE = { width: 1280, height: 760 };
const FORM = JSON.stringify({
  type: 'default',
  id: 'review-form',
  schemaVersion: 16,
  components: [
    { type: 'text', id: 'Field_t', text: '## Review the order' },
    { type: 'textfield', id: 'Field_c', key: 'comment', label: 'Comment' },
    { type: 'checkbox', id: 'Field_a', key: 'approved', label: 'Approved' },
  ],
});

process.env.BATON = process.argv[2];
if (!process.argv[2]) {
  console.error('usage: node scripts/screenshots.mjs BATON');
  process.exit(2);
}
const admin = as('admin');
const server = await startServer([...SETTINGS, 'clock.controlled=true'], { files: FILES });
const { signIn } = crewOf(() => server);

/** The content of the pictures. */
async function seed() {
  await server.rest('PUT', '/v2/clock', { timestamp: Date.parse(NOW) }, admin);
  await deploy(
    server,
    {
      'review.form': FORM,
      'order.bpmn': bpmn('order', [['job', 'charge', 'charge', 'Charge the card'], ['user', 'review', 'review-form', 'Review the order'], ['job', 'ship', 'ship', 'Ship it']], { name: 'Order' }),
      'check.bpmn': bpmn('check', [['user', 'inspect', 'review-form', 'Check the invoice']], { name: 'Invoice', startForm: 'review-form' }),
    },
    admin,
  );
  for (let at = 1; at <= 4; at += 1) await start(server, 'order', { amount: at * 120 }, { businessId: `order-${at}` }, admin);
  const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type: 'charge', timeout: 60_000, maxJobsToActivate: 4, worker: 'docs' }, admin);
  await server.rest('POST', `/v2/jobs/${jobs[0].jobKey}/failure`, { retries: 0, errorMessage: 'The card was declined.' }, admin);
  for (const { jobKey } of jobs.slice(1)) await server.rest('POST', `/v2/jobs/${jobKey}/completion`, {}, admin);
  for (let at = 1; at <= 2; at += 1) await start(server, 'check', { approved: at === 1 }, {}, admin);
  await until(async () => (await search(server, 'user-tasks', {}, {}, admin)).page.totalItems === 5, 'the tasks are found');
  const { items } = await search(server, 'user-tasks', { processDefinitionId: 'order' }, {}, admin);
  await server.rest('POST', `/v2/user-tasks/${items[0].userTaskKey}/assignment`, { assignee: 'admin' }, admin);
  await server.rest('POST', '/v2/groups', { groupId: 'night', name: 'Night shift' }, admin);
  await server.rest('PUT', '/v2/groups/night/users/ann', undefined, admin);
  await server.rest('POST', '/v2/authorizations', { ownerType: 'GROUP', ownerId: 'night', resourceType: 'DOCUMENT', resourceId: '*', permissionTypes: ['READ'] }, admin);
  await until(async () => (await search(server, 'incidents', {}, {}, admin)).page.totalItems === 1, 'the incident is found');
  const [incident] = (await search(server, 'incidents', {}, {}, admin)).items;
  return { task: items[0].userTaskKey, instance: incident.processInstanceKey };
}

try {
  const keys = await seed();
  const PAGES = [
    ['overview', '/operate', 'table'],
    ['instances', '/operate/processes?process=order&active=true&incidents=true', '.diagram[data-drawn]'],
    ['instance', `/operate/processes/${keys.instance}/incidents`, '.diagram[data-drawn]'],
    ['task', `/tasklist/${keys.task}`, '.form[data-drawn]'],
    ['start', '/tasklist/processes', '.tiles section'],
    ['authorizations', '/admin/authorizations', 'tbody tr'],
    ['access', '/admin/access?kind=USER&id=ann', 'tbody tr'],
    ['operations-log', '/admin/operations-log', 'tbody tr'],
  ];
  mkdirSync(TARGET, { recursive: true });
  for (const colorScheme of ['light', 'dark']) {
    const context = await (await openBrowser()).newContext({ viewport: SIZE, colorScheme, locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce' });
    const page = await context.newPage();
    await page.clock.setFixedTime(NOW);
    const take = async (name) => {
      const path = `${TARGET}${name}-${colorScheme}.png`;
      writeFileSync(path, await page.screenshot({ animations: 'disabled', caret: 'hide' }));
      const { size } = statSync(path);
      if (size > BYTES_MAX) throw new Error(`${path} has ${size} bytes: at most ${BYTES_MAX} are allowed`);
      console.log(`${(size / 1024).toFixed(0).padStart(4)} KiB  docs/web/${name}-${colorScheme}.png`);
    };
    await page.goto(`${server.url}/login`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await take('login');
    await signIn(page, 'admin', '/login');
    await page.waitForURL((url) => url.pathname !== '/login');
    for (const [name, path, there] of PAGES) {
      await page.goto(server.url + path);
      await page.locator(there).first().waitFor();
      await page.evaluate(() => document.fonts.ready);
      await take(name);
    }
    await context.close();
  }
} finally {
  await closeBrowser();
  await server.stop();
}
