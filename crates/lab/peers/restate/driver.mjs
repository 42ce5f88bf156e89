// Drives Restate for the lab: starts its server, serves the process as two services, and creates instances with the
// official client. Reads commands and writes answers, one JSON object a line; see crates/lab/src/peer/driver.rs.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import * as restate from '@restatedev/restate-sdk';
import * as clients from '@restatedev/restate-sdk-clients';

// The SDK needs it; Node.js has it from version 22 on.
Promise.withResolvers ??= function withResolvers() {
  const made = {};
  made.promise = new this((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};

const READY_MAX_MS = 60_000;
const require = createRequire(import.meta.url);

// The task: a service of its own, which the server calls for each instance, as a job worker gets its jobs.
const worker = restate.service({
  name: 'worker',
  handlers: { work: async (_, variables) => variables },
});
const order = restate.service({
  name: 'order',
  handlers: {
    run: async (context, variables) => context.serviceClient(worker).work(variables),
    wait: async (context) => {
      await context.awakeable().promise;
    },
  },
});

let server;
let client;

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function program() {
  const place = path.dirname(require.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/package.json`));
  const file = path.join(place, 'bin', 'restate-server');
  if (!existsSync(file)) throw new Error(`there is no ${file}`);
  return file;
}

async function until(holds) {
  const began = Date.now();
  for (;;) {
    if (server.exitCode !== null) throw new Error(`restate-server ended with ${server.exitCode}`);
    if (await holds().catch(() => false)) return;
    if (Date.now() - began > READY_MAX_MS) throw new Error('restate-server is not ready in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function start({ directory }) {
  const [ingress, admin, node, services] = [await freePort(), await freePort(), await freePort(), await freePort()];
  await restate.serve({ services: [worker, order], port: services, logger: () => {} });
  const began = Date.now();
  server = spawn(program(), ['--base-dir', directory, '--node-name', 'lab', '--listen-mode', 'tcp', '--no-logo'], {
    env: {
      ...process.env,
      RESTATE_BIND_IP: '127.0.0.1',
      RESTATE_BIND_PORT: String(node),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_DISABLE_TELEMETRY: 'true',
      RUST_LOG: 'warn',
    },
    stdio: ['ignore', 2, 2],
  });
  const register = async () => {
    const answer = await fetch(`http://127.0.0.1:${admin}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: `http://127.0.0.1:${services}` }),
    });
    return answer.ok;
  };
  await until(register);
  client = clients.connect({ url: `http://127.0.0.1:${ingress}` });
  await until(async () => (await client.serviceClient(order).run({})) !== null);
  return {
    process: server.pid,
    version: `restate-server ${require('@restatedev/restate-server/package.json').version}`,
    readySeconds: (Date.now() - began) / 1000,
    notes: [
      'one node; its log syncs each batch (rocksdb-disable-wal-fsync is false, the default)',
      'an instance is an invocation of a service that calls another one; both are served by the Node.js SDK in the driver, ' +
        'which shares the cores',
      'there is no history to search, as secondary storage has it',
    ],
  };
}

const quantile = (sorted, at) => sorted[Math.max(0, Math.ceil(sorted.length * at) - 1)] ?? null;

async function run({ warmUpSeconds, seconds, concurrency }) {
  const from = Date.now() + warmUpSeconds * 1000;
  const end = from + seconds * 1000;
  const latencies = [];
  let all = 0;
  const lane = async () => {
    const service = client.serviceClient(order);
    while (Date.now() < end) {
      const began = performance.now();
      await service.run({ payload: 'x' });
      all += 1;
      if (Date.now() >= from && Date.now() < end) latencies.push((performance.now() - began) / 1000);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  latencies.sort((one, other) => one - other);
  return {
    instances: latencies.length,
    all,
    perSecond: latencies.length / seconds,
    p50Seconds: quantile(latencies, 0.5),
    p99Seconds: quantile(latencies, 0.99),
  };
}

async function wait({ count, concurrency }) {
  const began = Date.now();
  let next = 0;
  const lane = async () => {
    const service = client.serviceSendClient(order);
    while (next < count) {
      next += 1;
      await service.wait();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return { instances: count, perSecond: count / Math.max((Date.now() - began) / 1000, 0.001) };
}

async function stop() {
  if (server?.exitCode === null) {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await ended;
  }
  return {};
}

const commands = { start, run, wait, stop };
process.on('exit', () => server?.kill('SIGKILL'));
process.on('SIGTERM', () => process.exit(1));
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  try {
    process.stdout.write(`${JSON.stringify({ ok: await commands[command.do](command) })}\n`);
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: String(error?.message ?? error) })}\n`);
  }
}
process.exit(0);
