// A worker that only streams, as a process of its own that a test can freeze.
//
// Takes its knobs as JSON and tells its counts ten times a second, until it is killed. The client hands each job over as
// it comes, so the worker queues them itself and works at so many at once as it has places.
import { Camunda8 } from '@camunda8/sdk';

const TELL_EVERY_MS = 100;
const GONE = [5, 9];

const { address, type, places, workMs, timeoutMs } = JSON.parse(process.argv[2]);
const counts = { received: 0, held: 0, heldMax: 0, done: 0, refused: 0 };
const client = new Camunda8({
  ZEEBE_GRPC_ADDRESS: `grpc://${address}`,
  CAMUNDA_AUTH_STRATEGY: 'NONE',
  zeebeGrpcSettings: { ZEEBE_CLIENT_LOG_LEVEL: 'NONE', ZEEBE_GRPC_CLIENT_RETRY: false },
}).getZeebeGrpcApiClient();
const waiting = [];
let free = places;

async function work(jobKey) {
  await new Promise((resolve) => setTimeout(resolve, workMs));
  // Held no longer from here on: the server may learn of the end, and send another, before the answer is here.
  counts.held -= 1;
  try {
    await client.completeJob({ jobKey, variables: {} });
    counts.done += 1;
  } catch (error) {
    // Anything else ends the process, which the test sees.
    if (!GONE.includes(error.code)) throw error;
    counts.refused += 1;
  }
}

function begin() {
  while (free > 0 && waiting.length > 0) {
    free -= 1;
    work(waiting.shift()).then(() => {
      free += 1;
      begin();
    });
  }
}

await client.streamJobs({
  type,
  worker: 'only-streams',
  timeout: timeoutMs,
  tenantIds: ['<default>'],
  // No poll beside the stream but the first, which finds nothing.
  pollInterval: 0,
  taskHandler: (job) => {
    counts.received += 1;
    counts.held += 1;
    counts.heldMax = Math.max(counts.heldMax, counts.held);
    waiting.push(job.key);
    begin();
    return job.forward();
  },
});
setInterval(() => console.log(JSON.stringify(counts)), TELL_EVERY_MS);
