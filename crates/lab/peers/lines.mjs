// Common parts of the drivers in JavaScript: lines of JSON with the lab (see crates/lab/src/peer/driver.rs), lanes that
// create instances, and a server as a process.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const READY_MAX_MS = 120_000;

export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

// A server that ends with its driver; its output goes to the driver's log.
export class Server {
  #child;

  constructor(program, words, env = {}) {
    this.name = program;
    this.began = Date.now();
    this.#child = spawn(program, words, { env: { ...process.env, ...env }, stdio: ['ignore', 2, 2] });
    this.#child.on('error', (error) => {
      this.failed = error;
    });
    process.on('exit', () => this.#child.kill('SIGKILL'));
  }

  get process() {
    return this.#child.pid;
  }

  get readySeconds() {
    return (Date.now() - this.began) / 1000;
  }

  async until(holds) {
    for (;;) {
      if (this.failed) throw this.failed;
      if (this.#child.exitCode !== null) throw new Error(`${this.name} ended with ${this.#child.exitCode}`);
      if (await holds().catch(() => false)) return;
      if (Date.now() - this.began > READY_MAX_MS) throw new Error(`${this.name} is not ready in time`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop() {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await ended;
  }
}

export const quantile = (sorted, at) => sorted[Math.max(0, Math.ceil(sorted.length * at) - 1)] ?? null;

const lanes = (count, lane) => Promise.all(Array.from({ length: count }, lane));

// Whole instances, each of a lane after the one before. Ends in the window count.
export async function load({ warmUpSeconds, seconds, concurrency }, instance) {
  const from = Date.now() + warmUpSeconds * 1000;
  const end = from + seconds * 1000;
  const latencies = [];
  let all = 0;
  await lanes(concurrency, async () => {
    while (Date.now() < end) {
      const began = performance.now();
      await instance();
      all += 1;
      if (Date.now() >= from && Date.now() < end) latencies.push((performance.now() - began) / 1000);
    }
  });
  latencies.sort((one, other) => one - other);
  return {
    all,
    perSecond: latencies.length / seconds,
    p50Seconds: quantile(latencies, 0.5),
    p99Seconds: quantile(latencies, 0.99),
  };
}

export async function create({ count, concurrency }, instance) {
  const began = Date.now();
  let next = 0;
  await lanes(concurrency, async () => {
    while (next < count) {
      next += 1;
      await instance();
    }
  });
  return { perSecond: count / Math.max((Date.now() - began) / 1000, 0.001) };
}

// Commands until nobody writes any more.
export async function serve(commands) {
  process.on('SIGTERM', () => process.exit(1));
  for await (const line of createInterface({ input: process.stdin })) {
    let answer;
    try {
      const command = JSON.parse(line);
      if (!Object.hasOwn(commands, command.do)) throw new Error(`there is no command ${command.do}`);
      answer = { ok: await commands[command.do](command) };
    } catch (error) {
      answer = { error: String(error?.message ?? error) };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  process.exit(0);
}
