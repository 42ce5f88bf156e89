// Measures the budgets of the web application: `node bench/run.mjs --baton PATH --scratch DIR`. See docs/performance.md.
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync, constants } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { closeBrowser, openBrowser } from '../tests/page.mjs';
import { startServer } from '../tests/server.mjs';
import { actions } from './actions.mjs';
import { clicks } from './clicks.mjs';
import { diagram } from './diagram.mjs';
import { fill } from './fill.mjs';
import { first } from './first.mjs';
import { idle } from './idle.mjs';
import { program } from './program.mjs';
import { gather, print, write } from './report.mjs';
import { sizes } from './sizes.mjs';
import { tree } from './tree.mjs';

const MEASUREMENTS = { program, sizes, first, clicks, tree, diagram, actions, idle };
const FULL = { instances: 1_000_000, elements: 100_000, rate: 150, loads: 20, rounds: 40, opens: 5, actions: 100, changes: 60, idleMs: 60_000, crowdMs: 20_000 };
/** The same content with fewer samples, for a machine that is quiet for some minutes alone. */
const SHORT = { ...FULL, loads: 10, rounds: 10, opens: 3, actions: 40, changes: 20, crowdMs: 10_000 };
/** To see that it works; the figures mean little. */
const QUICK = { instances: 2000, elements: 2000, rate: 150, loads: 2, rounds: 1, opens: 1, actions: 4, changes: 4, idleMs: 10_000, crowdMs: 4000 };
const SETTINGS = ['rest.server_timing=true'];
/** Under load, a server may warn. */
const ANY_LINE = [/./];
const TEXT = { type: 'string' };

const { values: options } = parseArgs({
  options: { baton: TEXT, without: TEXT, scratch: TEXT, instances: TEXT, elements: TEXT, only: { ...TEXT, multiple: true }, document: TEXT, quick: { type: 'boolean', default: false }, short: { type: 'boolean', default: false }, 'fill-only': { type: 'boolean', default: false } },
});
const unknown = (options.only ?? []).filter((name) => !(name in MEASUREMENTS));
if (!options.baton || !options.scratch || unknown.length > 0) {
  console.error(`usage: node bench/run.mjs --baton PATH --scratch DIR [--quick|--short] [--instances N] [--elements N] [--without PATH]
  [--fill-only] [--document FILE] [--only ${Object.keys(MEASUREMENTS).join('|')}]…`);
  process.exit(2);
}
process.env.BATON = resolve(options.baton);
const number = (text, usual) => (text === undefined ? usual : Number.parseInt(text, 10));
const usual = options.quick ? QUICK : options.short ? SHORT : FULL;
const size = { ...usual, instances: number(options.instances, usual.instances), elements: number(options.elements, usual.elements) };
const folder = resolve(options.scratch, 'web-bench');
const filled = join(folder, `filled-${size.instances}-${size.elements}`);
const say = (text) => console.log(`  ${text}`);

/** A directory of data with the content, made once. */
async function prepare() {
  const told = join(filled, 'store.json');
  if (existsSync(told)) return JSON.parse(readFileSync(told, 'utf8'));
  const unfinished = `${filled}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  console.log(`filling ${filled}`);
  const server = await startServer([], { data: join(unfinished, 'data'), expected: ANY_LINE });
  try {
    const store = await fill(server, unfinished, size, say);
    writeFileSync(join(unfinished, 'store.json'), JSON.stringify(store));
  } finally {
    await server.stop();
  }
  renameSync(unfinished, filled);
  return JSON.parse(readFileSync(told, 'utf8'));
}

async function measure(store, names) {
  const data = join(folder, 'run');
  rmSync(data, { recursive: true, force: true });
  cpSync(join(filled, 'data'), data, { recursive: true, mode: constants.COPYFILE_FICLONE });
  const server = await startServer(SETTINGS, { data, expected: ANY_LINE });
  const results = {};
  try {
    for (const name of names) {
      console.log(name);
      const began = performance.now();
      try {
        results[name] = await MEASUREMENTS[name]({ server, store, size, say, without: options.without });
        print(results[name]);
      } catch (error) {
        // The others are measured all the same.
        console.error(error);
        process.exitCode = 1;
      }
      say(`${Math.round((performance.now() - began) / 1000)} s`);
    }
  } finally {
    await closeBrowser();
    await server.stop();
  }
  return results;
}

const store = await prepare();
if (!options['fill-only']) {
  const names = Object.keys(MEASUREMENTS).filter((name) => !options.only || options.only.includes(name));
  const browser = (await openBrowser()).version();
  const results = await measure(store, names);
  const { instances, elements, rounds } = size;
  // With FRESH, pages come from `dist/`, before the server.
  const conditions = { instances, elements, rounds, browser, isFresh: Boolean(process.env.FRESH) };
  const all = gather(join(folder, 'results.json'), conditions, results);
  const rows = Object.keys(MEASUREMENTS).flatMap((name) => all.results[name] ?? []);
  console.log(`\n${rows.filter(({ isHeld }) => !isHeld).length} of ${rows.length} are over their limit`);
  if (options.document) write(resolve(options.document), all, Object.keys(MEASUREMENTS));
}
