// Drives Restate for the lab: starts its server, serves the process as two services, and creates instances with the
// official client.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import * as restate from '@restatedev/restate-sdk';
import * as clients from '@restatedev/restate-sdk-clients';
import { Server, create, freePort, load, serve } from '../lines.mjs';

// The SDK needs it; Node.js has it from version 22 on.
Promise.withResolvers ??= function withResolvers() {
  const made = {};
  made.promise = new this((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};

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

function program() {
  const place = path.dirname(require.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/package.json`));
  const file = path.join(place, 'bin', 'restate-server');
  if (!existsSync(file)) throw new Error(`there is no ${file}`);
  return file;
}

async function start({ directory }) {
  const [ingress, admin, node, services] = [await freePort(), await freePort(), await freePort(), await freePort()];
  await restate.serve({ services: [worker, order], port: services, logger: () => {} });
  server = new Server(program(), ['--base-dir', directory, '--node-name', 'lab', '--listen-mode', 'tcp', '--no-logo'], {
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_BIND_PORT: String(node),
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_ADMIN__BIND_PORT: String(admin),
    RESTATE_DISABLE_TELEMETRY: 'true',
    RUST_LOG: 'warn',
  });
  const register = async () => {
    const answer = await fetch(`http://127.0.0.1:${admin}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: `http://127.0.0.1:${services}` }),
    });
    return answer.ok;
  };
  await server.until(register);
  client = clients.connect({ url: `http://127.0.0.1:${ingress}` });
  await server.until(async () => (await client.serviceClient(order).run({})) !== null);
  return {
    process: server.process,
    version: `restate-server ${require('@restatedev/restate-server/package.json').version}`,
    readySeconds: server.readySeconds,
    notes: [
      'one node; its log syncs each batch (rocksdb-disable-wal-fsync is false, the default)',
      'an instance is an invocation of a service that calls another one; both are served by the Node.js SDK in the driver, ' +
        'which shares the cores',
      'there is no history to search, as secondary storage has it',
    ],
  };
}

await serve({
  start,
  run: (command) => load(command, () => client.serviceClient(order).run({ payload: 'x' })),
  wait: (command) => create(command, () => client.serviceSendClient(order).wait()),
  stop: async () => {
    await server?.stop();
    return {};
  },
});
