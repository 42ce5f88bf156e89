// Builds ../dist of these sources: `node scripts/build.mjs`. With `--check` it builds, and compares with what is there.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { writeTypes } from './types.mjs';

const UI = fileURLToPath(new URL('../', import.meta.url));
const BUILT = join(UI, 'node_modules/.built');
const DIST = join(UI, '../dist');
const SOURCES = 'sources.txt';
/** Not built of. The test in ../tests/sources.rs has the same list. */
const NOT_SOURCES = new Set(['node_modules', 'tests', 'bench', 'src/api/generated']);

function filesBelow(folder, isLeftOut = () => false, root = folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (isLeftOut(relative(root, path))) return [];
    return statSync(path).isDirectory() ? filesBelow(path, isLeftOut, root) : [relative(root, path)];
  });
}

/** The hash of each source, in the order of their paths' bytes. */
function sources() {
  const paths = filesBelow(UI, (path) => NOT_SOURCES.has(path));
  paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const hash = (path) => createHash('sha256').update(readFileSync(join(UI, path))).digest('hex');
  return paths.map((path) => `${hash(path)}  ${path}\n`).join('');
}

async function buildFiles() {
  writeTypes();
  await build({ root: UI, logLevel: 'warn' });
  const files = new Map(filesBelow(BUILT).map((path) => [path, readFileSync(join(BUILT, path))]));
  rmSync(BUILT, { recursive: true });
  return files;
}

function write(files) {
  rmSync(DIST, { recursive: true, force: true });
  mkdirSync(join(DIST, 'assets'), { recursive: true });
  for (const [path, bytes] of files) writeFileSync(join(DIST, `${path}.gz`), gzipSync(bytes, { level: 9 }));
  writeFileSync(join(DIST, SOURCES), sources());
}

/** The files that differ: compressors may, so it is the unpacked files that are compared. */
function differences(files) {
  const there = existsSync(DIST) ? filesBelow(DIST).filter((path) => path !== SOURCES) : [];
  const gone = there.filter((path) => !files.has(path.replace(/\.gz$/, '')));
  const other = [...files].filter(([path, bytes]) => {
    const packed = join(DIST, `${path}.gz`);
    return !existsSync(packed) || !gunzipSync(readFileSync(packed)).equals(bytes);
  });
  return [...gone, ...other.map(([path]) => path)];
}

const files = await buildFiles();
if (process.argv.includes('--check')) {
  const found = differences(files);
  if (found.length > 0) {
    console.error(`dist/ is not what the sources give; run \`make web\`:\n  ${found.join('\n  ')}`);
    process.exit(1);
  }
  console.log(`dist/ is what the sources give: ${files.size} files`);
} else {
  write(files);
  const size = (path) => statSync(join(DIST, path)).size;
  const rows = filesBelow(DIST).filter((path) => path.endsWith('.gz')).map((path) => [size(path), path]);
  rows.sort((a, b) => b[0] - a[0]);
  for (const [bytes, path] of rows) console.log(`${(bytes / 1024).toFixed(1).padStart(8)} KiB  ${path}`);
  console.log(`${(rows.reduce((sum, [bytes]) => sum + bytes, 0) / 1024).toFixed(1).padStart(8)} KiB  in all`);
}
