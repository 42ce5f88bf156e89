// Bytes that a browser loads, packed as they go over the line: until the first list, with a diagram, and all there is.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withPage } from '../tests/page.mjs';
import { row } from './figures.mjs';

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

const all = () =>
  readdirSync(DIST, { recursive: true })
    .filter((name) => name.endsWith('.gz'))
    .reduce((sum, name) => sum + statSync(join(DIST, name)).size, 0) / KIB;

export async function sizes({ server, store }) {
  return [
    row('script and style until the first list', await loaded(server, '/operate/processes', 'table tbody tr'), 90, 'KiB', 'gzip'),
    row('the same, with a diagram', await loaded(server, `/operate/processes?process=${store.process}`, '.diagram[data-drawn]'), 160, 'KiB', 'gzip'),
    row('all files', all(), 900, 'KiB', 'gzip'),
  ];
}
