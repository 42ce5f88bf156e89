// How soon a page shows what its user has done, and what others have done, while a million instances are there and more
// begin and end all the time.
import { withPage } from '../tests/page.mjs';
import { start, until } from '../tests/server.mjs';
import { digits, pause, quantile, row } from './figures.mjs';
import { under } from './load.mjs';
import { addProbe } from './probe.mjs';

const STATE = 'main header .state';
const [ACTIVE, SUSPENDED] = ['Active', 'Suspended'];
/** Pauses between changes of others, by chance, so that they meet any moment between two hints. */
const [PAUSE_MS, CHANCE_MS] = [600, 1000];

/** An instance that waits, on its page. */
async function withInstance(server, store, work) {
  const key = await start(server, store.switched);
  const isFound = async () => (await server.rest('POST', '/v2/process-instances/search', { filter: { processInstanceKey: key } })).items.length === 1;
  await until(isFound, 'the instance is found');
  await withPage(server, async (page) => {
    await addProbe(page);
    await page.goto(`${server.url}/operate/processes/${key}`);
    await page.locator(STATE, { hasText: ACTIVE }).waitFor();
    await pause(1000);
    await work(page, key);
  });
}

async function own(page, count) {
  const times = [];
  for (let at = 0; at < count; at += 1) {
    const [button, text] = at % 2 === 0 ? ['Suspend', SUSPENDED] : ['Resume', ACTIVE];
    const press = ([button, state, text]) => globalThis.probe.press(button, state, text);
    times.push(await page.evaluate(press, [button, STATE, text]));
    // The button is busy until the reads are back.
    const next = at % 2 === 0 ? 'Resume' : 'Suspend';
    await page.getByRole('button', { name: next, exact: true, disabled: false }).waitFor();
    await pause(200);
  }
  return times;
}

async function ofOthers(server, page, key, count) {
  const times = [];
  for (let at = 0; at < count; at += 1) {
    const [word, text] = at % 2 === 0 ? ['suspension', SUSPENDED] : ['resumption', ACTIVE];
    await pause(PAUSE_MS + Math.random() * CHANCE_MS);
    const seen = page.evaluate(([state, text]) => globalThis.probe.when(state, text), [STATE, text]);
    const began = Date.now();
    await server.rest('POST', `/v2/process-instances/${key}/${word}`, {});
    times.push((await seen) - began);
  }
  return times;
}

export async function actions({ server, size, store }) {
  let [mine, others] = [[], []];
  const { rate } = await under(server, size.rate, () =>
    withInstance(server, store, async (page, key) => {
      mine = await own(page, size.actions);
      others = await ofOthers(server, page, key, size.changes);
    }),
  );
  const note = (times) => `p99 of ${times.length} beside ${digits(rate)} instances/s; p50 ${digits(quantile(times, 50))}`;
  return [row('action to new state on the page', quantile(mine, 99), 300, 'ms', note(mine)), row('change by others to new state on the page', quantile(others, 99), 1000, 'ms', note(others))];
}
