// A worker of @camunda8/sdk that only streams: what the credit of its stream does for it
// (docs/decisions/0010-stream-credit.md). The figures are printed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Camunda8 } from '@camunda8/sdk';
import { grpcAddress, model } from './server.js';

/** The setting jobs.first_stream_credit, which the server of the suites leaves as it is. */
const FIRST_CREDIT = 32;
const options = { timeout: 60_000 };

/** The worker's process and the counts that it told last. */
class Worker {
  constructor(m, knobs) {
    const argument = JSON.stringify({ address: grpcAddress(), type: m.id, ...knobs });
    this.child = spawn(process.execPath, ['stream_worker.js', argument], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.ended = new Promise((resolve) => this.child.once('exit', resolve));
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      if (line.startsWith('{')) this.counts = JSON.parse(line);
    });
  }

  async end() {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}

/** Creates instances at a steady rate until it is told to end. */
class Load {
  constructor(client, m, perSecond) {
    this.created = 0;
    this.creating = [];
    const start = Date.now();
    this.timer = setInterval(() => {
      while (this.creating.length < ((Date.now() - start) / 1000) * perSecond) {
        const creation = client.createProcessInstance({ bpmnProcessId: m.id, variables: {} });
        this.creating.push(creation.then(() => (this.created += 1)));
      }
    }, 1000 / perSecond);
  }

  async end() {
    clearInterval(this.timer);
    await Promise.all(this.creating);
  }
}

/** Resolves with how many seconds it took. */
async function until(what, condition, seconds) {
  const start = Date.now();
  while (!condition()) {
    assert.ok(Date.now() < start + seconds * 1000, `not within ${seconds} s: ${what}`);
    await sleep(50);
  }
  return (Date.now() - start) / 1000;
}

async function run(perSecond, knobs, scene) {
  const client = new Camunda8({
    ZEEBE_GRPC_ADDRESS: `grpc://${grpcAddress()}`,
    CAMUNDA_AUTH_STRATEGY: 'NONE',
    zeebeGrpcSettings: { ZEEBE_CLIENT_LOG_LEVEL: 'NONE', ZEEBE_GRPC_CLIENT_RETRY: false },
  }).getZeebeGrpcApiClient();
  const m = model('task');
  await client.deployResource({ process: readFileSync(m.file), name: m.resource });
  const worker = new Worker(m, knobs);
  let load;
  try {
    await until('the worker runs', () => worker.counts, 15);
    load = new Load(client, m, perSecond);
    await scene(worker, load);
  } finally {
    await load?.end();
    await worker.end();
    await client.close();
  }
}

test('stream only: goes on at its old pace after it was stopped', options, (t) => {
  const perSecond = 40;
  const freezeSeconds = 3;
  // At the most 80 jobs/s.
  return run(perSecond, { places: 8, workMs: 100, timeoutMs: 2_000 }, async (worker, load) => {
    await until('the worker is warm', () => worker.counts.done >= 2 * perSecond, 10);
    worker.child.kill('SIGSTOP');
    await sleep(freezeSeconds * 1000);
    worker.child.kill('SIGCONT');
    const lag = () => load.created - worker.counts.done;
    assert.ok(lag() >= (perSecond * freezeSeconds) / 2, 'it was not stopped');
    // What it cannot have worked off by then, were half of its work in vain.
    const caughtUpSeconds = await until('it has caught up', () => lag() <= FIRST_CREDIT, 8);
    const [before, start] = [worker.counts.done, Date.now()];
    await sleep(3000);
    const pace = (worker.counts.done - before) / ((Date.now() - start) / 1000);
    await load.end();
    await until('every job is done', () => lag() === 0, 8);
    t.diagnostic(JSON.stringify({ ...worker.counts, created: load.created, caughtUpSeconds, pace }));
    assert.ok(pace >= 0.8 * perSecond, `${pace} jobs/s`);
    assert.ok(worker.counts.refused <= FIRST_CREDIT, `${worker.counts.refused} refused`);
    // One growth is tried before it is judged.
    assert.ok(worker.counts.heldMax <= 1.5 * FIRST_CREDIT, `${worker.counts.heldMax} held`);
  });
});

test('stream only: holds no more slow jobs than its credit', options, (t) =>
  // At the most 8 jobs/s.
  run(30, { places: 8, workMs: 1_000, timeoutMs: 60_000 }, async (worker, load) => {
    // Fewer jobs than a window of the credit has, so that it stays what it is at first.
    await until('jobs end', () => worker.counts.done >= 2 * FIRST_CREDIT, 15);
    t.diagnostic(JSON.stringify({ ...worker.counts, created: load.created }));
    assert.ok(load.created >= 4 * FIRST_CREDIT, 'the load leaves the credit unused');
    assert.equal(worker.counts.heldMax, FIRST_CREDIT);
    assert.equal(worker.counts.refused, 0);
  }),
);
