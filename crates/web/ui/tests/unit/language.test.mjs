// Languages: what fails the type check, how numbers count, parts that pages load, words of the API, that every message
// is used, and that pages have no texts of their own.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startSources, UI } from '../sources.mjs';
import { unused } from '../../scripts/messages.mjs';
import { hardCoded, textsIn } from '../../scripts/texts.mjs';

const TRIED = join(UI, 'node_modules/.languages');
const GERMAN = readFileSync(join(UI, 'src/language/messages/de.ts'), 'utf8').replace("'../catalogue'", "'../../src/language/catalogue'").replace("'../en'", "'../../src/language/en'");
const GERMAN_ADMIN = readFileSync(join(UI, 'src/language/messages/de/admin.ts'), 'utf8').replaceAll("'../../", "'../../src/language/");
let vite;
const stored = new Map();

before(async () => {
  // It would keep the process alive.
  delete globalThis.BroadcastChannel;
  globalThis.document = { documentElement: { lang: '' }, cookie: '' };
  globalThis.localStorage = { getItem: (name) => stored.get(name) ?? null, setItem: (name, text) => stored.set(name, text), removeItem: (name) => stored.delete(name) };
  vite = await startSources({ languages: ['de-AT@posix', 'de-CH', 'en-US'] });
});
after(async () => {
  await vite?.close();
  rmSync(TRIED, { recursive: true, force: true });
});

/** The findings of the type check in a language. */
function check(name, text) {
  mkdirSync(TRIED, { recursive: true });
  const file = join(TRIED, `${name}.ts`);
  writeFileSync(file, text);
  const flags = ['--noEmit', '--ignoreConfig', '--strict', '--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler', '--skipLibCheck', '--types', ''];
  const { status, stdout } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', ...flags, file], { cwd: UI, encoding: 'utf8' });
  return status === 0 ? '' : stdout;
}

test('a language with a message missing, one too many, or other places for values fails the type check', () => {
  assert.equal(check('whole', GERMAN), '');
  assert.match(check('missing', GERMAN.replace(/ {2}'frame\.signOut':.*\n/, '')), /frame\.signOut/);
  assert.match(check('extra', GERMAN.replace('catalogue<typeof en>()({', "catalogue<typeof en>()({\n  'login.more': 'Mehr',")), /not assignable to type 'never'/);
  assert.match(check('places', GERMAN.replace('{area}', '{are}')), /not assignable to type 'never'/);
});

test('a part of a language is checked alike', () => {
  assert.equal(check('part', GERMAN_ADMIN), '');
  assert.match(check('part-missing', GERMAN_ADMIN.replace(/ {2}'admin\.new\.group':.*\n/, '')), /admin\.new\.group/);
  assert.match(check('part-places', GERMAN_ADMIN.replace('{member} aus {of}', '{member}')), /not assignable to type 'never'/);
});

test('every message is used', () => assert.deepEqual(unused(), []));

/** Messages whose number is a limit of many. */
const OF_MANY = /^(change\.modify\.first|lists\.heat\.oldest|change\.plan\.allTokens|change\.modify\.applyMany|lists\.chip\.keys|lists\.incidents\.mostOnly|lists\.definition\.latestOnly|history\.(cut|durations\.(all|latest|counted|countedSince))|admin\.flow\.(limit|throttled)|instance\.wait\.(timer|until)Times)$/;

test('what is counted has a message for one, too', async () => {
  const english = await messagesIn('en');
  const counted = Object.entries(english).filter(([key, text]) => /\{count\} (\w+ )?\w+s\b(?! \{)/.test(text) && !OF_MANY.test(key));
  assert.ok(counted.length > 20);
  assert.deepEqual(counted.map(([key]) => key).filter((key) => !(key.endsWith('.other') && key.replace(/other$/, 'one') in english) && !key.endsWith('.one')), []);
});

/** Messages of a language by their keys. */
async function messagesIn(language) {
  const parts = ['admin', 'change', 'history', 'instance', 'lists', 'log', 'login', 'models', 'overview', 'problems', 'tasks', 'words'];
  const paths = language === 'en' ? ['en', ...parts.map((part) => `areas/${part}`)] : [`messages/${language}`, ...parts.map((part) => `messages/${language}/${part}`)];
  const loaded = await Promise.all(paths.map((path) => vite.ssrLoadModule(`/src/language/${path}.ts`)));
  return Object.assign({}, ...loaded.map((one) => one.en ?? one.default));
}
/** English words of several meanings, for which German has several words. */
const HOMONYMS = new Set(['Assignee', 'Candidate groups', 'Candidate users', 'Complete', 'Completed', 'Create', 'Created', 'Done', 'Exporting', 'Fail', 'Keys', 'Message', 'Open', 'Processing', 'Running', 'Source', 'Start', 'Stop', 'Times', 'To']);

test('pages use the words of the vocabulary and no others, and a label is one word in each language', async () => {
  const page = readFileSync(join(UI, '../../../docs/vocabulary.md'), 'utf8');
  const rows = [...page.matchAll(/^\| ([^|]+) \| ([^|]+) \|([^|]*)\| [^|]+ \|$/gm)].slice(1).map(([, ...cells]) => cells.map((cell) => cell.trim()));
  assert.ok(rows.length > 25, 'the page has a table');
  const has = (text, word) => new RegExp(`(^|[^\\p{L}])${word}($|[^\\p{L}])`, 'iu').test(text);
  const [english, german] = [await messagesIn('en'), await messagesIn('de')];
  const texts = (of) => Object.values(of).map((text) => text.replace(/\{\w+\}/g, '…'));
  const found = rows.flatMap(([word, translation, others]) => [
    ...(texts(english).some((text) => has(text, word)) ? [] : [`no page says ${word}`]),
    ...(texts(german).some((text) => has(text, translation)) ? [] : [`no page says ${translation}`]),
    ...others.split(', ').filter(Boolean).flatMap((other) => [...texts(english), ...texts(german)].filter((text) => has(text, other)).map((text) => `${other} instead of ${word}: ${text}`)),
  ]);
  assert.deepEqual(found, []);
  const labels = Object.entries(english).filter(([key, text]) => /^[A-Z][^{.:;!?]*$/.test(text) && text.split(' ').length <= 3 && !key.startsWith('problem.') && !HOMONYMS.has(text));
  const translations = new Map();
  for (const [key, text] of labels) translations.set(text, (translations.get(text) ?? new Set()).add(german[key]));
  assert.deepEqual([...translations].filter(([, all]) => all.size > 1).map(([text, all]) => `${text}: ${[...all]}`), []);
});

test('no page has texts of its own', () => {
  const source = `
    const COLUMNS = [{ head: 'Key', sort: 'key' }, { head: t('a.b'), cell: (row) => wordOf(row.state) }];
    const Page = (props) => (
      <main class="page wide" aria-label="Tasks">
        {props.of === 'one or two' ? t('a.c', { name: 'x' }) : \`all of \${props.of}\`} <b title={t('a.d')}>Try it {'again'}</b> – 5
        <Show when={props.error} fallback={t('a.e')}>{() => { throw new Error('There is no such thing'); }}</Show>
      </main>
    );`;
  assert.deepEqual(textsIn(source), ['Key', 'Tasks', 'all of {}', 'Try it', 'There is no such thing']);
  assert.deepEqual(hardCoded(), []);
});

test('the language is the browser\'s unless one was chosen, and numbers count as it does', async () => {
  const language = await vite.ssrLoadModule('/src/language/index.ts');
  assert.deepEqual(language.LANGUAGES, ['de', 'en']);
  await language.applyLanguage();
  await language.loadParts('tasks');
  assert.deepEqual([language.language(), language.locale(), document.documentElement.lang], ['de', 'de-CH', 'de']);
  assert.equal(language.t('task.assignedTo', { name: '<b>{x}</b>' }), 'Zugewiesen an <b>{x}</b>');
  assert.equal(language.count(1, 'tasks.count.one', 'tasks.count.other'), '1 Aufgabe');
  assert.match(language.count(12345, 'tasks.count.one', 'tasks.count.other'), /^12['’]345 Aufgaben$/);
  await language.chooseLanguage('en');
  assert.equal(stored.get('baton.language'), 'en');
  assert.equal(language.count(0, 'tasks.count.one', 'tasks.count.other'), '0 tasks');
  await language.chooseLanguage('system');
  assert.equal(stored.has('baton.language'), false);
  assert.equal(language.nameOf('de'), 'Deutsch');
});

/** The module as a page that has just been opened has it. */
const opened = (path) => {
  vite.moduleGraph.invalidateAll();
  return vite.ssrLoadModule(path);
};

test('a part speaks the language of the page, follows a change of it, and is told where it was not loaded', async (context) => {
  const language = await opened('/src/language/index.ts');
  await language.applyLanguage();
  const told = context.mock.method(console, 'error', () => undefined);
  assert.equal(language.t('admin.new.group'), 'admin.new.group');
  assert.match(told.mock.calls[0].arguments[0], /admin\.new\.group/);
  await language.loadParts('admin');
  assert.equal(language.t('admin.new.group'), 'Neue Gruppe');
  assert.equal(language.t('admin.delete.ask', { what: 'x' }), 'x löschen?');
  // What was there before is still there, and a part that is there is not loaded again.
  assert.equal(language.t('frame.signOut'), 'Abmelden');
  await language.loadParts('admin');
  await language.chooseLanguage('en');
  assert.equal(language.t('admin.new.group'), 'New group');
  await language.chooseLanguage('system');
  assert.equal(language.t('admin.new.group'), 'Neue Gruppe');
  assert.equal(told.mock.callCount(), 1);
});

test('a part that comes when another language was chosen meanwhile speaks that one', async () => {
  const language = await opened('/src/language/index.ts');
  await language.applyLanguage();
  const loading = language.loadParts('admin');
  await Promise.all([language.chooseLanguage('en'), loading]);
  assert.equal(language.t('admin.new.group'), 'New group');
  await language.chooseLanguage('system');
});

test('words of the API are told in the language; in English, and where there is none, as the constant reads', async () => {
  const language = await opened('/src/language/index.ts');
  const { innerWordOf, plainWordOf, wordOf } = await vite.ssrLoadModule('/src/ui/words.ts');
  const constants = Object.keys(await messagesIn('en')).filter((key) => key.startsWith('word.')).map((key) => key.slice('word.'.length));
  assert.ok(constants.length > 100);
  // One state has one word, whatever its constant; but for spellings, words are those of the constant.
  const letters = (text) => text.toLowerCase().replace(/[^a-z]/g, '');
  assert.equal(wordOf('TERMINATED'), 'Canceled');
  const others = constants.filter((constant) => constant !== 'TERMINATED');
  assert.deepEqual(others.map((one) => letters(wordOf(one))), others.map((one) => letters(plainWordOf(one))));
  assert.deepEqual([wordOf('PARTIALLY_COMPLETED'), innerWordOf('PROCESS_INSTANCE'), wordOf('creating')], ['Partially completed', 'process instance', 'Creating']);
  await language.applyLanguage();
  assert.deepEqual([wordOf('PARTIALLY_COMPLETED'), innerWordOf('PROCESS_INSTANCE'), wordOf('creating')], ['Teilweise abgeschlossen', 'Prozessinstanz', 'Entsteht']);
  assert.deepEqual([wordOf('OF_A_NEWER_SERVER'), innerWordOf('OF_A_NEWER_SERVER')], ['Of a newer server', 'Of a newer server']);
});

test('rows that are held keep their order; new ones wait, and those that are gone are gone', async () => {
  const { hold } = await vite.ssrLoadModule('/src/tasklist/held.ts');
  const rows = (...keys) => keys.map((key) => ({ key }));
  const held = hold(['a', 'b', 'c'], rows('x', 'c', 'a', 'y'), (one) => one.key);
  // Behind the last of them, a row moves nothing: a page that was filled up has none that is new.
  assert.deepEqual(held, { shown: rows('a', 'c', 'y'), waiting: rows('x'), added: rows('y') });
  assert.deepEqual(hold([], rows('a'), (one) => one.key), { shown: rows('a'), waiting: [], added: rows('a') });
});

test('own filters are kept, found again by the address, replaced and dropped', async () => {
  const { dropFilter, keepFilter, ownFilters, ownOf, toApi, wrongLine } = await vite.ssrLoadModule('/src/tasklist/filters.ts');
  stored.set('baton.task-filters', 'no JSON');
  assert.deepEqual(ownFilters(), []);
  keepFilter({ name: 'a', criteria: { process: 'p' } });
  keepFilter({ name: 'a', criteria: { process: 'q' } });
  assert.deepEqual(ownFilters(), [{ name: 'a', criteria: { process: 'q' } }]);
  assert.equal(ownOf({ filter: 'custom', process: 'q', sortBy: 'due' }, ownFilters()).name, 'a');
  assert.equal(ownOf({ filter: 'custom', process: 'q', key: '1' }, ownFilters()), undefined);
  assert.deepEqual(dropFilter('a'), []);
  assert.equal(wrongLine('a=1\n\nb = "x"'), undefined);
  assert.equal(wrongLine('a=1\nb=x'), 'b=x');
  assert.deepEqual(toApi({ filter: 'custom', state: 'all', variables: 'a=1\nb = "x=y"\nc=', key: '5', instance: 'x', followUpBefore: '2026-01-01T00:00:00Z' }), {
    followUpDate: { $lte: '2026-01-01T00:00:00.000Z' },
    processInstanceVariables: [{ name: 'a', value: { $eq: '1' } }, { name: 'b', value: { $eq: '"x=y"' } }],
    userTaskKey: '5',
  });
});

test('what was typed is kept for its author, oldest first to go, and a full browser says so', async () => {
  const { readDraft, keepDraft, dropDraft } = await vite.ssrLoadModule('/src/tasklist/drafts.ts');
  assert.equal(keepDraft('7', '{"a":1}'), true);
  assert.equal(readDraft('7'), '{"a":1}');
  assert.equal(readDraft('8'), undefined);
  dropDraft('7');
  assert.equal(readDraft('7'), undefined);
  const { setItem } = globalThis.localStorage;
  globalThis.localStorage.setItem = () => {
    throw new Error('full');
  };
  assert.equal(keepDraft('7', 'x'), false);
  globalThis.localStorage.setItem = setItem;
});
