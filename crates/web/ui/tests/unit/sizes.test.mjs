// Sizes of what is built, packed, by chunk: a library that grows, or comes where it should not, is seen here.
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ASSETS = fileURLToPath(new URL('../../../dist/assets/', import.meta.url));
const KIB = 1024;
const ALL_MAX = 900;
/** Own authorizations come page by page. */
const PAGE_MAX = 24;
/** Chunks of libraries, and what all pages have, by the beginnings of their names. */
const LARGER = { base: 40, dmn: 200, form: 152, bpmn: 40, zoomscroll: 40, dist: 100, lezer: 24, 'feel.worker': 60 };

const sizes = readdirSync(ASSETS).map((file) => ({ file, kib: statSync(ASSETS + file).size / KIB }));
const mostOf = (file) => Object.entries(LARGER).find(([name]) => file.startsWith(`${name}-`))?.[1] ?? PAGE_MAX;

test('no chunk is larger than it may be', () => {
  const larger = sizes.filter(({ file, kib }) => kib > mostOf(file)).map(({ file, kib }) => `${file}: ${kib.toFixed(1)} KiB, at most ${mostOf(file)}`);
  assert.deepEqual(larger, []);
});

test('all files together stay small', () => {
  const all = sizes.reduce((sum, { kib }) => sum + kib, 0);
  assert.ok(sizes.length > 30, 'the application comes in parts');
  assert.ok(all <= ALL_MAX, `${all.toFixed(0)} KiB`);
});

test('libraries that few pages need are in chunks of their own', () => {
  for (const name of ['base', 'bpmn', 'dmn', 'form']) assert.ok(sizes.some(({ file }) => file.startsWith(`${name}-`) && file.endsWith('.js.gz')), name);
});
