// What an instance waits for and what its elements do, as sentences of a language.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const UI = fileURLToPath(new URL('../../', import.meta.url));
/** Moments are said by a module with components, which only browsers load. */
const MOMENTS = '\0moments';
const plugin = {
  name: 'moments',
  enforce: 'pre',
  resolveId: (id) => (id.endsWith('/ui/time') ? MOMENTS : undefined),
  load: (id) => (id === MOMENTS ? "export const exactText = (moment) => moment; export const relativeText = () => 'soon';" : undefined),
};
let vite;
const m = {};
before(async () => {
  globalThis.document = { documentElement: { lang: '' }, cookie: '' };
  globalThis.localStorage = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
  Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en-US'] }, configurable: true });
  vite = await createServer({ root: UI, plugins: [plugin], server: { middlewareMode: true, hmr: false, ws: false, watch: null }, appType: 'custom', logLevel: 'error', optimizeDeps: { noDiscovery: true } });
  for (const [name, path] of Object.entries({ waiting: 'operate/waiting', doings: 'operate/doings', language: 'language/index' })) m[name] = await vite.ssrLoadModule(`/src/${path}.ts`);
  await m.language.loadParts('instance');
});
after(() => vite?.close());

const job = { kind: 'JOB', jobType: 'pay', jobKind: 'BPMN_ELEMENT', listenerEventType: null, retries: null };
const timer = { kind: 'TIMER', dueDate: null, repetitions: null };
const MOMENT = '2126-01-31T08:00:00.000Z';
const due = { ...timer, dueDate: Date.parse(MOMENT) };
const CASES = [
  [job, 'waits for a worker of the type pay', 'wartet auf einen Worker vom Typ pay'],
  [{ ...job, retries: 0 }, 'waits for a worker of the type pay; the job has no retries left', 'wartet auf einen Worker vom Typ pay; der Job hat keine Versuche mehr'],
  [{ ...job, retries: 1 }, 'waits for a worker of the type pay; 1 retry left', 'wartet auf einen Worker vom Typ pay; noch 1 Versuch'],
  [
    { ...job, jobKind: 'EXECUTION_LISTENER', listenerEventType: 'START', retries: 3 },
    'waits for a worker of the type pay, for its execution listener (start); 3 retries left',
    'wartet auf einen Worker vom Typ pay für den Ausführungs-Listener (start); noch 3 Versuche',
  ],
  [
    { ...job, jobKind: 'TASK_LISTENER', listenerEventType: 'BEFORE_ALL' },
    'waits for a worker of the type pay, for its task listener (before all)',
    'wartet auf einen Worker vom Typ pay für den Aufgaben-Listener (before all)',
  ],
  [{ kind: 'MESSAGE', messageName: 'paid', correlationKey: null }, 'waits for the message paid', 'wartet auf die Nachricht paid'],
  [{ kind: 'MESSAGE', messageName: 'paid', correlationKey: '{name}' }, 'waits for the message paid with the key {name}', 'wartet auf die Nachricht paid mit dem Schlüssel {name}'],
  [{ kind: 'USER_TASK', dueDate: null }, 'waits for a person', 'wartet auf einen Menschen'],
  [timer, 'waits for a timer', 'wartet auf einen Timer'],
  [{ ...timer, repetitions: 1 }, 'waits for a timer', 'wartet auf einen Timer'],
  [{ ...timer, repetitions: 3 }, 'waits for a timer, 3 times in all', 'wartet auf einen Timer, insgesamt 3-mal'],
  [{ ...timer, repetitions: -1 }, 'waits for a timer, again and again', 'wartet auf einen Timer, immer wieder'],
  [due, `waits until ${MOMENT} (soon)`, `wartet bis ${MOMENT} (soon)`],
  [{ ...due, repetitions: 3 }, `waits until ${MOMENT} (soon), 3 times in all`, `wartet bis ${MOMENT} (soon), insgesamt 3-mal`],
  [{ ...due, repetitions: -1 }, `waits until ${MOMENT} (soon), again and again`, `wartet bis ${MOMENT} (soon), immer wieder`],
  [{ kind: 'USER_TASK', dueDate: MOMENT }, `waits for a person, due ${MOMENT} (soon)`, `wartet auf einen Menschen, fällig ${MOMENT} (soon)`],
  [{ kind: 'SIGNAL', signalName: 'alarm' }, 'waits for the signal alarm', 'wartet auf das Signal alarm'],
  [{ kind: 'CONDITION', expression: '= x > 1' }, 'waits until x > 1 is true', 'wartet, bis x > 1 wahr ist'],
];

test('what an instance waits for is one sentence in each language', async () => {
  const { waitText } = m.waiting;
  assert.deepEqual(CASES.map(([one]) => waitText(one)), CASES.map(([, english]) => english));
  await m.language.chooseLanguage('de');
  assert.deepEqual(CASES.map(([one]) => waitText(one)), CASES.map(([, , german]) => german));
  await m.language.chooseLanguage('en');
});

test('words of the model are said in the language, and what is not known as it is', async () => {
  const said = () => [...['Job type', 'Timer, Date', 'as', 'Header Job type', 'toString'].map(m.doings.doingText), ...['timer', 'multiple'].map(m.doings.eventText)];
  assert.deepEqual(said(), ['Job type', 'Timer, Date', 'as', 'Header Job type', 'toString', 'timer', 'multiple']);
  await m.language.chooseLanguage('de');
  assert.deepEqual(said(), ['Jobtyp', 'Timer, Zeitpunkt', 'als', 'Header Job type', 'toString', 'Timer', 'multiple']);
  await m.language.chooseLanguage('en');
});
