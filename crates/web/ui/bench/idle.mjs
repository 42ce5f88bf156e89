// The cost of pages at rest: one while nothing happens, and a hundred while much happens.
import { readFileSync } from 'node:fs';
import { withPage } from '../tests/page.mjs';
import { digits, pause, row } from './figures.mjs';
import { under } from './load.mjs';

const PAGES = 100;
/** A page that has been opened has read all it wants after this time. */
const SETTLE_MS = 4000;
const QUIET_MS = 5000;
const MINUTE_MS = 60_000;
const TICKS_PER_S = 100;
/** The least time between two questions for changes, as pages have it. */
const PACE_MS = 250;
const CHANGES = '/baton/v1/changes';
const AFTER_CHANGE = 'baton-after-change';

/** Requests of a page in a time, once it is there. */
async function requestsOf(server, path, ms) {
  const sent = [];
  await withPage(server, async (page) => {
    await page.goto(server.url + path);
    await pause(SETTLE_MS);
    const began = performance.now();
    page.on('request', (request) => sent.push({ at: performance.now() - began, method: request.method(), path: request.url().slice(server.url.length), body: request.postData(), isHinted: AFTER_CHANGE in request.headers() }));
    await pause(ms);
  });
  return sent;
}

/** Seconds that the server has worked. */
export function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
}

/** The share of a core that the server works in a time. */
async function shareDuring(server, ms) {
  const [before, began] = [cpuSeconds(server.pid), performance.now()];
  await pause(ms);
  return ((cpuSeconds(server.pid) - before) * 1000) / (performance.now() - began);
}

/** What a page has read behind each hint. */
function roundsOf(sent) {
  const rounds = [[]];
  for (const one of sent) {
    if (one.path === CHANGES) rounds.push([]);
    else if (one.isHinted) rounds.at(-1).push(one);
  }
  return rounds.filter((round) => round.length > 0);
}

/** Waits for changes as a page does and reads behind each hint what it has read; the rest it sends at the times that it had,
 * from a moment by chance on. */
function pageOf(server, sent, ms) {
  const stop = new AbortController();
  /** The last hint. */
  let after;
  const ask = async ({ method, path, body, isHinted }) => {
    const headers = { ...(body ? { 'content-type': 'application/json' } : {}), ...(isHinted && after ? { [AFTER_CHANGE]: after } : {}) };
    const answer = await fetch(server.own + path, { method, body: body ?? undefined, headers, signal: stop.signal });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.text();
  };
  const isOver = () => stop.signal.aborted;
  const later = (ms) => new Promise((done) => setTimeout(done, ms).unref());
  const read = async (one) => {
    await later((one.at + Math.random() * ms) % ms);
    while (!isOver()) {
      await ask(one);
      await later(ms);
    }
  };
  const follow = async ({ path, body }, rounds) => {
    const { topics } = JSON.parse(body);
    ({ after } = JSON.parse(await ask({ method: 'POST', path, body: JSON.stringify({ topics }) })));
    for (let round = 0; !isOver(); ) {
      const began = performance.now();
      const told = JSON.parse(await ask({ method: 'POST', path, body: JSON.stringify({ after, topics }) }));
      ({ after } = told);
      if (told.changed.length > 0 && rounds.length > 0) {
        for (const one of rounds[round % rounds.length]) ask(one).catch(note);
        round += 1;
      }
      await later(Math.max(0, PACE_MS - (performance.now() - began)));
    }
  };
  const reads = sent.filter(({ path, isHinted }) => path !== CHANGES && !isHinted);
  const polls = sent.filter(({ path, body }) => path === CHANGES && JSON.parse(body).after !== undefined);
  const failed = [];
  const note = (error) => isOver() || failed.push(error);
  for (const one of reads) read(one).catch(note);
  if (polls.length > 0) follow(polls.at(-1), roundsOf(sent)).catch(note);
  return { failed, end: () => stop.abort() };
}

async function crowd(server, kinds, ms) {
  const recorded = [];
  for (const path of kinds) recorded.push(await requestsOf(server, path, ms));
  const before = await shareDuring(server, ms);
  const pages = Array.from({ length: PAGES }, (_, at) => pageOf(server, recorded[at % recorded.length], ms));
  await pause(SETTLE_MS);
  const beside = await shareDuring(server, ms);
  for (const { end } of pages) end();
  const failed = pages.flatMap((page) => page.failed);
  if (failed.length > 0) throw failed[0];
  await pause(1000);
  const after = await shareDuring(server, ms);
  const alone = (before + after) / 2;
  const perMinute = recorded.reduce((sum, sent) => sum + sent.length, 0) / recorded.length / (ms / MINUTE_MS);
  return { share: beside - alone, alone, perMinute };
}

/** Waits until the demand of workers of a measurement before is forgotten: what changes is asked for more often. */
async function untilQuiet(server) {
  for (let before, now; before === undefined || before !== now; ) {
    before = now;
    now = JSON.stringify(await server.rest('GET', '/baton/v1/job-types'));
    await pause(QUIET_MS);
  }
}

export async function idle({ server, size, store }) {
  await untilQuiet(server);
  const quiet = await Promise.all([`/operate/processes/${store.open[0].key}`, '/operate/jobs'].map((path) => requestsOf(server, path, size.idleMs)));
  const [followed, timed] = quiet.map((sent) => sent.length / (size.idleMs / MINUTE_MS));
  const kinds = ['/operate/processes?active=true&incidents=true', `/operate/processes/${store.open[0].key}`, '/tasklist', '/operate'];
  const { result, rate } = await under(server, size.rate, () => crowd(server, kinds, size.crowdMs));
  const note = `of a core, beside ${digits(rate)} instances/s, which take ${digits(result.alone * 100)} % alone; ${digits(result.perMinute)} requests a minute and page`;
  return [
    row('requests of an open page with nothing happening', followed, 3, '/min', 'of an instance that waits'),
    row('the same, of a page that no hint tells of', timed, 3, '/min', 'jobs and workers, its first minute'),
    row(`${PAGES} open pages, CPU of the server`, result.share * 100, 2, '%', `${note}; ${kinds.length} kinds of pages, recorded in the browser and repeated from connections of their own`),
  ];
}
