// What goes beyond jobs and messages, with @camunda8/orchestration-cluster-api; every response is checked against the API's schema.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createCamundaClient } from '@camunda8/orchestration-cluster-api';
import { model, restAddress } from './server.js';

const options = { timeout: 60_000 };
const AWAIT_MS = 20_000;
/** Reads come from the engine itself here, so there is nothing to wait for. */
const now = { consistency: { waitUpToMs: 0 } };

let c;
before(() => {
  c = createCamundaClient({
    config: {
      CAMUNDA_REST_ADDRESS: restAddress(),
      CAMUNDA_AUTH_STRATEGY: 'NONE',
      CAMUNDA_SDK_VALIDATION: 'req:none,res:strict',
      CAMUNDA_SDK_LOG_LEVEL: 'silent',
    },
  });
});
const it = (title, run) => test(`rest 8.9: ${title}`, options, run);

async function deployed(name, ...more) {
  const m = model(name);
  m.deployment = await c.deployResourcesFromFiles([m.file, ...more.map((resource) => m.fileOf(resource))]);
  return m;
}

const create = (m, variables = {}, more = {}) =>
  c.createProcessInstance({ processDefinitionId: m.id, variables, ...more });

const awaited = (m, variables = {}, more = {}) =>
  create(m, variables, { awaitCompletion: true, requestTimeout: AWAIT_MS, ...more });

async function job(type) {
  const { jobs } = await c.activateJobs({ type, timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 15_000 });
  assert.equal(jobs.length, 1);
  return jobs[0];
}

const complete = async (type, variables = {}) => {
  const taken = await job(type);
  await c.completeJob({ jobKey: taken.jobKey, variables });
  return taken;
};

const refused = async (status, promise) => {
  const error = await promise.then(
    () => assert.fail(`expected ${status}, but it was accepted`),
    (e) => e,
  );
  assert.equal(error.status, status, error.message);
  return error.detail;
};

// --- decisions ---

it('evaluates a decision by ID and by key', async () => {
  const m = await deployed('rule', 'rule.dmn');
  const [decision] = m.deployment.decisions;
  assert.equal(decision.decisionDefinitionId, `${m.id}-discount`);
  const byId = await c.evaluateDecision({ decisionDefinitionId: decision.decisionDefinitionId, variables: { total: 150 } });
  assert.equal(byId.output, '10');
  assert.equal(byId.evaluatedDecisions[0].matchedRules[0].ruleId, 'large');
  const byKey = await c.evaluateDecision({ decisionDefinitionKey: decision.decisionDefinitionKey, variables: { total: 5 } });
  assert.equal(byKey.output, '0');
  await refused(404, c.evaluateDecision({ decisionDefinitionId: 'nowhere', variables: {} }));
});

it('a business rule task stores what its decision gives', async () => {
  const m = await deployed('rule', 'rule.dmn');
  const done = await awaited(m, { total: 120 });
  assert.equal(done.variables.discount, 10);
});

// --- multi-instance ---

it('collects the outputs of a multi-instance in order', async () => {
  const m = await deployed('multi');
  const done = await awaited(m, { items: [5, 6, 7] });
  assert.deepEqual(done.variables.products, [5, 12, 21]);
  const none = await awaited(m, { items: [] });
  assert.deepEqual(none.variables.products, []);
});

// --- signals ---

it('a signal reaches everyone who waits for it', async () => {
  const m = await deployed('signal');
  const first = awaited(m);
  const second = awaited(m);
  // The creations are on their way; signals go on until both have been reached.
  const both = Promise.all([first, second]);
  let over = false;
  both.finally(() => (over = true)).catch(() => {});
  while (!over) {
    await c.broadcastSignal({ signalName: m.id, variables: { seen: true } });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const done of await both) assert.equal(done.variables.seen, true);
});

// --- user tasks ---

it('a user task goes through its listeners and hands', async () => {
  const m = await deployed('user-task');
  const result = awaited(m, { who: 'ann' });
  const creating = await job(`${m.id}-creating`);
  assert.equal(creating.kind, 'TASK_LISTENER');
  assert.equal(creating.listenerEventType, 'CREATING');
  assert.deepEqual(creating.userTask.candidateGroups, ['sales', 'support']);
  assert.equal(creating.userTask.priority, 60);
  const { userTaskKey } = creating.userTask;
  await c.completeJob({
    jobKey: creating.jobKey,
    result: { type: 'userTask', corrections: { priority: 70 }, denied: false },
  });

  await c.updateUserTask({ userTaskKey, changeset: { candidateUsers: ['bob'] } });
  await c.unassignUserTask({ userTaskKey });
  await c.assignUserTask({ userTaskKey, assignee: 'bob', allowOverride: false });
  await refused(409, c.assignUserTask({ userTaskKey, assignee: 'eve', allowOverride: false }));

  const denied = refused(409, c.completeUserTask({ userTaskKey, variables: { ok: false } }));
  const first = await job(`${m.id}-completing`);
  assert.equal(first.userTask.assignee, 'bob');
  await c.completeJob({ jobKey: first.jobKey, result: { type: 'userTask', denied: true, deniedReason: 'not yet' } });
  assert.match(await denied, /not yet/);

  const completed = c.completeUserTask({ userTaskKey, variables: { ok: true } });
  const second = await job(`${m.id}-completing`);
  await c.completeJob({ jobKey: second.jobKey, result: { type: 'userTask', denied: false } });
  await completed;
  assert.equal((await result).variables.ok, true);
  await refused(404, c.completeUserTask({ userTaskKey }));
});

// --- modification, migration, instructions ---

it('starts at an element and stops after one', async () => {
  const m = await deployed('two-steps');
  const result = awaited(m, {}, { startInstructions: [{ elementId: 'second' }] });
  assert.equal((await complete(m.id)).elementId, 'second');
  await result;

  const { processInstanceKey } = await create(m, {}, {
    runtimeInstructions: [{ type: 'TERMINATE_PROCESS_INSTANCE', afterElementId: 'first' }],
  });
  await complete(m.id);
  await refused(404, c.cancelProcessInstance({ processInstanceKey }));
});

it('a modification moves an instance on', async () => {
  const m = await deployed('two-steps');
  const result = create(m, {});
  const { processInstanceKey } = await result;
  const first = await job(m.id);
  await c.modifyProcessInstance({
    processInstanceKey,
    activateInstructions: [{ elementId: 'second', variableInstructions: [{ variables: { moved: true } }] }],
    terminateInstructions: [{ elementInstanceKey: first.elementInstanceKey }],
  });
  const second = await job(m.id);
  assert.equal(second.elementId, 'second');
  assert.equal(second.variables.moved, true);
  await refused(404, c.completeJob({ jobKey: first.jobKey }));
  await refused(400, c.modifyProcessInstance({ processInstanceKey, activateInstructions: [{ elementId: 'nowhere' }] }));
  await c.completeJob({ jobKey: second.jobKey });
});

it('a migration takes an instance to another definition', async () => {
  const source = await deployed('two-steps');
  const target = await deployed('two-steps');
  const { processInstanceKey } = await create(source);
  const first = await job(source.id);
  await c.migrateProcessInstance({
    processInstanceKey,
    targetProcessDefinitionKey: target.deployment.processes[0].processDefinitionKey,
    mappingInstructions: [{ sourceElementId: 'first', targetElementId: 'first' }],
  });
  await c.completeJob({ jobKey: first.jobKey });
  const second = await job(target.id);
  assert.equal(second.processDefinitionId, target.id);
  await c.completeJob({ jobKey: second.jobKey });
});

// --- ad-hoc ---

it('activities of an ad-hoc sub-process are activated on request', async () => {
  const m = await deployed('ad-hoc');
  const result = awaited(m, { elements: ['a'] });
  const a = await job(m.id);
  assert.equal(a.elementId, 'a');
  const instance = await c.getElementInstance({ elementInstanceKey: a.elementInstanceKey }, now);
  assert.equal(instance.type, 'SERVICE_TASK');
  await c.completeJob({ jobKey: a.jobKey, variables: {} });
  await c.activateAdHocSubProcessActivities({
    adHocSubProcessInstanceKey: await scopeOf(m, a),
    elements: [{ elementId: 'b', variables: { hint: 1 } }],
  });
  const b = await job(m.id);
  assert.equal(b.elementId, 'b');
  assert.equal(b.variables.hint, 1);
  await c.createElementInstanceVariables({ elementInstanceKey: a.processInstanceKey, variables: { finished: true } });
  await c.completeJob({ jobKey: b.jobKey });
  await result;
});

/** Keys are given in order: the sub-process came just before the first thing inside it. */
async function scopeOf(m, inside) {
  for (let key = BigInt(inside.elementInstanceKey) - 1n; key > BigInt(inside.processInstanceKey); key -= 1n) {
    const found = await c.getElementInstance({ elementInstanceKey: String(key) }, now).catch(() => undefined);
    if (found?.elementId === 'tools' && found.type === 'AD_HOC_SUB_PROCESS') return String(key);
  }
  return assert.fail('no ad-hoc sub-process');
}

// --- batch operations ---

it('a batch operation cancels what its filter matches', async () => {
  const m = await deployed('task');
  const created = await Promise.all([1, 2, 3].map(() => create(m)));
  const { batchOperationKey, batchOperationType } = await c.cancelProcessInstancesBatchOperation({
    filter: { processDefinitionId: m.id },
  });
  assert.equal(batchOperationType, 'CANCEL_PROCESS_INSTANCE');
  let operation;
  do {
    operation = await c.getBatchOperation({ batchOperationKey }, now);
    await new Promise((resolve) => setTimeout(resolve, 20));
  } while (operation.state !== 'COMPLETED');
  assert.equal(operation.operationsTotalCount, 3);
  assert.equal(operation.operationsCompletedCount, 3);
  for (const { processInstanceKey } of created) await refused(404, c.cancelProcessInstance({ processInstanceKey }));
});

// --- cluster variables and expressions ---

it('expressions read cluster variables', async () => {
  const name = `limit_${Date.now()}`;
  await c.createGlobalClusterVariable({ name, value: { max: 5 } });
  const read = await c.evaluateExpression({ expression: `=camunda.vars.env.${name}.max + 1` });
  assert.equal(read.result, 6);
  await c.updateGlobalClusterVariable({ name, value: 7 });
  assert.equal((await c.evaluateExpression({ expression: `=camunda.vars.cluster.${name}` })).result, 7);
  await c.deleteGlobalClusterVariable({ name });
  assert.equal((await c.evaluateExpression({ expression: `=camunda.vars.env.${name}` })).result, null);
});

// --- resources and documents ---

it('tells what was deployed', async () => {
  const m = await deployed('rule', 'rule.dmn');
  const [process] = m.deployment.processes;
  const xml = await c.getProcessDefinitionXml({ processDefinitionKey: process.processDefinitionKey }, now);
  assert.match(String(xml), new RegExp(m.id));
});

it('keeps documents', async () => {
  const reference = await c.createDocument({ file: new File(['hello'], 'hello.txt', { type: 'text/plain' }) });
  assert.equal(reference.metadata.size, 5);
  const { documentId, storeId, contentHash } = reference;
  const content = await c.getDocument({ documentId, storeId, contentHash });
  assert.equal(await new Response(content).text(), 'hello');
  await c.deleteDocument({ documentId, storeId });
  await refused(404, c.getDocument({ documentId, storeId, contentHash }));
});
