// A server with a data directory of its own, and what it was told and did, over REST.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { standBefore } from './fresh.mjs';

const READY_MS = 60_000;
const STOP_MS = 20_000;
const SETTLED_MS = 20_000;
const TROUBLE = /\b(WARN|ERROR)\b|panicked at/;

/** Starts a server. Its data are in `data`, if that is named, and are kept; else they are gone with it. */
export async function startServer(settings = [], { files = {}, expected = [], data } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-web-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const set = settings.flatMap((one) => ['--set', one.replace('@FOLDER@', folder)]);
  const ports = ['--rest', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--management', '127.0.0.1:0'];
  const process_ = spawn(process.env.BATON, ['start', '--data-dir', data ?? join(folder, 'data'), ...ports, ...set], { stdio: ['ignore', 'pipe', 'pipe'] });
  const log = [];
  for (const stream of [process_.stdout, process_.stderr]) createInterface(stream).on('line', (line) => log.push(line));
  const ended = new Promise((done) => process_.on('exit', done));
  const ready = await until(() => log.find((line) => line.includes('baton ready in')) ?? (process_.exitCode !== null && 'ended'), `the server is not ready:\n${log.join('\n')}`, READY_MS);
  const isOn = !settings.includes('web.enabled=false');
  const told = / web=(http:\/\/127\.0\.0\.1:\d+\/\S*)/.exec(ready);
  assert.equal(told !== null, isOn, `the ready line names the web application if it is there:\n${log.join('\n')}`);
  const at = (name) => `http://${new RegExp(` ${name}=(\\S+)`).exec(ready)[1]}`;
  const { origin, pathname } = new URL(told?.[1] ?? `${at('rest')}/`);
  const front = process.env.FRESH ? await standBefore(origin, pathname.slice(0, -1)) : undefined;
  const url = front?.url ?? origin;
  return {
    url,
    /** The server's own address, if another one stands before it. */
    own: origin,
    grpc: at('grpc'),
    management: at('management'),
    readyMs: Number(/ready in (\d+) ms/.exec(ready)[1]),
    pid: process_.pid,
    rest: (method, path, body, headers = {}) => rest(url, method, path, body, headers),
    async stop() {
      front?.close();
      process_.kill('SIGTERM');
      const code = await Promise.race([ended, new Promise((done) => setTimeout(() => done('late'), STOP_MS))]);
      if (code === 'late') process_.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
      assert.equal(code, 0, `the server ended with ${code}:\n${log.slice(-20).join('\n')}`);
      const trouble = log.filter((line) => TROUBLE.test(line) && !expected.some((pattern) => pattern.test(line)));
      assert.deepEqual(trouble, [], 'the server logged trouble');
    },
  };
}

async function rest(url, method, path, body, headers) {
  const isForm = body instanceof FormData;
  const text = typeof body === 'string' || isForm || body === undefined ? body : JSON.stringify(body);
  const answer = await fetch(url + path, { method, body: text, headers: { ...(text === undefined || isForm ? {} : { 'content-type': 'application/json' }), ...headers } });
  const content = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${content}`);
  return content === '' ? undefined : content.startsWith('{') || content.startsWith('[') ? JSON.parse(content) : content;
}

/** Waits for something to be so. */
export async function until(condition, otherwise, within = SETTLED_MS) {
  const end = Date.now() + within;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() >= end) assert.fail(typeof otherwise === 'function' ? await otherwise() : otherwise);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Deploys texts by file name. */
export async function deploy(server, files, headers) {
  const form = new FormData();
  for (const [name, text] of Object.entries(files)) form.append('resources', new Blob([text]), name);
  return server.rest('POST', '/v2/deployments', form, headers);
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const ZEEBE = 'http://camunda.org/schema/zeebe/1.0';
const job = (type) => `<z:taskDefinition type="${type}" retries="1"/>`;
const KINDS = {
  job: ['serviceTask', job],
  user: ['userTask', (form) => `<z:userTask/>${form ? `<z:formDefinition formId="${form}"/>` : ''}`],
  manual: ['manualTask', () => ''],
  shared: ['userTask', (group) => `<z:userTask/><z:assignmentDefinition assignee="=person" candidateGroups="${group}"/>`],
  call: ['callActivity', (process) => `<z:calledElement processId="${process}"/>`],
  decision: ['businessRuleTask', (id) => `<z:calledDecision decisionId="${id}" resultVariable="decided"/>`],
};

/** A process of tasks in a row, each `[kind, id, of, name]`, with a diagram unless it is left out. */
export function bpmn(id, tasks, { name = id, hasDiagram = true, startForm } = {}) {
  const nodes = ['start', ...tasks.map(([, task]) => task), 'end'];
  const inner = tasks.map(([kind, task, of, label]) => {
    const [tag, extension] = KINDS[kind];
    return `<${tag} id="${task}" name="${escaped(label ?? task)}"><extensionElements>${extension(of)}</extensionElements></${tag}>`;
  });
  const flows = nodes.slice(1).map((to, at) => `<sequenceFlow id="to_${to}" sourceRef="${nodes[at]}" targetRef="${to}"/>`);
  const form = startForm ? `<extensionElements><z:formDefinition formId="${startForm}"/></extensionElements>` : '';
  const x = (at) => 160 + at * 160;
  const shapes = nodes.map((node, at) => {
    const isEvent = at === 0 || at === nodes.length - 1;
    const [width, height] = isEvent ? [36, 36] : [100, 80];
    return `<di:BPMNShape id="${node}_di" bpmnElement="${node}"><dc:Bounds x="${x(at)}" y="${100 - height / 2}" width="${width}" height="${height}"/></di:BPMNShape>`;
  });
  const edges = nodes.slice(1).map((to, at) => {
    const from = x(at) + (at === 0 ? 36 : 100);
    return `<di:BPMNEdge id="to_${to}_di" bpmnElement="to_${to}"><oi:waypoint x="${from}" y="100"/><oi:waypoint x="${x(at + 1)}" y="100"/></di:BPMNEdge>`;
  });
  const plane = hasDiagram ? `<di:BPMNDiagram id="d"><di:BPMNPlane id="p" bpmnElement="${id}">${shapes.join('')}${edges.join('')}</di:BPMNPlane></di:BPMNDiagram>` : '';
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:z="${ZEEBE}" xmlns:di="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:oi="http://www.omg.org/spec/DD/20100524/DI" id="m" targetNamespace="t">
<process id="${id}" name="${escaped(name)}" isExecutable="true"><startEvent id="start">${form}</startEvent>${inner.join('')}<endEvent id="end"/>${flows.join('')}</process>${plane}</definitions>`;
}

/** A process with a task for each item of a list, without a diagram. */
export const forEach = (id, type) => `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:z="${ZEEBE}" id="m" targetNamespace="t">
<process id="${id}" isExecutable="true"><startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="each"/>
<serviceTask id="each" name="Each"><extensionElements>${job(type)}</extensionElements>
<multiInstanceLoopCharacteristics><extensionElements><z:loopCharacteristics inputCollection="=items" inputElement="item"/></extensionElements></multiInstanceLoopCharacteristics></serviceTask>
<sequenceFlow id="b" sourceRef="each" targetRef="end"/><endEvent id="end"/></process></definitions>`;

/** Starts instances and gives their keys. */
export async function start(server, processDefinitionId, variables = {}, more = {}, headers = {}) {
  const created = await server.rest('POST', '/v2/process-instances', { processDefinitionId, variables, ...more }, headers);
  return created.processInstanceKey;
}

/** Fails a job of the type for good, as a worker with bad luck. */
export async function fail(server, type, errorMessage) {
  const { jobs } = await server.rest('POST', '/v2/jobs/activation', { type, timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 5000 });
  assert.equal(jobs.length, 1, `there is a job of the type ${type}`);
  await server.rest('POST', `/v2/jobs/${jobs[0].jobKey}/failure`, { retries: 0, errorMessage });
  return jobs[0];
}

export const search = (server, what, filter, more = {}, headers = {}) => server.rest('POST', `/v2/${what}/search`, { filter, ...more }, headers);

/** A process of the given elements, without a diagram; `more` stands beside it. */
export const model = (id, elements, more = '', name = id) => `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:z="${ZEEBE}" id="m" targetNamespace="t">${more}
<process id="${id}" name="${escaped(name)}" isExecutable="true">${elements}</process></definitions>`;

/** A decision with a table of two rules. */
export const DISCOUNTS = `<?xml version="1.0"?><definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="discounts" name="Discounts" namespace="n">
<decision id="discount" name="Discount"><variable id="v" name="discount" typeRef="number"/>
<decisionTable id="table" hitPolicy="FIRST"><input id="in" label="Total"><inputExpression id="ie" typeRef="number"><text>total</text></inputExpression></input>
<output id="out" label="Discount" name="discount" typeRef="number"/>
<rule id="rule_small"><inputEntry id="a"><text>&lt; 100</text></inputEntry><outputEntry id="b"><text>0</text></outputEntry></rule>
<rule id="rule_large"><inputEntry id="c"><text>&gt;= 100</text></inputEntry><outputEntry id="d"><text>10</text></outputEntry></rule>
</decisionTable></decision></definitions>`;
