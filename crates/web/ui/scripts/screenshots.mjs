// Pictures of all pages for docs/web/, and the page that shows them: `node scripts/screenshots.mjs BATON`. A server with
// the same content each time, and a clock that stands.
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { closeBrowser, openBrowser } from '../tests/page.mjs';
import { as, crewOf, FILES, SETTINGS } from '../tests/people.mjs';
import { bpmn, deploy, DISCOUNTS, model, search, start, startServer, until } from '../tests/server.mjs';

const TARGET = fileURLToPath(new URL('../../../../docs/web/', import.meta.url));
const GALLERY = fileURLToPath(new URL('../../../../docs/web-pages.md', import.meta.url));
const BYTES_MAX = 150 * 1024;
const NOW = '2026-03-02T09:00:00Z';
const MINUTE_MS = 60_000;
const QUALITY = 80;
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
const PAYMENT = `<message id="m1" name="paid"><extensionElements><z:subscription correlationKey="=number"/></extensionElements></message>`;
const DUNNING = `<startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="wait"/>
<receiveTask id="wait" name="Wait for the money" messageRef="m1"/><sequenceFlow id="f2" sourceRef="wait" targetRef="end"/><endEvent id="end"/>`;
const ORDER = [['job', 'charge', 'charge', 'Charge the card'], ['user', 'review', 'review-form', 'Review the order'], ['job', 'ship', 'ship', 'Ship it']];

process.env.BATON = process.argv[2];
if (!process.argv[2]) {
  console.error('usage: node scripts/screenshots.mjs BATON');
  process.exit(2);
}
const admin = as('admin');
const server = await startServer([...SETTINGS, 'clock.controlled=true', 'secondary_storage.steps=true', 'secondary_storage.durations=true'], { files: FILES });
const { signIn } = crewOf(() => server);

/** The content of the pictures. */
async function seed() {
  let now = Date.parse(NOW) - 10 * MINUTE_MS;
  await server.rest('PUT', '/v2/clock', { timestamp: now }, admin);
  await deploy(
    server,
    {
      'review.form': FORM,
      'order.bpmn': bpmn('order', ORDER, { name: 'Order' }),
      'dunning.bpmn': model('dunning', DUNNING, PAYMENT, 'Dunning'),
      'discounts.dmn': DISCOUNTS,
      'check.bpmn': bpmn('check', [['user', 'inspect', 'review-form', 'Check the invoice']], { name: 'Invoice', startForm: 'review-form' }),
    },
    admin,
  );
  for (let at = 1; at <= 4; at += 1) await start(server, 'order', { amount: at * 120 }, { businessId: `order-${at}` }, admin);
  /** Time passes between what is done, so that there are durations. */
  const wait = async (ms) => server.rest('PUT', '/v2/clock', { timestamp: (now += ms) }, admin);
  await wait(40_000);
  const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type: 'charge', timeout: 60 * MINUTE_MS, maxJobsToActivate: 4, worker: 'charger' }, admin);
  await wait(95_000);
  await server.rest('POST', `/v2/jobs/${jobs[0].jobKey}/failure`, { retries: 0, errorMessage: 'The card was declined.' }, admin);
  for (const { jobKey } of jobs.slice(1)) await server.rest('POST', `/v2/jobs/${jobKey}/completion`, {}, admin);
  for (let at = 1; at <= 2; at += 1) await start(server, 'check', { approved: at === 1 }, {}, admin);
  await until(async () => (await search(server, 'user-tasks', {}, {}, admin)).page.totalItems === 5, 'the tasks are found');
  const { items } = await search(server, 'user-tasks', { processDefinitionId: 'order' }, {}, admin);
  await server.rest('POST', `/v2/user-tasks/${items[0].userTaskKey}/assignment`, { assignee: 'admin' }, admin);
  await server.rest('POST', '/v2/groups', { groupId: 'night', name: 'Night shift' }, admin);
  await server.rest('PUT', '/v2/groups/night/users/ann', undefined, admin);
  await server.rest('POST', '/v2/authorizations', { ownerType: 'GROUP', ownerId: 'night', resourceType: 'DOCUMENT', resourceId: '*', permissionTypes: ['READ'] }, admin);
  await start(server, 'dunning', { number: 'R-17' }, { businessId: 'invoice-17' }, admin);
  await server.rest('POST', '/v2/decision-definitions/evaluation', { decisionDefinitionId: 'discount', variables: { total: 250 } }, admin);
  // A second version, so that there is something to compare with and to migrate to.
  await deploy(server, { 'order.bpmn': bpmn('order', [...ORDER, ['user', 'thank', undefined, 'Say thank you']], { name: 'Order' }) }, admin);
  const suspended = (await search(server, 'process-instances', { processDefinitionId: 'check' }, {}, admin)).items[0].processInstanceKey;
  const { batchOperationKey } = await server.rest('POST', '/v2/process-instances/suspension', { filter: { processInstanceKey: suspended } }, admin);
  await server.rest('POST', '/v2/tenants', { tenantId: 'north', name: 'North' }, admin);
  await server.rest('POST', '/v2/cluster-variables/global', { name: 'discount-limit', value: { percent: 15 } }, admin);
  await server.rest('POST', '/v2/global-task-listeners', { id: 'mail', type: 'mail-assignee', eventTypes: ['assigning'] }, admin);
  await server.rest('PUT', '/v2/clock', { timestamp: Date.parse(NOW) }, admin);
  for (const [what, filter, number] of [['incidents', {}, 1], ['message-subscriptions', {}, 1], ['decision-instances', {}, 1], ['process-definitions', { processDefinitionId: 'order' }, 2], ['process-instances', { state: 'SUSPENDED' }, 1]]) {
    await until(async () => (await search(server, what, filter, {}, admin)).page.totalItems === number, `${what} are found`);
  }
  const [evaluation] = (await search(server, 'decision-instances', {}, {}, admin)).items;
  const [incident] = (await search(server, 'incidents', {}, {}, admin)).items;
  return { task: items[0].userTaskKey, instance: incident.processInstanceKey, batch: batchOperationKey, evaluation: evaluation.decisionEvaluationInstanceKey };
}

const DRAWN = '.diagram[data-drawn]';
const ROW = 'tbody tr';
/** Pages by area: name, words, address, and what shows that it is there. */
const areas = (keys) => ({
  Operate: [
    ['overview', 'Overview', '/operate', 'table'],
    ['instances', 'Process instances', '/operate/processes?process=order&active=true&incidents=true', DRAWN],
    ['instance', 'One instance, with its incidents', `/operate/processes/${keys.instance}/incidents`, DRAWN],
    ['variables', 'Variables', `/operate/processes/${keys.instance}/variables`, `main ${ROW}`],
    ['timeline', 'Timeline', `/operate/processes/${keys.instance}/timeline`, '.timeline button'],
    ['details', 'Details of an element', `/operate/processes/${keys.instance}/details?element=charge`, DRAWN],
    ['history', 'Time travel', `/operate/processes/${keys.instance}/history`, DRAWN],
    ['modification', 'Modification', `/operate/processes/${keys.instance}?modify=true`, DRAWN],
    ['migration', 'Migration', `/operate/migrate?process=order&version=1&ids=${keys.instance}&target=order&targetVersion=2`, DRAWN],
    ['incidents', 'Incidents', '/operate/incidents', `main ${ROW}`],
    ['definitions', 'Processes', '/operate/definitions', `main ${ROW}`],
    ['definition', 'A process, with the differences to the version before', '/operate/definitions/order?version=2&compare=1', DRAWN],
    ['durations', 'Where time goes', '/operate/definitions/order/durations?version=1', DRAWN],
    ['decisions', 'Decisions', '/operate/decisions?decision=discount', '.dmn[data-drawn]'],
    ['evaluation', 'An evaluation, with the rule that matched', `/operate/decisions/${keys.evaluation}`, '.dmn[data-drawn] tr.matched'],
    ['messages', 'Messages', '/operate/messages', `main ${ROW}`],
    ['jobs', 'Jobs and workers', '/operate/jobs', `main ${ROW}`],
    ['quarantine', 'Banned instances', '/operate/quarantine', '.empty'],
    ['batches', 'Batch operations', '/operate/batch-operations', `main ${ROW}`],
    ['batch', 'A batch operation', `/operate/batch-operations/${keys.batch}`, `main ${ROW}`],
    ['operate-log', 'Operations log', '/operate/operations-log', `main ${ROW}`],
  ],
  Tasklist: [
    ['tasks', 'Tasks', '/tasklist?filter=all-open', '.task'],
    ['task', 'A task with its form', `/tasklist/${keys.task}`, '.form[data-drawn]'],
    ['task-process', 'The process of a task', `/tasklist/${keys.task}/process`, DRAWN],
    ['task-history', 'The history of a task', `/tasklist/${keys.task}/history`, `main ${ROW}`],
    ['start', 'Processes that can be started', '/tasklist/processes', '.tiles section'],
    ['start-form', 'Start with a form', '/tasklist/processes/check/start', '.form[data-drawn]'],
  ],
  Admin: [
    ['users', 'Users', '/admin/users', `main ${ROW}`],
    ['user', 'A user with groups and roles', '/admin/users/ann', 'main h2'],
    ['groups', 'Groups', '/admin/groups', `main ${ROW}`],
    ['group', 'A group and its members', '/admin/groups/night', `main ${ROW}`],
    ['roles', 'Roles', '/admin/roles', `main ${ROW}`],
    ['role', 'A role and its members', '/admin/roles/admin', `main ${ROW}`],
    ['tenants', 'Tenants', '/admin/tenants', `main ${ROW}`],
    ['tenant', 'A tenant and its members', '/admin/tenants/north', 'main div.empty, main tbody tr'],
    ['mapping-rules', 'Mapping rules', '/admin/mapping-rules', 'main div.empty'],
    ['authorizations', 'Authorizations', '/admin/authorizations', ROW],
    ['access', 'Effective permissions', '/admin/access?kind=USER&id=ann', ROW],
    ['cluster-variables', 'Cluster variables', '/admin/cluster-variables', `main ${ROW}`],
    ['task-listeners', 'Global task listeners', '/admin/global-task-listeners', `main ${ROW}`],
    ['operations-log', 'Operations log', '/admin/operations-log', ROW],
    ['usage', 'Usage', '/admin/usage', `main ${ROW}`],
    ['cluster', 'Cluster', '/admin/cluster', `main ${ROW}`],
    ['about', 'About, with licences', '/admin/about', 'main h1'],
  ],
});

/** The page of docs/ that shows all pictures. */
function gallery(all) {
  const shown = ([name, words]) => `| ${words} | ![${words}, light](web/${name}-light.webp) | ![${words}, dark](web/${name}-dark.webp) |`;
  const section = ([area, pages]) => [`## ${area}`, '', '| page | light | dark |', '|---|---|---|', ...pages.map(shown), ''];
  const head = ['# Pages in pictures', '', 'All pages of [the web application](web.md), in light and dark. `make screenshots` takes the pictures and writes this', 'page: of a server with the same content each time and a clock that stands.', ''];
  return [...head, ...Object.entries({ 'Sign in': [['login', 'Login']], ...all }).flatMap(section)].join('\n');
}

try {
  const keys = await seed();
  const all = areas(keys);
  mkdirSync(TARGET, { recursive: true });
  for (const colorScheme of ['light', 'dark']) {
    const context = await (await openBrowser()).newContext({ viewport: SIZE, colorScheme, locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce' });
    const page = await context.newPage();
    await page.clock.setFixedTime(NOW);
    // WebP takes a third of the bytes of PNG; only the protocol of the browser makes it.
    const session = await context.newCDPSession(page);
    const take = async (name) => {
      const path = `${TARGET}${name}-${colorScheme}.webp`;
      await page.evaluate(() => document.activeElement?.blur());
      const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
      writeFileSync(path, Buffer.from(data, 'base64'));
      const { size } = statSync(path);
      if (size > BYTES_MAX) throw new Error(`${path} has ${size} bytes: at most ${BYTES_MAX} are allowed`);
      console.log(`${(size / 1024).toFixed(0).padStart(4)} KiB  docs/web/${name}-${colorScheme}.webp`);
    };
    await page.goto(`${server.url}/login`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await take('login');
    await signIn(page, 'admin', '/login');
    await page.waitForURL((url) => url.pathname !== '/login');
    for (const [name, , path, there] of Object.values(all).flat()) {
      await page.goto(server.url + path);
      await page.locator(there).first().waitFor();
      await page.evaluate(() => document.fonts.ready);
      await take(name);
    }
    await context.close();
  }
  writeFileSync(GALLERY, gallery(all));
} finally {
  await closeBrowser();
  await server.stop();
}
