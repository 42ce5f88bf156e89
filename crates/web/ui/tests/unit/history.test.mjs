// The logic of time travel: steps folded into a moment, time spent, heat, words.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { startSources } from '../sources.mjs';

const CASES = new URL('../../../../gateway/src/rest/baton/steps/cases.json', import.meta.url);
let vite;
const m = {};
before(async () => {
  vite = await startSources({ parts: ['admin', 'history'] });
  for (const [name, path] of Object.entries({ fold: 'history/fold', heat: 'history/heat', measures: 'history/measures', words: 'history/words', demand: 'workers/demand', times: 'ui/times', cluster: 'cluster/words' })) m[name] = await vite.ssrLoadModule(`/src/${path}.ts`);
});
after(() => vite?.close());

const EPOCH = Date.parse('2026-01-31T08:00:00.000Z');
let position = 0;
const step = (ms, kind, elementInstanceKey, more = {}) => ({ position: (position += 2), time: new Date(EPOCH + ms).toISOString(), kind, elementId: null, elementInstanceKey, key: elementInstanceKey, name: null, value: null, ...more });
const STEPS = [
  step(0, 'ELEMENT_ACTIVATED', '1', { elementId: 'p', name: 'PROCESS' }),
  step(0, 'VARIABLE_SET', '1', { key: '2', name: 'a', value: '12345678901234567890.10' }),
  step(10, 'ELEMENT_ACTIVATED', '3', { elementId: 'work', name: 'SERVICE_TASK' }),
  step(20, 'JOB_CREATED', '3', { elementId: 'work', key: '4', name: 'w' }),
  step(120, 'JOB_ACTIVATED', '3', { elementId: 'work', key: '4', name: 'w', value: 'worker' }),
  step(150, 'JOB_FAILED', '3', { elementId: 'work', key: '4', name: 'w', value: 'no' }),
  step(150, 'INCIDENT_CREATED', '3', { elementId: 'work', key: '5', name: 'JOB_NO_RETRIES', value: 'no' }),
  step(1150, 'INCIDENT_RESOLVED', '3', { elementId: 'work', key: '5', name: 'JOB_NO_RETRIES', value: 'no' }),
  step(1250, 'JOB_ACTIVATED', '3', { elementId: 'work', key: '4', name: 'w', value: 'worker' }),
  step(1300, 'JOB_COMPLETED', '3', { elementId: 'work', key: '4', name: 'w' }),
  step(1300, 'VARIABLE_SET', '1', { key: '2', name: 'a', value: '2' }),
  step(1310, 'ELEMENT_COMPLETED', '3', { elementId: 'work', name: 'SERVICE_TASK' }),
  step(1320, 'ELEMENT_ACTIVATED', '6', { elementId: 'ask', name: 'USER_TASK' }),
  step(1330, 'SUSPENDED', '1'),
  step(1340, 'CANCELED', '1'),
  step(1350, 'ELEMENT_TERMINATED', '6', { elementId: 'ask', name: 'USER_TASK' }),
];

test('the place of a position is the last step that is not behind it', () => {
  const count = (position) => m.fold.countUntil(STEPS, position);
  assert.deepEqual([undefined, 0, 1, 2, 3, 4, 31, 32, 1e9].map(count), [16, 0, 0, 1, 1, 2, 15, 16, 16]);
  assert.equal(m.fold.countUntil([], 3), 0);
});

test('a moment has what was so, and numbers keep every digit', () => {
  const at = (kind) => m.fold.fold(STEPS, STEPS.findIndex((step) => step.kind === kind) + 1);
  const then = at('INCIDENT_CREATED');
  assert.deepEqual([...then.variables.values()].map(({ name, value, scopeKey }) => [name, value, scopeKey]), [['a', '12345678901234567890.10', '1']]);
  assert.deepEqual(m.fold.countsOf(then), new Map([['work', { active: 0, incidents: 1, completed: 0, canceled: 0 }]]));
  assert.equal(then.jobs.get('4').state, 'FAILED');
  assert.equal(then.isSuspended, false);
  const last = m.fold.fold(STEPS, STEPS.length);
  assert.deepEqual(m.fold.countsOf(last), new Map([['work', { active: 0, incidents: 0, completed: 1, canceled: 0 }], ['ask', { active: 0, incidents: 0, completed: 0, canceled: 1 }]]));
  assert.deepEqual([last.incidents.size, last.jobs.size, last.variables.size, last.isSuspended], [0, 0, 1, true]);
  assert.equal(m.fold.fold(STEPS, 0).elements.size, 0);
});

test('steps are folded as the server does', () => {
  for (const { about, end, steps, then, spent } of JSON.parse(readFileSync(CASES, 'utf8'))) {
    const told = m.fold.fold(steps, steps.length);
    assert.deepEqual(Object.fromEntries(m.fold.countsOf(told)), then.counts, about);
    assert.equal(told.isSuspended, then.isSuspended, about);
    assert.deepEqual([...told.variables.values()].map((one) => [one.scopeKey, one.name, one.value]), then.variables, about);
    assert.deepEqual([...told.incidents.values()].map((one) => [one.key, one.elementKey, one.type, one.message]), then.incidents, about);
    assert.deepEqual([...told.jobs.values()].map((one) => [one.key, one.type, one.state, one.worker]), then.jobs, about);
    const times = m.fold.timeSpent(steps, Date.parse(end)).map((one) => [one.elementId, { waitingMs: one.waiting, workingMs: one.working, incidentMs: one.incident, otherMs: one.other }]);
    assert.deepEqual(Object.fromEntries(times), spent, about);
  }
});

test('time goes to waiting, work, incidents and the rest, and adds up', () => {
  const [work, ask] = m.fold.timeSpent(STEPS, EPOCH + 9_999_999);
  assert.deepEqual(work, { elementId: 'work', count: 1, total: 1300, waiting: 200, working: 80, incident: 1000, other: 20 });
  assert.deepEqual(ask, { elementId: 'ask', count: 1, total: 30, waiting: 0, working: 0, incident: 0, other: 30 });
  // What is still there has time until now.
  const [open] = m.fold.timeSpent(STEPS.slice(0, 5), EPOCH + 620);
  assert.deepEqual([open.total, open.waiting, open.working], [610, 100, 500]);
});

test('durations, sizes, heat and words are as people read them', () => {
  assert.deepEqual([0, 999, 1500, 59_000, 61_000, 9_949, 10_949, 3_600_000, 90_061_000].map(m.times.durationText), ['0 ms', '999 ms', '1.5 s', '59 s', '1 min 1 s', '9.9 s', '11 s', '1 h', '1 d 1 h']);
  assert.deepEqual(m.heat.heats([['a', 100], ['b', 51], ['c', 1], ['d', 0]]), { 'heat-1': ['c'], 'heat-2': [], 'heat-3': ['b'], 'heat-4': ['a'] });
  assert.deepEqual(Object.values(m.heat.heats([])).flat(), []);
  assert.equal(m.words.wordsOf(STEPS[5], () => 'Work'), 'the job w fails: no');
  assert.ok(STEPS.every((one) => m.words.wordsOf(one, (id) => id).length > 5));
  assert.deepEqual([0, 1023, 1024, 1.5 * 1024 ** 3].map(m.cluster.bytesText), ['0 bytes', '1,023 bytes', '1.0 KiB', '1.5 GiB']);
  assert.match(m.cluster.diskWords({ freeBytes: 5, totalBytes: 100, reservedBytes: 10 }), /new work is refused until/);
  assert.deepEqual(m.cluster.flowWords({ inFlight: 100, limit: 100, rejected: 3, waiting: 2 }).length, 3);
  assert.deepEqual(m.cluster.flowWords(null), ['No request was refused since the start.']);
});

test('types with jobs and nobody there come first', () => {
  const type = (jobType, more) => ({ jobType, tenantId: '<default>', waiting: 0, inFlight: 0, failed: 0, timedOut: 0, oldestWaitingSince: null, streams: 0, polls: 0, freePlaces: 0, ...more });
  const rows = [
    type('idle', { streams: 1, freePlaces: 3 }),
    type('work', { inFlight: 1, streams: 1 }),
    type('young', { waiting: 1, oldestWaitingSince: '2026-01-02T00:00:00Z' }),
    type('busy', { waiting: 1, polls: 1 }),
    type('old', { waiting: 1, oldestWaitingSince: '2026-01-01T00:00:00Z' }),
    type('failed', { failed: 1, polls: 1 }),
  ];
  assert.deepEqual(rows.sort(m.demand.byTrouble).map(({ jobType }) => jobType), ['old', 'young', 'failed', 'busy', 'work', 'idle']);
});

test('measures are of elements with and without jobs, and hours without an end are gaps', () => {
  const { everyHour, isMeasure, valueOf, valueText } = m.measures;
  const figures = { count: 1200, averageMs: 5, p50Ms: 5, p95Ms: 1500, maxMs: 1500, totalMs: 9000 };
  const plain = { ...figures, wait: null, work: null };
  assert.deepEqual([isMeasure('waitMs'), isMeasure('toString'), isMeasure(undefined)], [true, false, false]);
  assert.deepEqual([valueOf(plain, 'waitMs'), valueText(plain, 'waitMs'), valueText(plain, 'count'), valueText(plain, 'p95Ms')], [undefined, '–', '1,200', '1.5 s']);
  assert.equal(valueOf({ ...plain, work: { ...figures, p95Ms: 7 } }, 'workMs'), 7);
  const hour = (at) => ({ time: new Date(EPOCH + at * 3_600_000).toISOString() });
  assert.deepEqual(everyHour([]), []);
  assert.deepEqual(
    everyHour([hour(0), hour(2)]).map(({ time, told }) => [(time - EPOCH) / 3_600_000, told?.time]),
    [[0, hour(0).time], [1, undefined], [2, hour(2).time]],
  );
});
