// zeebe-node, the Node client before @camunda8/sdk, against the gRPC gateway.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import zeebe from 'zeebe-node';
import { grpcAddress, model } from './server.js';

const CODE = { INVALID_ARGUMENT: 3, NOT_FOUND: 5, ALREADY_EXISTS: 6 };
const options = { timeout: 60_000 };

const connect = () =>
  new zeebe.ZBClient(grpcAddress(), { retry: false, loglevel: 'NONE', useTLS: false, longPoll: 10_000 });

function refusal(code, error) {
  assert.equal(error.code, CODE[code], error.stack);
  assert.ok(error.details.length > 0);
  return error.details;
}

async function withClient(run) {
  const c = connect();
  try {
    await run(c);
  } finally {
    // Node aborts when a stream is cancelled while its last data are read (nodejs/node#38964).
    await new Promise((resolve) => setImmediate(resolve));
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

test('zeebe-node: the worker completes, fails and throws', options, () =>
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
    assert.deepEqual(retriesSeen, [3, 2, 1]);
  }));

const activateOne = async (c, m) => {
  const request = { type: m.id, worker: 'node', timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 10_000 };
  const [job] = await c.activateJobs(request);
  return job;
};

test('zeebe-node: the topology is told', options, () =>
  withClient(async (c) => {
    const { clusterSize, brokers } = await c.topology();
    assert.equal(clusterSize, 1);
    assert.equal(brokers[0].partitions.length, 1);
  }));

test('zeebe-node: a bad deployment is refused', options, () =>
  withClient(async (c) => {
    const m = model('malformed-expression');
    const error = await c.deployResource({ process: readFileSync(m.file), name: m.resource }).then(assert.fail, (e) => e);
    assert.match(refusal('INVALID_ARGUMENT', error), /price_check/);
  }));

test('zeebe-node: a job is completed by its key', options, () =>
  withClient(async (c) => {
    const m = await deploy(c, 'task');
    const result = resultOf(c, m, { n: 1 });
    const job = await activateOne(c, m);
    assert.equal(job.variables.n, 1);
    assert.equal(job.customHeaders.queue, 'parcels');
    await c.completeJob({ jobKey: job.key, variables: { done: true } });
    assert.equal((await result).variables.done, true);
    const error = await c.completeJob({ jobKey: job.key, variables: {} }).then(assert.fail, (e) => e);
    refusal('NOT_FOUND', error);
  }));

test('zeebe-node: retries are updated and an incident is resolved', options, () =>
  withClient(async (c) => {
    const m = await deploy(c, 'task');
    await c.createProcessInstance({ bpmnProcessId: m.id, variables: {} });
    const { key } = await activateOne(c, m);
    await c.failJob({ jobKey: key, retries: 0, errorMessage: 'no way', retryBackOff: 0 });
    await c.updateJobRetries({ jobKey: key, retries: 1 });
    // Nothing in gRPC tells an incident's key; it is the next or nearly so.
    for (let incident = BigInt(key) + 1n, isResolved = false; !isResolved; incident++) {
      assert.ok(incident < BigInt(key) + 2_000n, 'there is no incident');
      isResolved = await c.resolveIncident({ incidentKey: String(incident) }).then(
        () => true,
        (error) => {
          refusal('NOT_FOUND', error);
          return false;
        },
      );
    }
    const again = await activateOne(c, m);
    assert.equal(again.key, key);
    await c.throwError({ jobKey: key, errorCode: 'NOBODY_CATCHES_IT', errorMessage: 'no' });
  }));

test('zeebe-node: a message is published once', options, () =>
  withClient(async (c) => {
    const m = await deploy(c, 'message');
    const result = resultOf(c, m, { orderId: 'o-1' });
    const message = { name: m.id, correlationKey: 'o-1', timeToLive: 60_000, messageId: 'once', variables: { paid: 1 } };
    await c.publishMessage(message);
    refusal('ALREADY_EXISTS', await c.publishMessage(message).then(assert.fail, (e) => e));
    assert.equal((await result).variables.paid, 1);
  }));

test('zeebe-node: variables are set and an instance is cancelled', options, () =>
  withClient(async (c) => {
    const m = await deploy(c, 'task');
    const { processInstanceKey } = await c.createProcessInstance({ bpmnProcessId: m.id, variables: { a: 1 } });
    await c.setVariables({ elementInstanceKey: processInstanceKey, variables: { a: 2 }, local: false });
    assert.equal((await activateOne(c, m)).variables.a, 2);
    await c.cancelProcessInstance(processInstanceKey);
    refusal('NOT_FOUND', await c.cancelProcessInstance(processInstanceKey).then(assert.fail, (e) => e));
  }));

test('zeebe-node: a signal is broadcast', options, () =>
  withClient(async (c) => {
    const m = await deploy(c, 'signal');
    const result = resultOf(c, m, {});
    // The instance may not wait yet: signals are not kept.
    let isOver = false;
    result.finally(() => (isOver = true));
    while (!isOver) {
      await c.broadcastSignal({ signalName: m.id, variables: { told: true } });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal((await result).variables.told, true);
  }));

test('zeebe-node: a decision is evaluated', options, () =>
  withClient(async (c) => {
    const m = model('rule');
    await c.deployResource({ decisionFilename: m.fileOf('rule.dmn') });
    const { decisionOutput } = await c.evaluateDecision({ decisionId: `${m.id}-discount`, variables: { total: 150 } });
    assert.equal(decisionOutput, '10');
  }));

test('zeebe-node: an instance is modified', options, () =>
  withClient(async (c) => {
    const m = await deploy(c, 'two-steps');
    const { processInstanceKey } = await c.createProcessInstance({ bpmnProcessId: m.id, variables: {} });
    await c.modifyProcessInstance({ processInstanceKey, activateInstructions: [{ elementId: 'second', variableInstructions: [] }] });
    const found = new Set();
    while (found.size < 2) {
      const request = { type: m.id, worker: 'node', timeout: 60_000, maxJobsToActivate: 2, requestTimeout: 10_000 };
      for (const job of await c.activateJobs(request)) found.add(job.elementId);
    }
    assert.deepEqual([...found].sort(), ['first', 'second']);
  }));
