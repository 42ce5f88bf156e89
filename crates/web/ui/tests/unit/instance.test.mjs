// Sentences on waiting instances and on the work of elements, in each language.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startSources } from '../sources.mjs';

/** Moments stand in sentences as they are given. */
const MOMENTS = '\0moments';
const plugin = {
  name: 'moments',
  enforce: 'pre',
  resolveId: (id) => (id.endsWith('/ui/times') ? MOMENTS : undefined),
  load: (id) => (id === MOMENTS ? "export const exactText = (moment) => moment; export const relativeText = () => 'soon'; export const durationText = (ms) => `${ms} ms`;" : undefined),
};
let vite;
const m = {};
before(async () => {
  globalThis.document = { documentElement: { lang: '' }, cookie: '' };
  globalThis.localStorage = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
  vite = await startSources({ plugins: [plugin] });
  for (const [name, path] of Object.entries({ waiting: 'operate/waiting', doings: 'operate/doings', language: 'language/index' })) m[name] = await vite.ssrLoadModule(`/src/${path}.ts`);
  await m.language.loadParts('instance');
});
after(() => vite?.close());

const MOMENT = '2126-01-31T08:00:00.000Z';
const SINCE = { since: MOMENT, incidents: [] };
const job = { jobType: 'pay', jobKind: 'BPMN_ELEMENT', listenerEventType: null, retries: 3, worker: null, deadline: null, streams: null, polls: null, freePlaces: null };
const task = { assignee: null, candidateUsers: [], candidateGroups: [], dueDate: null };
const timer = { dueDate: null, repetitions: 1 };
const CASES = [
  [{ job }, 'waits for a worker of the type pay for 0 ms; 3 retries left', 'wartet auf einen Worker vom Typ pay seit 0 ms; noch 3 Versuche'],
  [{ job: { ...job, retries: 0 } }, 'waits for a worker of the type pay for 0 ms; the job has no retries left', 'wartet auf einen Worker vom Typ pay seit 0 ms; der Job hat keine Versuche mehr'],
  [{ job: { ...job, retries: 1, streams: 0, polls: 0 } }, 'waits for a worker of the type pay for 0 ms; no worker is connected; 1 retry left', 'wartet auf einen Worker vom Typ pay seit 0 ms; kein Worker ist verbunden; noch 1 Versuch'],
  [{ job: { ...job, streams: 1, polls: 1, freePlaces: 3 } }, 'waits for a worker of the type pay for 0 ms; workers connected: 2; 3 retries left', 'wartet auf einen Worker vom Typ pay seit 0 ms; verbundene Worker: 2; noch 3 Versuche'],
  [{ job: { ...job, streams: 1, polls: 0, freePlaces: 0 } }, 'waits for a worker of the type pay for 0 ms; workers connected: 1, with no place free; 3 retries left', 'wartet auf einen Worker vom Typ pay seit 0 ms; verbundene Worker: 1, ohne freien Platz; noch 3 Versuche'],
  [{ job: { ...job, worker: 'w1', deadline: MOMENT } }, `is worked on by w1, of the type pay, until ${MOMENT} (soon)`, `wird von w1 vom Typ pay bearbeitet, bis ${MOMENT} (soon)`],
  [
    { job: { ...job, jobKind: 'EXECUTION_LISTENER', listenerEventType: 'START' } },
    'waits for a worker of the type pay, for its execution listener (start) for 0 ms; 3 retries left',
    'wartet auf einen Worker vom Typ pay für den Ausführungs-Listener (start) seit 0 ms; noch 3 Versuche',
  ],
  [
    { job: { ...job, jobKind: 'TASK_LISTENER', listenerEventType: 'BEFORE_ALL' } },
    'waits for a worker of the type pay, for its task listener (before all) for 0 ms; 3 retries left',
    'wartet auf einen Worker vom Typ pay für den Aufgaben-Listener (before all) seit 0 ms; noch 3 Versuche',
  ],
  [{ message: { messageName: 'paid', correlationKey: null } }, 'waits for the message paid for 0 ms', 'wartet auf die Nachricht paid seit 0 ms'],
  [{ message: { messageName: 'paid', correlationKey: '{name}' } }, 'waits for the message paid with the key {name} for 0 ms', 'wartet auf die Nachricht paid mit dem Schlüssel {name} seit 0 ms'],
  [{ userTask: task }, 'waits for a person for 0 ms', 'wartet auf einen Menschen seit 0 ms'],
  [{ userTask: { ...task, assignee: 'ann', dueDate: MOMENT } }, `waits for a person (ann) for 0 ms, due ${MOMENT} (soon)`, `wartet auf einen Menschen (ann) seit 0 ms, fällig ${MOMENT} (soon)`],
  [{ userTask: { ...task, candidateUsers: ['ann'], candidateGroups: ['desk'] } }, 'waits for a person (one of ann, desk) for 0 ms', 'wartet auf einen Menschen (aus ann, desk) seit 0 ms'],
  [{ timer }, 'waits for a timer', 'wartet auf einen Timer'],
  [{ timer: { ...timer, repetitions: 3 } }, 'waits for a timer, 3 times in all', 'wartet auf einen Timer, insgesamt 3-mal'],
  [{ timer: { ...timer, repetitions: -1 } }, 'waits for a timer, again and again', 'wartet auf einen Timer, immer wieder'],
  [{ timer: { ...timer, dueDate: MOMENT } }, `waits until ${MOMENT} (soon)`, `wartet bis ${MOMENT} (soon)`],
  [{ timer: { dueDate: MOMENT, repetitions: 3 } }, `waits until ${MOMENT} (soon), 3 times in all`, `wartet bis ${MOMENT} (soon), insgesamt 3-mal`],
  [{ timer: { dueDate: MOMENT, repetitions: -1 } }, `waits until ${MOMENT} (soon), again and again`, `wartet bis ${MOMENT} (soon), immer wieder`],
  [{ signal: { signalName: 'alarm' } }, 'waits for the signal alarm for 0 ms', 'wartet auf das Signal alarm seit 0 ms'],
  [{ condition: { expression: '= x > 1' } }, 'waits until x > 1 is true for 0 ms', 'wartet seit 0 ms, bis x > 1 wahr ist'],
  [{ calledInstance: { processDefinitionId: 'p', processDefinitionName: 'Pay' } }, 'waits for an instance of Pay for 0 ms', 'wartet auf eine Instanz von Pay seit 0 ms'],
];

test('what an instance waits for is one sentence in each language', async () => {
  const { waitText } = m.waiting;
  assert.deepEqual(CASES.map(([one]) => waitText({ ...SINCE, ...one }, Date.parse(MOMENT))), CASES.map(([, english]) => english));
  await m.language.chooseLanguage('de');
  assert.deepEqual(CASES.map(([one]) => waitText({ ...SINCE, ...one }, Date.parse(MOMENT))), CASES.map(([, , german]) => german));
  await m.language.chooseLanguage('en');
});

test('words of the model are said in the language, and what is not known as it is', async () => {
  const said = () => [...['Job type', 'Timer, Date', 'as', 'Header Job type', 'toString'].map(m.doings.doingText), ...['timer', 'multiple'].map(m.doings.eventText)];
  assert.deepEqual(said(), ['Job type', 'Timer, Date', 'as', 'Header Job type', 'toString', 'timer', 'multiple']);
  await m.language.chooseLanguage('de');
  assert.deepEqual(said(), ['Jobtyp', 'Timer, Zeitpunkt', 'als', 'Header Job type', 'toString', 'Timer', 'multiple']);
  await m.language.chooseLanguage('en');
});
