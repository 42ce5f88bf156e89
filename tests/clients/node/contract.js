// What a Node client relies on, told once and run over each client through a small adapter.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { model } from './server.js';

export const UNKNOWN_KEY = String((1n << 51n) + (1n << 50n));
export const TENANT = '<default>';
const RESULT_TIMEOUT_MS = 20_000;
/** A negative wait answers at once. */
export const NO_WAIT = -1;
/** Limits, bytes of a variable that goes over each, and the refusal; run.py sets the first to 1 MiB. */
const TOO_LARGE = [
  ['limits.max_variable_bytes', 2 << 20, 'TOO_LARGE'],
  ['limits.max_message_bytes', 5 << 20, 'TOO_LARGE'],
];
/** Less than any client's timeout, and than a second try after a pause takes. */
const AT_ONCE_MS = 8_000;
/** Most keys the incident search may try between two known ones. */
const KEYS_TO_TRY_MAX = 2_000n;
/** Number of partitions of the server, and bits of a key behind its partition. */
const PARTITIONS = Number(process.env.BATON_PARTITIONS ?? 1);
const PARTITION_SHIFT = 51n;

const options = { timeout: 60_000 };
const elapsedMs = (start) => performance.now() - start;

/**
 * @param name shown in the test names
 * @param connect returns the adapter of a fresh client: one method per command, keys as strings,
 *   plus `refusal(code, error)` that checks an error and returns the text shown to users
 */
export function contract(name, connect) {
  let c;
  before(() => {
    c = connect();
  });
  after(() => c.close());

  const it = (title, run) => test(`${name}: ${title}`, options, run);

  async function refused(code, promise) {
    const error = await promise.then(
      () => assert.fail(`expected ${code}, but the command was accepted`),
      (e) => e,
    );
    if (error instanceof assert.AssertionError) throw error;
    return c.refusal(code, error);
  }

  async function deployed(modelName) {
    const m = model(modelName);
    await c.deploy(m);
    return m;
  }

  const createAwaiting = (m, variables) => c.createAwaiting({ id: m.id, variables, timeoutMs: RESULT_TIMEOUT_MS });

  async function activateOne(m, more = {}) {
    const jobs = await c.activate({ type: m.id, waitMs: 15_000, timeoutMs: 60_000, ...more });
    assert.equal(jobs.length, 1);
    return jobs[0];
  }

  const activateNow = (m) => c.activate({ type: m.id, waitMs: NO_WAIT, timeoutMs: 60_000 });

  for (const [limit, size, code] of TOO_LARGE) {
    it(`what is over ${limit} is refused at once`, async () => {
      const m = await deployed('task');
      const start = performance.now();
      const detail = await refused(code, c.create({ id: m.id, variables: { a: 'x'.repeat(size) } }));
      assert.ok(elapsedMs(start) < AT_ONCE_MS, `${elapsedMs(start)} ms`);
      assert.ok(detail.includes(limit), detail);
      await c.create({ id: m.id, variables: { a: 'x' } });
    });
  }

  it('topology names one healthy leader', async () => {
    const topology = await c.topology();
    assert.equal(topology.clusterSize, 1);
    assert.equal(topology.partitionsCount, PARTITIONS);
    assert.equal(topology.replicationFactor, 1);
    assert.match(topology.gatewayVersion, /^\d+\.\d+/);
    const { partitions } = topology.brokers[0];
    assert.equal(partitions.length, PARTITIONS);
    for (const [place, partition] of partitions.entries()) {
      assert.equal(partition.partitionId, place + 1);
      assert.equal(partition.role.toLowerCase(), 'leader');
      assert.equal(partition.health.toLowerCase(), 'healthy');
    }
  });

  it('deploys and versions a process', async () => {
    const m = model('task');
    const first = await c.deploy(m);
    assert.equal(first.id, m.id);
    assert.equal(first.version, 1);
    assert.equal(first.resource, m.resource);
    assert.equal(first.tenantId, TENANT);
    assert.match(first.key, /^\d+$/);
    const again = await c.deploy(m);
    assert.deepEqual(again, first);
    writeFileSync(m.file, m.xml.replace('parcels', 'letters'));
    const changed = await c.deploy(m);
    assert.equal(changed.version, 2);
    assert.notEqual(changed.key, first.key);
  });

  for (const [name, element] of [
    ['malformed-expression', 'price_check'],
    ['missing-type', 'untyped_work'],
    ['not-well-formed', ''],
  ]) {
    it(`refuses ${name}.bpmn naming the place`, async () => {
      const detail = await refused('INVALID_ARGUMENT', c.deploy(model(name)));
      assert.ok(detail.includes(`${name}.bpmn`), detail);
      assert.ok(detail.includes(element), detail);
    });
  }

  it('creates an instance', async () => {
    const m = model('task');
    const process = await c.deploy(m);
    const instance = await c.create({ id: m.id, variables: { n: 1 } });
    assert.equal(instance.definitionKey, process.key);
    assert.equal(instance.version, 1);
    assert.equal(instance.id, m.id);
    assert.equal(instance.tenantId, TENANT);
    const next = await c.create({ id: m.id });
    assert.ok(BigInt(next.key) > BigInt(instance.key));
  });

  it('returns the result of an instance', async () => {
    const m = await deployed('straight');
    const variables = { price: 12, quantity: 3, note: 'grüße' };
    const result = await createAwaiting(m, variables);
    assert.deepEqual(result, { ...variables, total: 36 });
  });

  it('returns only the variables asked for', async () => {
    const m = await deployed('straight');
    const result = await c.createAwaiting({
      id: m.id,
      variables: { price: 2, quantity: 4 },
      timeoutMs: RESULT_TIMEOUT_MS,
      fetch: ['total'],
    });
    assert.deepEqual(result, { total: 8 });
  });

  it('refuses an unknown process', async () => {
    const detail = await refused('NOT_FOUND', c.create({ id: 'nowhere' }));
    assert.ok(detail.includes('nowhere'), detail);
  });

  it('hands out a job with everything a worker reads', async () => {
    const m = await deployed('task');
    const instance = await c.create({ id: m.id, variables: { n: 7, list: [1, 2] } });
    const before = Date.now();
    const job = await activateOne(m, { worker: 'tester' });
    assert.equal(job.type, m.id);
    assert.equal(job.instanceKey, instance.key);
    assert.equal(job.definitionKey, instance.definitionKey);
    assert.equal(job.elementId, 'work');
    assert.ok(BigInt(job.elementInstanceKey) > BigInt(instance.key));
    assert.deepEqual(job.headers, { queue: 'parcels' });
    assert.deepEqual(job.variables, { n: 7, list: [1, 2] });
    assert.equal(job.worker, 'tester');
    assert.equal(job.retries, 3);
    assert.equal(job.tenantId, TENANT);
    assert.ok(job.deadline >= before + 60_000 && job.deadline <= Date.now() + 60_000, `${job.deadline}`);
  });

  it('completes a job with variables', async () => {
    const m = await deployed('task');
    const result = createAwaiting(m, { n: 1 });
    const job = await activateOne(m);
    await c.complete(job.key, { answer: 42 });
    assert.deepEqual(await result, { n: 1, answer: 42 });
    await refused('NOT_FOUND', c.complete(job.key, {}));
  });

  it('gives a failed job back after its backoff', async () => {
    const m = await deployed('task');
    const result = createAwaiting(m, {});
    const job = await activateOne(m);
    const failed = performance.now();
    await c.fail(job.key, { retries: 2, backoffMs: 1_500, message: 'try later' });
    assert.deepEqual(await activateNow(m), []);
    await refused('INVALID_STATE', c.complete(job.key, {}));
    const again = await activateOne(m);
    assert.equal(again.key, job.key);
    assert.equal(again.retries, 2);
    const waited = elapsedMs(failed);
    assert.ok(waited >= 1_450 && waited < 6_500, `back after ${waited} ms`);
    await c.complete(again.key, {});
    await result;
  });

  it('catches a BPMN error at the boundary', async () => {
    const m = await deployed('error');
    const result = createAwaiting(m, {});
    const job = await activateOne(m);
    await c.throwError(job.key, { code: 'REFUSED', message: 'no stock' });
    assert.equal((await result).path, 'refused');
    await refused('NOT_FOUND', c.complete(job.key, {}));
  });

  it('holds an empty poll for its request timeout', async () => {
    const m = await deployed('task');
    const start = performance.now();
    assert.deepEqual(await c.activate({ type: m.id, waitMs: 1_000, timeoutMs: 60_000 }), []);
    const waited = elapsedMs(start);
    assert.ok(waited >= 900 && waited < 5_000, `answered after ${waited} ms`);
  });

  it('answers a long poll as soon as a job appears', async () => {
    const m = await deployed('task');
    const poll = c.activate({ type: m.id, waitMs: 20_000, timeoutMs: 60_000 });
    await c.create({ id: m.id });
    const created = performance.now();
    assert.equal((await poll).length, 1);
    assert.ok(elapsedMs(created) < 2_000, `woken only after ${elapsedMs(created)} ms`);
  });

  it('refuses unknown jobs', async () => {
    for (const command of [
      () => c.complete(UNKNOWN_KEY, {}),
      () => c.fail(UNKNOWN_KEY, { retries: 1 }),
      () => c.throwError(UNKNOWN_KEY, { code: 'E' }),
      () => c.updateRetries(UNKNOWN_KEY, 1),
    ]) {
      const detail = await refused('NOT_FOUND', command());
      assert.ok(detail.includes(UNKNOWN_KEY), detail);
    }
  });

  it('correlates a published message to a waiting instance', async () => {
    const m = await deployed('message');
    const result = createAwaiting(m, { orderId: 'o-1' });
    // The time to live covers the moment before the subscription is open.
    await c.publish({ name: m.id, correlationKey: 'o-1', ttlMs: 20_000, variables: { paid: 9.5 } });
    assert.deepEqual(await result, { orderId: 'o-1', paid: 9.5 });
  });

  it('keeps a message for a later subscription', async () => {
    const m = await deployed('message');
    await c.publish({ name: m.id, correlationKey: 'o-2', ttlMs: 60_000, variables: { paid: true } });
    assert.equal((await createAwaiting(m, { orderId: 'o-2' })).paid, true);
  });

  it('drops a message without time to live and times out the result', async () => {
    const m = await deployed('message');
    await c.publish({ name: m.id, correlationKey: 'o-3', ttlMs: 0 });
    await refused('TIMED_OUT', c.createAwaiting({ id: m.id, variables: { orderId: 'o-3' }, timeoutMs: 700 }));
  });

  it('refuses a message ID that is still buffered', async () => {
    const m = await deployed('message');
    const message = { name: m.id, correlationKey: 'o-4', ttlMs: 60_000, messageId: 'm-1' };
    const published = await c.publish(message);
    assert.match(published.key, /^\d+$/);
    const detail = await refused('ALREADY_EXISTS', c.publish(message));
    assert.ok(detail.includes('m-1'), detail);
  });

  it('cancels an instance', async () => {
    const m = await deployed('task');
    const instance = await c.create({ id: m.id });
    const job = await activateOne(m);
    await c.cancel(instance.key);
    await refused('NOT_FOUND', c.complete(job.key, {}));
    await refused('NOT_FOUND', c.cancel(instance.key));
    await refused('NOT_FOUND', c.cancel(UNKNOWN_KEY));
  });

  it('sets variables in the instance and in an element', async () => {
    const m = await deployed('task');
    const result = createAwaiting(m, { n: 1 });
    const job = await activateOne(m);
    const shared = { n: 2, nested: { a: [1, 2] } };
    await c.setVariables(job.instanceKey, shared, false);
    await c.setVariables(job.elementInstanceKey, { own: 'local' }, true);
    await c.fail(job.key, { retries: 1 });
    const again = await activateOne(m);
    assert.deepEqual(again.variables, { ...shared, own: 'local' });
    await c.complete(again.key, {});
    assert.deepEqual(await result, shared);
    await refused('NOT_FOUND', c.setVariables(UNKNOWN_KEY, { n: 1 }, false));
  });

  /**
   * Without a search endpoint the incident's key is known only to lie between the job's key and
   * one drawn later, so each in between is tried.
   */
  it('resolves the incident of a job without retries', async () => {
    const m = await deployed('task');
    const result = createAwaiting(m, {});
    const job = await activateOne(m);
    await c.fail(job.key, { retries: 0, message: 'broken' });
    assert.deepEqual(await activateNow(m), []);
    await c.updateRetries(job.key, 1);
    assert.deepEqual(await activateNow(m), [], 'the incident does not hold the job');

    const other = await deployed('message');
    let later = 0n;
    while (later >> PARTITION_SHIFT !== BigInt(job.key) >> PARTITION_SHIFT) {
      later = BigInt((await c.create({ id: other.id, variables: { orderId: 'x' } })).key);
    }
    assert.ok(later - BigInt(job.key) <= KEYS_TO_TRY_MAX, `keys are not dense: ${job.key} to ${later}`);
    let resolved = false;
    for (let key = BigInt(job.key) + 1n; key < later && !resolved; key++) {
      resolved = await c.resolveIncident(String(key)).then(
        () => true,
        (error) => {
          c.refusal('NOT_FOUND', error);
          return false;
        },
      );
    }
    assert.ok(resolved, `no incident between ${job.key} and ${later}`);

    const again = await activateOne(m);
    assert.equal(again.key, job.key);
    assert.equal(again.retries, 1);
    await c.complete(again.key, {});
    await result;
    await refused('NOT_FOUND', c.resolveIncident(UNKNOWN_KEY));
  });
}
