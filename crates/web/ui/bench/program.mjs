// The cost of the application for the program: its size, its start, its memory.
import { readFileSync, statSync } from 'node:fs';
import { startServer } from '../tests/server.mjs';
import { digits, median, pause, row } from './figures.mjs';

const STARTS = 5;
const IDLE_MS = 2000;
const MIB = 2 ** 20;
/** Paths of assets that do not exist. */
const NO_ASSETS = Array.from({ length: 6 }, (_, at) => `/assets/${at}`);

const residentMib = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

/** Loads the page and the files that it names, as a browser does; a server without them answers as many requests. */
async function load(server) {
  const page = await (await fetch(`${server.own}/operate`)).text();
  const paths = [...page.matchAll(/\/assets\/[^"]+/g)].map(([path]) => path);
  for (const path of paths.length > 0 ? paths : NO_ASSETS) await (await fetch(server.own + path)).arrayBuffer();
}

async function started(setting) {
  const [ready, resident] = [[], []];
  for (let at = 0; at < STARTS; at += 1) {
    const server = await startServer([setting]);
    ready.push(server.readyMs);
    await pause(IDLE_MS);
    await load(server);
    resident.push(residentMib(server.pid));
    await server.stop();
  }
  return { ready: median(ready), resident: median(resident) };
}

export async function program({ without }) {
  const size = statSync(process.env.BATON).size / MIB;
  const on = await started('web.enabled=true');
  const off = await started('web.enabled=false');
  const sizes = without
    ? row('binary, more than without the feature `web`', size - statSync(without).size / MIB, 1.5, 'MiB', `${digits(size)} MiB in all`)
    : row('binary', size, undefined, 'MiB', 'with the feature `web`; `--without FILE` compares it with one that has not got it');
  return [
    sizes,
    row('start on an empty directory', on.ready, 200, 'ms', `median of ${STARTS}; ${digits(off.ready)} ms with \`web.enabled=false\``),
    row('idle memory, more than with `web.enabled=false`', on.resident - off.resident, 1, 'MiB', `median of ${STARTS}; ${digits(on.resident)} MiB in all; after the files of a page were asked for`),
  ];
}
