// The table of budgets, on the screen and in a document.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { digits } from './figures.mjs';

const [BEGIN, END] = ['<!-- web-bench: begin -->', '<!-- web-bench: end -->'];
const GIB = 2 ** 30;

const withUnit = (value, unit) => (value === undefined ? '–' : `${digits(value)}${unit.startsWith('/') ? unit : unit && ` ${unit}`}`);
const verdict = ({ limit, isHeld }) => (limit === undefined ? '–' : isHeld ? 'yes' : '**no**');

export function print(rows) {
  for (const one of rows) console.log(`${one.isHeld ? ' ' : '✗'} ${one.budget.padEnd(58)} ${withUnit(one.figure, one.unit).padStart(10)}  limit ${withUnit(one.limit, one.unit).padEnd(8)} ${one.note}`);
}

const machine = () => `${cpus().length} cores (${cpus()[0].model.trim()}), ${Math.round(totalmem() / GIB)} GiB`;

/** Figures of this run and of earlier ones with the same content. */
export function gather(file, conditions, results) {
  const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  const isSame = before && JSON.stringify(before.conditions) === JSON.stringify(conditions);
  const all = { conditions, results: { ...(isSame ? before.results : {}), ...results } };
  writeFileSync(file, JSON.stringify(all, null, 1));
  return all;
}

/** Writes the table between the marks of a document. */
export function write(document, { conditions, results }, order) {
  const rows = order.flatMap((name) => results[name] ?? []);
  const lines = rows.map((one) => `| ${one.budget} | ${withUnit(one.figure, one.unit)} | ${withUnit(one.limit, one.unit)} | ${verdict(one)} | ${one.note} |`);
  const { instances, elements, browser, isFresh } = conditions;
  const head = [
    `${instances.toLocaleString('en')} instances, one more with ${elements.toLocaleString('en')} elements; Chromium ${browser}, the server and the load on`,
    `one machine with ${machine()}${isFresh ? '; pages of `crates/web/dist` before a server that was built earlier, whose answers pass a process more' : ''}:`,
  ];
  const table = ['| budget | figure | limit | held | how |', '|---|---|---|---|---|', ...lines];
  const text = readFileSync(document, 'utf8');
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${document} has no ${BEGIN} … ${END}`);
  writeFileSync(document, `${text.slice(0, from + BEGIN.length)}\n${head.join('\n')}\n\n${table.join('\n')}\n${text.slice(to)}`);
}
