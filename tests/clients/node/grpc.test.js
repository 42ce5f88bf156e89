// @camunda8/sdk (Camunda8, its Zeebe gRPC client) against the gRPC gateway.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Camunda8 } from '@camunda8/sdk';
import { contract } from './contract.js';
import { grpcAddress, model } from './server.js';

const CODE = { INVALID_ARGUMENT: 3, TOO_LARGE: 3, NOT_FOUND: 5, INVALID_STATE: 9, ALREADY_EXISTS: 6, TIMED_OUT: 4 };
const options = { timeout: 60_000 };

function connect() {
  return new Camunda8({
    ZEEBE_GRPC_ADDRESS: `grpc://${grpcAddress()}`,
    CAMUNDA_AUTH_STRATEGY: 'NONE',
    zeebeGrpcSettings: {
      ZEEBE_CLIENT_LOG_LEVEL: 'NONE',
      // Its retry repeats a creation whose result timed out.
      ZEEBE_GRPC_CLIENT_RETRY: false,
    },
  }).getZeebeGrpcApiClient();
}

function refusal(code, error) {
  assert.equal(error.code, CODE[code], error.stack);
  assert.ok(error.details.length > 0);
  return error.details;
}

const asJob = (job) => ({
  key: job.key,
  type: job.type,
  instanceKey: job.processInstanceKey,
  definitionKey: job.processDefinitionKey,
  elementId: job.elementId,
  elementInstanceKey: job.elementInstanceKey,
  headers: { ...job.customHeaders },
  variables: { ...job.variables },
  worker: job.worker,
  retries: job.retries,
  deadline: Number(job.deadline),
  tenantId: job.tenantId,
});

function adapter() {
  const c = connect();
  return {
    refusal,
    close: () => c.close(),
    topology: () => c.topology(),
    async deploy(m) {
      const { deployments } = await c.deployResource({ process: readFileSync(m.file), name: m.resource });
      assert.equal(deployments.length, 1);
      const p = deployments[0].process;
      return {
        id: p.bpmnProcessId,
        version: p.version,
        resource: p.resourceName,
        key: p.processDefinitionKey,
        tenantId: p.tenantId,
      };
    },
    async create({ id, variables = {} }) {
      const created = await c.createProcessInstance({ bpmnProcessId: id, variables });
      return {
        key: created.processInstanceKey,
        definitionKey: created.processDefinitionKey,
        version: created.version,
        id: created.bpmnProcessId,
        tenantId: created.tenantId,
      };
    },
    async createAwaiting({ id, variables, timeoutMs, fetch }) {
      const created = await c.createProcessInstanceWithResult({
        bpmnProcessId: id,
        variables,
        requestTimeout: timeoutMs,
        ...(fetch && { fetchVariables: fetch }),
      });
      return { ...created.variables };
    },
    async activate({ type, waitMs, timeoutMs, worker = 'node' }) {
      const jobs = await c.activateJobs({
        type,
        worker,
        timeout: timeoutMs,
        maxJobsToActivate: 10,
        requestTimeout: waitMs,
      });
      return jobs.map(asJob);
    },
    complete: (jobKey, variables) => c.completeJob({ jobKey, variables }),
    fail: (jobKey, { retries, backoffMs = 0, message = '' }) =>
      c.failJob({ jobKey, retries, retryBackOff: backoffMs, errorMessage: message }),
    throwError: (jobKey, { code, message = '' }) => c.throwError({ jobKey, errorCode: code, errorMessage: message }),
    updateRetries: (jobKey, retries) => c.updateJobRetries({ jobKey, retries }),
    publish: ({ name, correlationKey, ttlMs, messageId, variables = {} }) =>
      c.publishMessage({ name, correlationKey, timeToLive: ttlMs, messageId, variables }),
    cancel: (key) => c.cancelProcessInstance(key),
    setVariables: (elementInstanceKey, variables, local) => c.setVariables({ elementInstanceKey, variables, local }),
    resolveIncident: (incidentKey) => c.resolveIncident({ incidentKey }),
  };
}

contract('grpc', adapter);

async function withClient(run) {
  const c = connect();
  try {
    await run(c);
  } finally {
    await c.close();
  }
}

const deploy = async (c, name) => {
  const m = model(name);
  await c.deployResource({ process: readFileSync(m.file), name: m.resource });
  return m;
};

const resultOf = (c, m, variables) =>
  c.createProcessInstanceWithResult({ bpmnProcessId: m.id, variables, requestTimeout: 20_000 });

test('grpc: the polling worker completes, fails and throws', options, () =>
  withClient(async (c) => {
    const m = await deploy(c, 'error');
    const retriesSeen = [];
    c.createWorker({
      taskType: m.id,
      id: 'node-worker',
      longPoll: 5_000,
      pollInterval: 50,
      taskHandler: async (job) => {
        if (job.variables.task === 'throw') return job.error('REFUSED', 'no');
        if (job.variables.task === 'fail') {
          retriesSeen.push(job.retries);
          if (job.retries > 1) return job.fail({ errorMessage: 'not yet', retries: job.retries - 1, retryBackOff: 100 });
        }
        return job.complete({ worker: job.worker });
      },
    });
    const results = await Promise.all(['complete', 'throw', 'fail'].map((task) => resultOf(c, m, { task })));
    assert.deepEqual(
      results.map(({ variables }) => variables.path),
      ['completed', 'refused', 'completed'],
    );
    assert.equal(results[0].variables.worker, 'node-worker');
    assert.deepEqual(retriesSeen, [3, 2, 1]);
  }));

test('grpc: the stream is pushed new jobs and fills from the backlog', options, () =>
  withClient(async (c) => {
    const m = await deploy(c, 'task');
    const backlog = await c.createProcessInstance({ bpmnProcessId: m.id, variables: { n: -1 } });
    const seen = new Map();
    const stream = await c.streamJobs({
      type: m.id,
      worker: 'streamer',
      timeout: 60_000,
      tenantIds: ['<default>'],
      // No poll after the first fill: what comes later is pushed.
      pollInterval: 0,
      taskHandler: async (job) => {
        seen.set(job.processInstanceKey, job);
        return job.complete({ squared: job.variables.n ** 2 });
      },
    });
    try {
      const end = Date.now() + 10_000;
      while (!seen.has(backlog.processInstanceKey)) {
        assert.ok(Date.now() < end, 'the backlog was not delivered');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      // Nothing tells when the stream is registered: offer jobs until one is pushed.
      for (let attempt = 0; seen.size < 2; attempt++) {
        assert.ok(attempt < 50, 'no job was pushed in 10 s');
        await c.createProcessInstance({ bpmnProcessId: m.id, variables: { n: -2 } });
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      const before = seen.size;
      const results = await Promise.all(Array.from({ length: 20 }, (_, n) => resultOf(c, m, { n })));
      results.forEach(({ variables }, n) => assert.equal(variables.squared, n * n));
      assert.equal(seen.size, before + 20);
      for (const job of seen.values()) {
        assert.equal(job.worker, 'streamer');
        assert.equal(job.customHeaders.queue, 'parcels');
      }
    } finally {
      stream.close();
    }
  }));

/** Elsewhere the client makes an object of whatever it is given; here text is sent as it is. */
test('grpc: refuses variables that are not an object', options, () =>
  withClient(async (c) => {
    const m = await deploy(c, 'task');
    const { processInstanceKey } = await c.createProcessInstance({ bpmnProcessId: m.id, variables: {} });
    for (const variables of ['[1, 2]', '7', '{"n":']) {
      const error = await c
        .setVariables({ elementInstanceKey: processInstanceKey, variables, local: false })
        .then(assert.fail, (e) => e);
      assert.match(refusal('INVALID_ARGUMENT', error), /variables/);
    }
  }));

test('grpc: deletes a resource', options, () =>
  withClient(async (c) => {
    const m = model('task');
    const { deployments } = await c.deployResource({ process: readFileSync(m.file), name: m.resource });
    await c.deleteResource({ resourceKey: deployments[0].process.processDefinitionKey });
    const error = await c.createProcessInstance({ bpmnProcessId: m.id, variables: {} }).then(assert.fail, (e) => e);
    refusal('NOT_FOUND', error);
  }));
