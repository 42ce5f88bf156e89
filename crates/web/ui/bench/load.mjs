// Load beside what is measured: instances of one task, started and worked on at a rate, by the program's own generator.
import { spawn } from 'node:child_process';
import { pause } from './figures.mjs';

const LONG = '3600s';
/** Until workers have their streams, and the rate is even. */
const SETTLE_MS = 3000;

/** The value of a metric, summed over its labels. */
export async function metric(server, name, labels = '') {
  const text = await (await fetch(`${server.management}/metrics`)).text();
  const lines = text.split('\n').filter((line) => (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && line.includes(labels));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Addresses of a server, as the generator takes them. */
export const addresses = (server) => ['--rest-address', server.own, '--grpc-address', server.grpc, '--management-address', server.management];

/** Runs the generator to its end. */
export async function bench(server, words) {
  const running = spawn(process.env.BATON, ['bench', ...addresses(server), '--no-progress', ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
  const code = await new Promise((done) => running.on('exit', done));
  if (code !== 0) throw new Error(`baton bench ended with ${code}`);
}

/** Does `work` while so many instances a second begin and end; gives what came of it, and the rate that it was. */
export async function under(server, rate, work) {
  const words = ['--protocol', 'grpc', '--rate', String(rate), '--warm-up', '1s', '--duration', LONG, '--no-progress'];
  const running = spawn(process.env.BATON, ['bench', ...addresses(server), ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise((done) => running.on('exit', done));
  try {
    await pause(SETTLE_MS);
    const [before, began] = [await metric(server, 'zeebe_executed_instances_total', 'completed'), performance.now()];
    const result = await work();
    const after = await metric(server, 'zeebe_executed_instances_total', 'completed');
    return { result, rate: ((after - before) * 1000) / (performance.now() - began) };
  } finally {
    running.kill('SIGKILL');
    await ended;
  }
}
