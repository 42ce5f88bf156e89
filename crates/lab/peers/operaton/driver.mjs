// Drives Operaton for the lab: starts its engine with the Spring Boot starter and H2, deploys the processes, works on
// external tasks and creates instances, all through its REST API: the client of its external tasks is not in Maven Central
// for this version.
import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { Server, create, freePort, load, serve } from '../lines.mjs';

const folder = import.meta.dirname;
const WORKER = 'lab';
// Long polls at a time, and the tasks that each takes at most.
const POLLS = 2;
const TASKS = 16;
const POLL_MS = 10_000;

let server;
let rest;
let works = false;
// Waits for the ends of instances, by instance.
const ends = new Map();

async function ask(method, place, body) {
  const answer = await fetch(`${rest}${place}`, {
    method,
    headers: body instanceof FormData || body === undefined ? {} : { 'content-type': 'application/json' },
    body: body instanceof FormData || body === undefined ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${place}: ${answer.status} ${text.slice(0, 300)}`);
  return text === '' ? {} : JSON.parse(text);
}

async function deploy() {
  const form = new FormData();
  form.set('deployment-name', 'lab');
  form.set('processes.bpmn', new Blob([await readFile(path.join(folder, 'processes.bpmn'))]), 'processes.bpmn');
  await ask('POST', '/deployment/create', form);
}

async function complete(task) {
  await ask('POST', `/external-task/${task.id}/complete`, { workerId: WORKER });
  ends.get(task.businessKey)?.resolve();
}

async function poll() {
  while (works) {
    const tasks = await ask('POST', '/external-task/fetchAndLock', {
      workerId: WORKER,
      maxTasks: TASKS,
      asyncResponseTimeout: POLL_MS,
      topics: [{ topicName: 'work', lockDuration: 60_000 }],
    });
    for (const task of tasks) {
      complete(task).catch((error) => ends.get(task.businessKey)?.reject(error));
    }
  }
}

let created = 0;

// From its creation to the answer to the completion of its task, which has ended it.
async function instance() {
  created += 1;
  const businessKey = String(created);
  const ended = new Promise((resolve, reject) => ends.set(businessKey, { resolve, reject }));
  try {
    await Promise.all([createOf('order', businessKey), ended]);
  } finally {
    ends.delete(businessKey);
  }
}

function createOf(process, businessKey) {
  return ask('POST', `/process-definition/key/${process}/start`, {
    businessKey,
    variables: { payload: { value: 'x', type: 'String' } },
  });
}

async function start({ directory }) {
  const port = await freePort();
  rest = `http://127.0.0.1:${port}/engine-rest`;
  server = new Server('java', [
    '-Xmx512m',
    '-jar',
    path.join(folder, 'target', 'operaton.jar'),
    `--server.port=${port}`,
    `--spring.datasource.url=jdbc:h2:file:${path.join(directory, 'operaton')};WRITE_DELAY=0`,
  ]);
  let version;
  await server.until(async () => {
    ({ version } = await ask('GET', '/version'));
    return true;
  });
  await deploy();
  works = true;
  for (let number = 0; number < POLLS; number += 1) {
    poll().catch((error) => {
      if (works) for (const { reject } of ends.values()) reject(error);
    });
  }
  await instance();
  return {
    process: server.process,
    version: `Operaton ${version}`,
    readySeconds: server.readySeconds,
    notes: [
      'one engine in a virtual machine of Java with a heap of 512 MiB, with H2 as a file within: a commit is written ' +
        '(WRITE_DELAY=0), but not synced, so it does not survive a loss of power',
      `its REST API alone is used, by Node.js in the driver, which shares the cores; ${POLLS} long polls take ${TASKS} ` +
        'external tasks each',
      'its history is full and can be searched',
    ],
  };
}

await serve({
  start,
  run: (command) => load(command, instance),
  wait: (command) => create(command, () => createOf('waiting')),
  stop: async () => {
    works = false;
    await server?.stop();
    return {};
  },
});
