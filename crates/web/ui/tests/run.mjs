// Tests of the web application: `node tests/run.mjs --baton PATH [NAME ...]`. Types, licences, built files, logic, browser.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { check as checkLicences } from '../scripts/licences.mjs';
import { unused } from '../scripts/messages.mjs';
import { browserPath } from './chromium.mjs';

const UI = fileURLToPath(new URL('../', import.meta.url));
const TIMEOUT_MS = 600_000;
const FOLDERS = ['tests/unit', 'tests/browser'];
/** Files at once for each core: each is a server and a browser of its own, and waits half of its time. */
const AT_ONCE = 2;

const [flag, baton, ...names] = process.argv.slice(2);
if (flag !== '--baton' || !baton) {
  console.error('usage: node tests/run.mjs --baton PATH [NAME ...]');
  process.exit(2);
}
process.env.BATON = resolve(baton);
// The browser keeps its profile, and the servers their data, where the tests write.
let passed = 0;
let failed = 0;

function step(name, work) {
  const began = performance.now();
  try {
    work();
    passed += 1;
    console.log(`✔ ${name} (${Math.round(performance.now() - began)} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`✖ ${name}\n${error.message}`);
  }
}

function command(...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: UI, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
}

if (names.length === 0) {
  step('what browsers get has licences that are allowed', () => {
    const wrong = checkLicences().filter(({ isAllowed }) => !isAllowed);
    if (wrong.length > 0) throw new Error(wrong.map(({ name, licence }) => `${name}: ${licence}`).join('\n'));
  });
  step('every message is used', () => {
    const left = unused();
    if (left.length > 0) throw new Error(left.join('\n'));
  });
  step('dist/ is what the sources give', () => command('scripts/build.mjs', '--check'));
  step('types fit', () => command('node_modules/typescript/bin/tsc', '--noEmit'));
}
const files = FOLDERS.flatMap((folder) => readdirSync(join(UI, folder)).filter((name) => name.endsWith('.test.mjs')).map((name) => join(UI, folder, name)));
const chosen = files.filter((file) => names.length === 0 || names.some((name) => file.includes(name)));

/** Runs files and counts their tests, by file. */
function runFiles(files, concurrency) {
  const counts = new Map(files.map((file) => [file, { passed: 0, failed: [] }]));
  const running = run({ files, concurrency, timeout: TIMEOUT_MS });
  const isTest = ({ name, details }) => details.type !== 'suite' && !files.includes(name);
  running.on('test:pass', (one) => {
    if (isTest(one)) counts.get(one.file).passed += 1;
  });
  running.on('test:fail', (one) => {
    // A file that fails beside its tests is a failure of its own.
    if (isTest(one) || (files.includes(one.name) && one.details.error?.failureType !== 'subtestsFailed')) counts.get(one.file ?? one.name).failed.push(one.name);
  });
  running.compose(new spec()).pipe(process.stdout);
  // The reporter has more to say first.
  return new Promise((done) => running.on('end', () => setImmediate(() => done(counts))));
}

// Files that run at once would each unpack it.
if (chosen.some((file) => file.includes('/browser/'))) process.env.CHROMIUM = await browserPath();
const counts = await runFiles(chosen, AT_ONCE * availableParallelism());
// Browsers and servers share two cores with other suites: a file that fails runs once more, alone, and this is said.
const again = chosen.filter((file) => counts.get(file).failed.length > 0);
if (names.length === 0 && again.length > 0) {
  const unstable = again.flatMap((file) => counts.get(file).failed);
  console.log(`\nonce more, alone: ${again.map((file) => basename(file)).join(', ')}`);
  for (const [file, count] of await runFiles(again, 1)) counts.set(file, count);
  console.log(`\nfailed at first:\n${unstable.map((name) => `  ${name}`).join('\n')}`);
  // One line for each, as `scripts/run-tests` counts them.
  const still = again.flatMap((file) => counts.get(file).failed);
  for (const name of unstable.filter((name) => !still.includes(name))) console.log(`at a second try: ${name}`);
}
for (const count of counts.values()) {
  passed += count.passed;
  failed += count.failed.length;
}
console.log(`\nweb: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
