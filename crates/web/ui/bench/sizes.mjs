// Bytes that a browser loads, packed as they go over the line: until the first list, with a diagram, and all there is.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withPage } from '../tests/page.mjs';
import { digits, row } from './figures.mjs';

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const KIB = 1024;

async function loaded(server, path, shown) {
  let bytes = 0;
  await withPage(server, async (page) => {
    const answers = [];
    page.on('response', (response) => response.url().includes('/assets/') && answers.push(response));
    await page.goto(server.url + path);
    await page.locator(shown).first().waitFor();
    for (const answer of answers) bytes += Number((await answer.allHeaders())['content-length'] ?? 0);
  });
  return bytes / KIB;
}

/** A chunk that is named among them has so many KiB at least. */
const NAMED_KIB = 4;

/** Files by their names without hashes, the largest first. */
function chunks() {
  const files = readdirSync(DIST, { recursive: true }).filter((name) => name.endsWith('.gz'));
  const chunk = (name) => ({ name: name.replace(/^assets\//, '').replace(/-[\w-]{8}(?=\.)/, '').replace(/\.gz$/, ''), kib: statSync(join(DIST, name)).size / KIB });
  return files.map(chunk).sort((one, other) => other.kib - one.kib);
}

const sum = (list) => list.reduce((all, { kib }) => all + kib, 0);

export async function sizes({ server, store }) {
  const all = chunks();
  const small = all.filter(({ kib }) => kib < NAMED_KIB);
  const named = all.filter(({ kib }) => kib >= NAMED_KIB).map(({ name, kib }) => `\`${name}\` ${digits(kib)}`);
  return [
    row('script and style until the first list', await loaded(server, '/operate/processes', 'table tbody tr'), 90, 'KiB', 'gzip'),
    row('the same, with a diagram', await loaded(server, `/operate/processes?process=${store.process}`, '.diagram[data-drawn]'), 160, 'KiB', 'gzip'),
    row('all files', sum(all), 900, 'KiB', `gzip; by chunk: ${named.join(', ')}, ${small.length} smaller ones ${digits(sum(small))}`),
  ];
}
