// The first page of a browser that has nothing yet: its first paint, and its first rows.
import { withPage } from '../tests/page.mjs';
import { quantile, row } from './figures.mjs';
import { addProbe } from './probe.mjs';

export async function first({ server, size }) {
  const [paints, rows] = [[], []];
  // The browser itself is warm from the second page on.
  for (let at = 0; at <= size.loads; at += 1) {
    // Each page has a context, and with it a cache, of its own.
    await withPage(server, async (page) => {
      await addProbe(page);
      await page.goto(`${server.url}/operate/processes`);
      const shown = await page.evaluate(() => globalThis.probe.since('table tbody tr'));
      const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
      if (at === 0) return;
      paints.push(paint);
      rows.push(shown);
    });
  }
  const note = `p75 of ${size.loads} loads`;
  return [row('first contentful paint', quantile(paints, 75), 300, 'ms', note), row('first rows', quantile(rows, 75), 600, 'ms', note)];
}
