// A worker with the official Node clients for the experiments of `baton lab --worker node`, which starts it as a process,
// limits it, freezes it and reads its counts. Takes name=value arguments and tells its counts ten times a second until it
// is killed; crates/lab/src/worker/knobs.rs has the names.
//
// The REST client's worker polls. Where a stream is wanted, the gRPC client's stream hands over whatever comes, so the
// worker queues that itself; it works at so many jobs at once as it has threads, and polls beside the stream.
import { createCamundaClient } from '@camunda8/orchestration-cluster-api';
import { Camunda8 } from '@camunda8/sdk';

const TELL_EVERY_MS = 100;
const NOT_FOUND = { rest: 404, grpc: 5 };

const knobs = Object.fromEntries(process.argv.slice(2).map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
const number = (name) => Number(knobs[name]);
const counts = { polled: 0, polls: 0, completed: 0, refused: 0, failed: 0, dropped: 0 };

const rest = createCamundaClient({
  config: {
    CAMUNDA_REST_ADDRESS: `http://${knobs.rest}`,
    CAMUNDA_AUTH_STRATEGY: 'NONE',
    CAMUNDA_SDK_LOG_LEVEL: 'silent',
  },
  fetch: (input, init) => {
    if (String(input.url ?? input).endsWith('/jobs/activation')) counts.polls += 1;
    return fetch(input, init);
  },
});
const grpc = new Camunda8({
  ZEEBE_GRPC_ADDRESS: `grpc://${knobs.grpc}`,
  CAMUNDA_AUTH_STRATEGY: 'NONE',
  zeebeGrpcSettings: { ZEEBE_CLIENT_LOG_LEVEL: 'NONE', ZEEBE_GRPC_CLIENT_RETRY: false },
}).getZeebeGrpcApiClient();

/** How long a job takes: the same job always the same. */
function length(key) {
  const parts = Number(((BigInt(key) * 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn) >> 48n);
  return number('work_min_ms') + (number('work_max_ms') - number('work_min_ms')) * (parts / 65536);
}

async function complete(key) {
  if (knobs.prefers_rest === 'true') return rest.completeJob({ jobKey: key });
  return grpc.completeJob({ jobKey: key, variables: {} });
}

async function work(key) {
  await new Promise((resolve) => setTimeout(resolve, length(key)));
  try {
    await complete(key);
    counts.completed += 1;
  } catch (error) {
    const isGone = error.status === NOT_FOUND.rest || error.code === NOT_FOUND.grpc;
    counts[isGone ? 'refused' : 'failed'] += 1;
  }
}

const waiting = [];
let free = number('threads');
function begin() {
  while (free > 0 && waiting.length > 0) {
    free -= 1;
    const { key, done } = waiting.shift();
    work(key).then(() => {
      free += 1;
      done();
      begin();
    });
  }
}
const hand = (key) =>
  new Promise((done) => {
    waiting.push({ key, done });
    begin();
  });

rest.createJobWorker({
  jobType: knobs.type,
  workerName: 'worker',
  maxParallelJobs: number('capacity'),
  jobTimeoutMs: number('timeout_ms'),
  jobHandler: async (job) => {
    counts.polled += 1;
    await hand(job.jobKey);
    return job.ignore();
  },
});
if (knobs.streams === 'true') {
  await grpc.streamJobs({
    type: knobs.type,
    worker: 'worker',
    timeout: number('timeout_ms'),
    tenantIds: ['<default>'],
    pollInterval: 0,
    taskHandler: (job) => {
      hand(job.key);
      return job.forward();
    },
  });
}
process.stdout.on('error', () => process.exit(0));
setInterval(() => {
  console.log(Object.entries(counts).map(([name, count]) => `${name}=${count}`).join(' '));
}, TELL_EVERY_MS);
