// Content as a busy system leaves it: most instances have ended, some wait, a few have incidents; people have tasks. All of it
// goes through the engine. One instance has very many elements, and one model has a very large diagram.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bpmn, deploy, forEach, start, until } from '../tests/server.mjs';
import { parallel } from './figures.mjs';
import { bench } from './load.mjs';

const PROCESSES = 12;
const PEOPLE = 200;
const ERRORS = 20;
/** One of so many instances waits; one of so many of these has an incident. */
const [OPEN, TROUBLED] = [20, 10];
const AT_ONCE = 32;
const WIDE_TASKS = 600;
/** Values that rounds of questions take one after the other. */
const SAMPLES = 60;
const KEYS_A_MOMENT = 5;
const JOBS_AT_ONCE = 500;

const process = (number) => `order-${number % PROCESSES}`;
const job = (number) => `work-${number % PROCESSES}`;
const model = (number) => bpmn(process(number), [...['check', 'reserve', 'price', 'pack'].map((id) => ['manual', id]), ['job', 'work', job(number)], ...['ship', 'bill'].map((id) => ['manual', id])]);
const range = (count) => Array.from({ length: count }, (_, at) => at);
const idOf = (number) => `order-${number}`;

async function fillEnded(server, folder, count) {
  const files = range(PROCESSES).map((number) => {
    const file = join(folder, `${process(number)}.bpmn`);
    writeFileSync(file, model(number));
    return file;
  });
  const payload = join(folder, 'payload.json');
  writeFileSync(payload, JSON.stringify({ orderId: 'ended', total: 120, customer: { name: 'Ann', city: 'Berlin' } }));
  await bench(server, ['--protocol', 'grpc', '--mix', files.join(','), '--payload', payload, '--instances', String(count), '--concurrency', '256', '--warm-up', '0s']);
}

/** Instances that wait: for a worker, for a person, or for an instance that they have called. */
async function fillOpen(server, count) {
  const open = await parallel(count, AT_ONCE, async (number) => {
    const businessId = idOf(number);
    const id = number % 10 === 0 ? 'calling' : number % 10 < 3 ? 'task' : process(number);
    const key = await start(server, id, { orderId: businessId, total: number % 1000, person: `user-${number % PEOPLE}` }, { businessId });
    return { key, businessId, id };
  });
  for (const type of range(PROCESSES).map(job)) {
    let left = Math.ceil(count / TROUBLED / PROCESSES);
    while (left > 0) {
      const asked = { type, timeout: 600_000, maxJobsToActivate: Math.min(left, JOBS_AT_ONCE), requestTimeout: 5000, fetchVariable: ['orderId'] };
      const { jobs } = await server.rest('POST', '/v2/jobs/activation', asked);
      if (jobs.length === 0) break;
      await parallel(jobs.length, AT_ONCE, (at) => server.rest('POST', `/v2/jobs/${jobs[at].jobKey}/failure`, { retries: 0, errorMessage: `system ${at % ERRORS} is away` }));
      left -= jobs.length;
    }
  }
  return open;
}

/** Instances that began before moments spread over a time, with the place behind each in the list. */
async function samples(server, from, to) {
  return parallel(SAMPLES, 4, async (at) => {
    const moment = new Date(from + ((to - from) * (at + 0.5)) / SAMPLES).toISOString();
    const search = { filter: { startDate: { $lte: moment }, state: 'COMPLETED' }, sort: [{ field: 'startDate', order: 'DESC' }], page: { limit: KEYS_A_MOMENT } };
    const { items, page } = await server.rest('POST', '/v2/process-instances/search', search);
    return { moment, keys: items.map((one) => one.processInstanceKey), cursor: page.endCursor };
  });
}

const keysOf = async (server, list, filter, key) => (await server.rest('POST', `/v2/${list}/search`, { filter, page: { limit: SAMPLES } })).items.map((one) => one[key]);

/** Fills a server's store, and gives what measurements need to know of it. */
export async function fill(server, folder, { instances, elements }, say) {
  await deploy(server, Object.fromEntries(range(PROCESSES).map((number) => [`${process(number)}.bpmn`, model(number)])));
  await deploy(server, {
    'task.bpmn': bpmn('task', [['shared', 'decide', 'office', 'Check the order']]),
    'calling.bpmn': bpmn('calling', [['call', 'call', 'task']]),
    'switched.bpmn': bpmn('switched', [['job', 'wait', 'switched']]),
    'many.bpmn': forEach('many', 'each'),
    'wide.bpmn': bpmn('wide', range(WIDE_TASKS).map((at) => ['manual', `task-${at}`])),
  });
  const open = Math.round(instances / OPEN);
  say(`${instances - open} instances that end`);
  const began = Date.now();
  await fillEnded(server, folder, instances - open);
  const ended = Date.now();
  say(`after ${Math.round((ended - began) / 1000)} s; ${open} that wait`);
  const waiting = await fillOpen(server, open);
  say(`an instance of ${elements} elements`);
  const big = await start(server, 'many', { items: range(elements) });
  await start(server, 'wide');
  await until(async () => (await server.rest('POST', '/v2/element-instances/search', { filter: { processInstanceKey: big }, page: { limit: 1 } })).page.totalItems >= Math.min(elements, 10_000), 'all is found', 600_000);
  const found = await samples(server, began, ended);
  return {
    instances,
    elements,
    big,
    wide: 'wide',
    wideElements: 2 * WIDE_TASKS + 3,
    switched: 'switched',
    process: process(0),
    processes: range(PROCESSES).map(process),
    people: range(PEOPLE).map((number) => `user-${number}`),
    open: range(SAMPLES).map((at) => waiting[Math.floor((at * waiting.length) / SAMPLES)]),
    ended: [...new Set(found.flatMap(({ keys }) => keys))],
    moments: found.map(({ moment }) => moment),
    cursors: found.flatMap(({ cursor }) => cursor ?? []),
    parents: waiting.filter(({ id }) => id === 'calling').slice(0, SAMPLES).map(({ key }) => key),
    troubled: await keysOf(server, 'incidents', { state: 'ACTIVE' }, 'processInstanceKey'),
  };
}
