// Files that users upload, opened by a browser that is signed in: nothing in them runs.
//
// A recorder stands between browser and server. The last test takes the protection away there and tells files as their
// uploaders named them: every script must run then, or the other tests would prove nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchChromium } from './chromium.js';
import { RAN, startRecorder } from './recorder.js';
import { environment as e, model } from './server.js';

const options = { timeout: 120_000 };
const DEADLINE_MS = 60_000;
/** Any page of the server. */
const PAGE = '/v2/license';
const XHTML = 'http://www.w3.org/1999/xhtml';

const address = () => e('BATON_PASSWORD_REST_ADDRESS');
const credentials = () => `Basic ${Buffer.from(`${e('BATON_USER')}:${e('BATON_USER_PASSWORD')}`).toString('base64')}`;

async function ask(path, init = {}) {
  const answer = await fetch(address() + path, { ...init, headers: { authorization: credentials() } });
  assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.clone().text()}`);
  return answer;
}

async function upload(content, type, name) {
  const form = new FormData();
  form.append('file', new Blob([content], { type }), name);
  const { documentId } = await (await ask('/v2/documents', { method: 'POST', body: form })).json();
  return `/v2/documents/${documentId}`;
}

async function deploy(content, name) {
  const form = new FormData();
  form.append('resources', new Blob([content], { type: 'application/octet-stream' }), name);
  const { deployments } = await (await ask('/v2/deployments', { method: 'POST', body: form })).json();
  return Object.assign({}, ...deployments.map((one) => Object.fromEntries(Object.entries(one).filter(([, v]) => v))));
}

/** Reports that it runs, and does what only the user may whose session it is. */
const script = (file, processId) => `
  const way = new URLSearchParams(location.search).get("way");
  fetch("${RAN}?" + new URLSearchParams({ file: "${file}", way: way ?? "script" }));
  const token = document.cookie.split("X-CSRF-TOKEN=").pop().split(";").shift();
  const headers = { "content-type": "application/json", "x-csrf-token": token };
  fetch("/v2/process-instances", { method: "POST", headers, body: JSON.stringify({ processDefinitionId: "${processId}" }) });
`;

/** Paths by name, and what the uploader said that they are. */
async function uploadAll() {
  const files = new Map();
  const target = model('task');
  await deploy(target.xml, target.resource);
  const inHtml = (file) => `<script>${script(file, target.id)}</script>`;
  const inXml = (file) => `<script xmlns="${XHTML}"><![CDATA[${script(file, target.id)}]]></script>`;
  const add = async (file, type, content) => files.set(file, { path: await upload(content, type, file), type });

  await add('größe.html', 'text/html', `<!doctype html><meta charset="utf-8">${inHtml('größe.html')}`);
  await add('page.xhtml', 'application/xhtml+xml', `<html xmlns="${XHTML}"><body>${inXml('page.xhtml')}</body></html>`);
  const svg = (file) => `<svg xmlns="http://www.w3.org/2000/svg"><script><![CDATA[${script(file, target.id)}]]></script></svg>`;
  await add('image.svg', 'image/svg+xml', svg('image.svg'));
  await add('data.xml', 'text/xml', `<data>${inXml('data.xml')}</data>`);
  await add('code.js', 'text/javascript', script('code.js', target.id));

  const styled = (file) => `<?xml-stylesheet type="text/xsl" href="${files.get(file).path}"?>`;
  const style = (file) =>
    `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output method="html"/>
     <xsl:template match="/"><html><body>${inHtml(file).replaceAll('&', '&amp;')}</body></html></xsl:template></xsl:stylesheet>`;
  for (const file of ['styled.xml', 'styled.bpmn', 'styled.dmn']) await add(`${file}.xsl`, 'text/xsl', style(file));
  await add('styled.xml', 'text/xml', `${styled('styled.xml.xsl')}<data/>`);

  const bpmn = (head, inside) => {
    const m = model('task');
    const body = m.xml.replace(/<\?xml[^>]*\?>/, '').replace(/(<(?:\w+:)?process\b[^>]*>)/, `$1${inside}`);
    return deploy(`<?xml version="1.0"?>${head}${body}`, m.resource);
  };
  const definition = (d) => `/v2/process-definitions/${d.processDefinition.processDefinitionKey}/xml`;
  const DOCUMENTATION = (text) =>
    `<d:documentation xmlns:d="http://www.omg.org/spec/BPMN/20100524/MODEL">${text}</d:documentation>`;
  files.set('script.bpmn', { path: definition(await bpmn('', DOCUMENTATION(inXml('script.bpmn')))), type: 'text/xml' });
  files.set('styled.bpmn', { path: definition(await bpmn(styled('styled.bpmn.xsl'), '')), type: 'text/xml' });

  const dmn = (head, id, inside) =>
    `<?xml version="1.0"?>${head}<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="${id}" name="d" namespace="n">
     <decision id="${id}_1" name="d"><description>${inside}</description><variable name="x"/>
     <literalExpression><text>1</text></literalExpression></decision></definitions>`;
  const decided = async (file, head, inside) => {
    const xml = dmn(head, model('task').id.replaceAll('-', '_'), inside);
    const { decisionRequirements } = await deploy(xml, file);
    return `/v2/decision-requirements/${decisionRequirements.decisionRequirementsKey}/xml`;
  };
  files.set('script.dmn', { path: await decided('script.dmn', '', inXml('script.dmn')), type: 'text/xml' });
  files.set('styled.dmn', { path: await decided('styled.dmn', styled('styled.dmn.xsl'), ''), type: 'text/xml' });

  const { resource } = await deploy(`<!doctype html><body>${inHtml('resource.html')}`, 'resource.html');
  files.set('resource.html', { path: `/v2/resources/${resource.resourceKey}/content`, type: 'text/html' });
  return files;
}

/** Opens every file in every way that a page or a link may. Gives what has been opened, as `file by way`. */
async function openAll(browser, recorder, files) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.goto(recorder.origin + PAGE);
  const signedIn = await page.evaluate(
    async (username, password) => {
      const answer = await fetch('/login', { method: 'POST', body: new URLSearchParams({ username, password }) });
      const me = await fetch('/v2/authentication/me');
      return [answer.status, me.status, document.cookie.includes('X-CSRF-TOKEN=')];
    },
    e('BATON_USER'),
    e('BATON_USER_PASSWORD'),
  );
  assert.deepEqual(signedIn, [204, 200, true], 'the browser is not signed in');
  const opened = new Set();
  for (const [file, { path, type }] of files) {
    if (type === 'text/xsl') continue;
    const ways = type === 'text/javascript' ? ['script'] : ['iframe', 'object', 'embed'];
    for (const way of ways) {
      opened.add(`${file} by ${way}`);
      await page.evaluate(
        (way, path) => {
          const element = document.createElement(way);
          element.setAttribute(way === 'object' ? 'data' : 'src', `${path}?way=${way}`);
          document.body.append(element);
        },
        way,
        path,
      );
    }
    if (type === 'text/javascript') continue;
    opened.add(`${file} by link`);
    const tab = await context.newPage();
    await tab.goto(`${recorder.origin}${path}?way=link`).catch((error) => {
      // A download leaves the page where it was.
      assert.match(error.message, /ERR_ABORTED/, file);
    });
  }
  for (const { path } of [...files.values()].filter((f) => f.type !== 'text/xsl')) {
    const isAnswered = () => recorder.seen.some((entry) => entry.path === path && entry.status === 200);
    await until(`${path} was not fetched`, isAnswered);
  }
  return opened;
}

async function until(otherwise, condition) {
  const end = performance.now() + DEADLINE_MS;
  while (!condition()) {
    assert.ok(performance.now() < end, typeof otherwise === 'function' ? otherwise() : otherwise);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

let browser;
let files;
const recorders = [];

before(async () => {
  browser = await launchChromium();
  files = await uploadAll();
}, options);

after(async () => {
  await browser?.close();
  for (const recorder of recorders) recorder.stop();
});

async function recorder(more) {
  const namedTypes = new Map([...files.values()].map(({ path, type }) => [path, type]));
  recorders.push(await startRecorder(address(), { namedTypes, ...more }));
  return recorders.at(-1);
}

const writes = (seen) => seen.filter((entry) => entry.method !== 'GET' && entry.path !== '/login');

test('nothing in uploaded files runs, even if they were shown as what they are said to be', options, async () => {
  const asServed = await recorder({});
  // As some proxy or page may have it, that takes attachments for a nuisance.
  const inSandbox = await recorder({ keep: ['content-security-policy'] });
  const unprotected = await recorder({ keep: [] });
  await openAll(browser, asServed, files);
  // A policy is for documents: scripts alone are kept back by their media type.
  const documents = new Map([...files].filter(([, { type }]) => type !== 'text/javascript'));
  await openAll(browser, inSandbox, documents);
  // Opened last, so that once all of these have run, the others had their time.
  const opened = await openAll(browser, unprotected, files);
  const missing = () => [...opened].filter((one) => !unprotected.ran().has(one));
  await until(() => `these scripts prove nothing: ${missing().join(', ')}`, () => missing().length === 0);
  const created = () => writes(unprotected.seen).filter((entry) => entry.status === 200);
  await until('no script could act for the user, so they prove little', () => created().length > 0);

  for (const [name, { ran, seen }] of [['as served', asServed], ['in a sandbox', inSandbox]]) {
    assert.deepEqual([...ran()], [], `scripts ran: ${name}`);
    assert.deepEqual(writes(seen), [], `something was changed: ${name}`);
  }
});

test('clients read names and types of files', options, async () => {
  const { path } = files.get('größe.html');
  const { headers } = await ask(path);
  assert.equal(headers.get('content-type'), 'application/octet-stream');
  assert.match(headers.get('content-disposition'), /^attachment; .*filename\*=UTF-8''gr%C3%B6%C3%9Fe\.html$/);
  const xml = await ask(files.get('script.bpmn').path);
  assert.equal(xml.headers.get('content-type'), 'text/xml');
});
