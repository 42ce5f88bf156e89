// Checks that every message of the catalogue is used: `node scripts/messages.mjs`. That none is missing, the type check knows.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SOURCES = fileURLToPath(new URL('../src/', import.meta.url));
const CATALOGUES = join(SOURCES, 'language/');

export const filesBelow = (folder) =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });

/** The keys of all messages. */
export function english() {
  const text = [join(CATALOGUES, 'en.ts'), ...filesBelow(join(CATALOGUES, 'areas'))].map((path) => readFileSync(path, 'utf8')).join('\n');
  return [...text.matchAll(/^ {2}'([^']+)':/gm)].map(([, key]) => key);
}

/** The keys that no page names. A key in backquotes, such as `tasks.order.${name}`, uses all that begin so. */
export function unused() {
  const pages = filesBelow(SOURCES).filter((path) => /\.tsx?$/.test(path) && !path.startsWith(CATALOGUES));
  const text = pages.map((path) => readFileSync(path, 'utf8')).join('\n');
  const beginnings = [...text.matchAll(/`([a-z][\w-]*\.[\w.-]*)\$\{/g)].map(([, beginning]) => beginning);
  const keys = english();
  if (keys.length === 0) throw new Error('the catalogue has no messages');
  return keys.filter((key) => !text.includes(`'${key}'`) && !text.includes(`of="${key}"`) && !beginnings.some((beginning) => key.startsWith(beginning)));
}

if (process.argv[1] && import.meta.url.endsWith(process.argv[1].split('/').at(-1))) {
  const found = unused();
  if (found.length > 0) {
    console.error(`messages that no page uses:\n  ${found.join('\n  ')}`);
    process.exit(1);
  }
}
