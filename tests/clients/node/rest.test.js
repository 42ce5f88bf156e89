// @camunda8/orchestration-cluster-api against the REST API.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCamundaClient } from '@camunda8/orchestration-cluster-api';
import { contract, TENANT, UNKNOWN_KEY } from './contract.js';
import { model, restAddress } from './server.js';

const STATUS = { INVALID_ARGUMENT: 400, TOO_LARGE: 413, NOT_FOUND: 404, INVALID_STATE: 409, ALREADY_EXISTS: 409, TIMED_OUT: 504 };
const options = { timeout: 60_000 };

/** Responses are checked against the schema of this client; members of later releases may come on top. */
const connect = (overrides = {}) =>
  createCamundaClient({
    config: {
      CAMUNDA_REST_ADDRESS: restAddress(),
      CAMUNDA_AUTH_STRATEGY: 'NONE',
      CAMUNDA_SDK_VALIDATION: 'req:none,res:strict',
      CAMUNDA_SDK_LOG_LEVEL: 'silent',
      ...overrides,
    },
  });

function refusal(code, error) {
  assert.equal(error.name, 'HttpSdkError', error.stack);
  assert.equal(error.status, STATUS[code], error.message);
  for (const member of ['type', 'title', 'detail', 'instance']) {
    assert.equal(typeof error[member], 'string', `problem without ${member}: ${error.message}`);
  }
  return error.detail;
}

const asJob = (job) => ({
  key: job.jobKey,
  type: job.type,
  instanceKey: job.processInstanceKey,
  definitionKey: job.processDefinitionKey,
  elementId: job.elementId,
  elementInstanceKey: job.elementInstanceKey,
  headers: job.customHeaders,
  variables: job.variables,
  worker: job.worker,
  retries: job.retries,
  deadline: job.deadline,
  tenantId: job.tenantId,
});

function adapter() {
  const c = connect();
  return {
    refusal,
    close: () => {},
    topology: () => c.getTopology(),
    async deploy(m) {
      const { processes } = await c.deployResourcesFromFiles([m.file]);
      assert.equal(processes.length, 1);
      const [p] = processes;
      return {
        id: p.processDefinitionId,
        version: p.processDefinitionVersion,
        resource: p.resourceName,
        key: p.processDefinitionKey,
        tenantId: p.tenantId,
      };
    },
    async create({ id, variables }) {
      const created = await c.createProcessInstance({ processDefinitionId: id, ...(variables && { variables }) });
      assert.deepEqual(created.variables, {});
      return {
        key: created.processInstanceKey,
        definitionKey: created.processDefinitionKey,
        version: created.processDefinitionVersion,
        id: created.processDefinitionId,
        tenantId: created.tenantId,
      };
    },
    async createAwaiting({ id, variables, timeoutMs, fetch }) {
      const created = await c.createProcessInstance({
        processDefinitionId: id,
        variables,
        awaitCompletion: true,
        requestTimeout: timeoutMs,
        ...(fetch && { fetchVariables: fetch }),
      });
      return created.variables;
    },
    async activate({ type, waitMs, timeoutMs, worker }) {
      const { jobs } = await c.activateJobs({
        type,
        timeout: timeoutMs,
        maxJobsToActivate: 10,
        requestTimeout: waitMs,
        ...(worker && { worker }),
      });
      return jobs.map(asJob);
    },
    complete: (jobKey, variables) => c.completeJob({ jobKey, variables }),
    fail: (jobKey, { retries, backoffMs, message }) =>
      c.failJob({ jobKey, retries, retryBackOff: backoffMs, errorMessage: message }),
    throwError: (jobKey, { code, message }) => c.throwJobError({ jobKey, errorCode: code, errorMessage: message }),
    updateRetries: (jobKey, retries) => c.updateJob({ jobKey, changeset: { retries } }),
    async publish({ name, correlationKey, ttlMs, messageId, variables }) {
      const published = await c.publishMessage({
        name,
        correlationKey,
        timeToLive: ttlMs,
        ...(messageId && { messageId }),
        ...(variables && { variables }),
      });
      return { key: published.messageKey };
    },
    cancel: (processInstanceKey) => c.cancelProcessInstance({ processInstanceKey }),
    setVariables: (elementInstanceKey, variables, local) =>
      c.createElementInstanceVariables({ elementInstanceKey, variables, local }),
    resolveIncident: (incidentKey) => c.resolveIncident({ incidentKey }),
  };
}

contract('rest', adapter);

test('rest: status, license and expression', options, async () => {
  const c = connect();
  await c.getStatus();
  assert.equal(typeof (await c.getLicense()).licenseType, 'string');
  const { result, expression } = await c.evaluateExpression({ expression: '=1 + 2' });
  assert.equal(result, 3);
  assert.equal(expression, '=1 + 2');
});

test('rest: refuses a malformed expression', options, async () => {
  const c = connect();
  const error = await c.evaluateExpression({ expression: '=1 + * 2' }).then(assert.fail, (e) => e);
  assert.ok(refusal('INVALID_ARGUMENT', error).length > 0);
});

test('rest: correlates a message and names the instance', options, async () => {
  const c = connect();
  const m = model('message');
  await c.deployResourcesFromFiles([m.file]);
  const instance = await c.createProcessInstance({ processDefinitionId: m.id, variables: { orderId: 'o-5' } });
  const message = { name: m.id, correlationKey: 'o-5' };
  // The subscription opens a moment after the creation was answered.
  const end = Date.now() + 10_000;
  let correlated;
  while (!correlated) {
    correlated = await c.correlateMessage(message).catch((error) => {
      refusal('NOT_FOUND', error);
      if (Date.now() > end) throw error;
    });
  }
  assert.equal(correlated.processInstanceKey, instance.processInstanceKey);
  assert.equal(correlated.tenantId, TENANT);
  refusal('NOT_FOUND', await c.correlateMessage(message).then(assert.fail, (e) => e));
});

test('rest: refuses bad variables, keys, fields and limits', options, async () => {
  const c = connect();
  const badVariables = await c
    .createProcessInstance({ processDefinitionId: 'p', variables: [1, 2] })
    .then(assert.fail, (e) => e);
  assert.match(refusal('INVALID_ARGUMENT', badVariables), /variables/);
  const badKey = await c.completeJob({ jobKey: 'seven' }).then(assert.fail, (e) => e);
  assert.match(refusal('INVALID_ARGUMENT', badKey), /jobKey|seven/);
  const badField = await c
    .createProcessInstance({ processDefinitionId: 'p', colour: 'red' })
    .then(assert.fail, (e) => e);
  assert.match(refusal('INVALID_ARGUMENT', badField), /colour/);
  const badActivation = await c
    .activateJobs({ type: 't', timeout: 1_000, maxJobsToActivate: 0 })
    .then(assert.fail, (e) => e);
  assert.match(refusal('INVALID_ARGUMENT', badActivation), /maxJobsToActivate/);
});

test('rest: the worker completes, fails and throws', options, async () => {
  const c = connect();
  const m = model('error');
  await c.deployResourcesFromFiles([m.file]);
  const retriesSeen = [];
  const worker = c.createJobWorker({
    jobType: m.id,
    workerName: 'node-worker',
    maxParallelJobs: 5,
    jobTimeoutMs: 30_000,
    jobHandler: async (job) => {
      if (job.variables.task === 'throw') return job.error({ errorCode: 'REFUSED', errorMessage: 'no' });
      if (job.variables.task === 'fail') {
        retriesSeen.push(job.retries);
        if (job.retries > 1) throw new Error('not yet');
      }
      return job.complete({ worker: job.worker });
    },
  });
  try {
    const run = (task) =>
      c
        .createProcessInstance({
          processDefinitionId: m.id,
          variables: { task },
          awaitCompletion: true,
          requestTimeout: 20_000,
        })
        .then((created) => created.variables);
    const results = await Promise.all([run('complete'), run('throw'), run('fail')]);
    assert.deepEqual(
      results.map(({ path }) => path),
      ['completed', 'refused', 'completed'],
    );
    assert.equal(results[0].worker, 'node-worker');
    assert.deepEqual(retriesSeen, [3, 2, 1]);
  } finally {
    const { remainingJobs } = await worker.stopGracefully({ waitUpToMs: 500 });
    worker.stop();
    assert.equal(remainingJobs, 0);
  }
});

/** A request timeout of 0 means the server's default wait, so an idle worker asks rarely. */
test('rest: an idle worker long polls', options, async () => {
  let polls = 0;
  const c = createCamundaClient({
    config: { CAMUNDA_REST_ADDRESS: restAddress(), CAMUNDA_AUTH_STRATEGY: 'NONE', CAMUNDA_SDK_LOG_LEVEL: 'silent' },
    fetch: (input, init) => {
      if (input.url.endsWith('/jobs/activation')) polls++;
      return fetch(input, init);
    },
  });
  const m = model('task');
  await c.deployResourcesFromFiles([m.file]);
  const arrived = deferred();
  const worker = c.createJobWorker({
    jobType: m.id,
    jobHandler: async (job) => {
      arrived.resolve(job);
      return job.complete();
    },
  });
  try {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(polls, 1, 'polls of an idle worker in 1.5 s');
    const { processInstanceKey } = await c.createProcessInstance({ processDefinitionId: m.id });
    assert.equal((await arrived.promise).processInstanceKey, processInstanceKey);
  } finally {
    worker.stop();
  }
});

test('rest: cancelling by a worker and unknown instances', options, async () => {
  const c = connect();
  const error = await c.cancelProcessInstance({ processInstanceKey: UNKNOWN_KEY }).then(assert.fail, (e) => e);
  assert.ok(refusal('NOT_FOUND', error).includes(UNKNOWN_KEY));
  const m = model('task');
  await c.deployResourcesFromFiles([m.file]);
  const { processInstanceKey } = await c.createProcessInstance({ processDefinitionId: m.id });
  const { jobs } = await c.activateJobs({ type: m.id, timeout: 30_000, maxJobsToActivate: 1 });
  await jobs[0].cancelWorkflow();
  const gone = await c.cancelProcessInstance({ processInstanceKey }).then(assert.fail, (e) => e);
  refusal('NOT_FOUND', gone);
});

function deferred() {
  const d = {};
  d.promise = new Promise((resolve, reject) => Object.assign(d, { resolve, reject }));
  return d;
}
