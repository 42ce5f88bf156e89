// From a click to the rows that answer it, for each query and order that people ask most.
import { openBrowser, withPage } from '../tests/page.mjs';
import { digits, median, quantile, row } from './figures.mjs';
import { addProbe, click } from './probe.mjs';
import { orders, questions } from './questions.mjs';

/** Times of each question, one after the other, on a page that has none of the answers yet. */
async function rounds(server, asked, count) {
  const times = new Map(asked.map(({ name }) => [name, []]));
  // The first round brings the parts of the application; the browser keeps them.
  await withPage(server, async (page) => {
    await addProbe(page);
    for (let round = 0; round <= count; round += 1) {
      await page.goto(`${server.url}/operate/quarantine`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      for (const { name, href, asks, shown } of asked) {
        const time = await click(page, { href: href(round), asks, shown });
        if (round > 0) times.get(name).push(time);
      }
    }
  });
  return times;
}

export async function clicks({ server, size, store, say }) {
  await openBrowser();
  const asked = questions(store);
  const times = await rounds(server, asked, size.rounds);
  const all = [...times.values()].flat();
  const slowest = (of) => [...times].map(([name, figures]) => [name, quantile(figures.map(of), 99)]).sort(([, one], [, other]) => other - one);
  for (const [name, figures] of times) {
    const [click, answer] = [figures.map(({ ms }) => ms), figures.map(({ serverMs }) => serverMs)];
    say(`${name.padEnd(45)} click p50 ${digits(median(click))}, p99 ${digits(quantile(click, 99))} ms; server p50 ${digits(median(answer))}, p99 ${digits(quantile(answer, 99))} ms`);
  }
  const note = (of) => `slowest: ${slowest(of).slice(0, 2).map(([name, figure]) => `${name}, ${digits(figure)}`).join('; ')}`;
  const [byClick, byServer] = [({ ms }) => ms, ({ serverMs }) => serverMs];
  const others = await rounds(server, orders(), Math.min(size.rounds, 5));
  const slow = [...others].map(([name, figures]) => [name, median(figures.map(byClick))]).sort(([, one], [, other]) => other - one);
  return [
    row(`click to rows, ${asked.length} queries`, quantile(all.map(byClick), 99), 100, 'ms', `p99 of ${all.length} clicks, p50 ${digits(median(all.map(byClick)))}; ${note(byClick)}`),
    row('the same, time of the server', quantile(all.map(byServer), 99), 50, 'ms', `p99; ${note(byServer)}`),
    row(`click to rows, ${others.size} orders of all instances`, slow[0][1], undefined, 'ms', `median of the slowest: ${slow.slice(0, 3).map(([name, figure]) => `${name}, ${digits(figure)}`).join('; ')}`),
  ];
}
