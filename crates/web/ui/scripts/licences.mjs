// Checks the licences of what browsers get: the production tree of the lock file.
import { existsSync, readFileSync } from 'node:fs';

const UI = new URL('../', import.meta.url);
const ALLOWED = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '(MPL-2.0 OR Apache-2.0)']);
/** Packages that name no licence in their manifest, and the one that their read-me names. */
const TOLD_ELSEWHERE = { 'component-props': 'MIT' };
/** MIT with a watermark that stays: docs/decisions/0018-bpmn-io.md has why. */
const OF_BPMN_IO = /displaying the bpmn\.io project watermark/;
const MAY_BE_OF_BPMN_IO = new Set(['bpmn-js', 'dmn-js', 'dmn-js-boxed-expression', 'dmn-js-decision-table', 'dmn-js-drd', 'dmn-js-literal-expression', 'dmn-js-shared', '@bpmn-io/form-js-viewer']);

const NAMES = ['LICENSE', 'LICENSE.md', 'LICENCE', 'LICENSE.txt', 'license', 'LICENSE-MIT'];

/** Each package of production with its licence, and whether it is allowed. */
export function check() {
  const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', UI), 'utf8'));
  const rows = [];
  for (const [path, { dev, license: told, version }] of Object.entries(packages)) {
    if (path === '' || dev) continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const license = told ?? TOLD_ELSEWHERE[name];
    const file = NAMES.map((one) => new URL(`${path}/${one}`, UI)).find((one) => existsSync(one));
    const isOfBpmnIo = MAY_BE_OF_BPMN_IO.has(name) && file !== undefined && OF_BPMN_IO.test(readFileSync(file, 'utf8'));
    rows.push({ name, version, licence: isOfBpmnIo ? 'bpmn.io' : license, isAllowed: isOfBpmnIo || ALLOWED.has(license) });
  }
  return rows;
}

/** The texts of the licences, each once, with the packages that have it. */
export function texts() {
  const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', UI), 'utf8'));
  const known = new Map();
  for (const { name, version, licence } of check()) {
    const path = Object.keys(packages).find((one) => one.endsWith(`node_modules/${name}`) && packages[one].version === version);
    const file = NAMES.map((one) => new URL(`${path}/${one}`, UI)).find((one) => existsSync(one));
    const text = file ? readFileSync(file, 'utf8').trim() : '';
    const key = `${licence}\n${text}`;
    const one = known.get(key) ?? { licence, packages: [], text };
    if (!one.packages.includes(name)) one.packages.push(name);
    known.set(key, one);
  }
  return [...known.values()].sort((a, b) => (a.licence === 'bpmn.io' ? 0 : 1) - (b.licence === 'bpmn.io' ? 0 : 1));
}

if (process.argv[1] && import.meta.url.endsWith(process.argv[1].split('/').at(-1))) {
  const rows = check();
  const counts = {};
  for (const { licence } of rows) counts[licence] = (counts[licence] ?? 0) + 1;
  console.log(counts);
  const wrong = rows.filter(({ isAllowed }) => !isAllowed);
  for (const { name, version, licence } of wrong) console.error(`${name} ${version}: the licence ${licence} is not allowed`);
  process.exit(wrong.length > 0 ? 1 : 0);
}
