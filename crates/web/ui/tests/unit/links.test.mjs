// The table of addresses in docs/ is that of the browser test.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { page } from '../links.mjs';

const PAGE = new URL('../../../../../docs/web-links.md', import.meta.url);

test('docs/web-links.md has the addresses that the browser test opens (UPDATE_EXPECT=1 writes it)', () => {
  if (process.env.UPDATE_EXPECT) writeFileSync(PAGE, page());
  assert.equal(readFileSync(PAGE, 'utf8'), page());
});
