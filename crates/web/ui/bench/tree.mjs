// The tree of an instance with very many elements: how soon it is there, how it scrolls, what it takes.
import { withPage } from '../tests/page.mjs';
import { digits, quantile, row } from './figures.mjs';
import { addProbe, click } from './probe.mjs';

const TREE = '[role=treegrid]';
const FRAMES = 300;
/** Rows that each frame moves on, as a wheel that is turned fast does. */
const ROWS_A_FRAME = 4;
const ROW_PX = 28;
const MIB = 2 ** 20;

/** Opens the body of the tasks, the one row that can be opened, and waits for the first of them. */
const openBody = (page) =>
  page.evaluate(async (tree) => {
    const before = document.querySelectorAll(`${tree} [aria-level="2"]`).length;
    const began = performance.now();
    document.querySelector(`${tree} [aria-expanded=false] button`).click();
    const isThere = () => {
      const rows = [...document.querySelectorAll(`${tree} [aria-level="2"]`)];
      return rows.length > before && !rows.some((one) => one.textContent.includes('…'));
    };
    while (!isThere()) await new Promise(requestAnimationFrame);
    return performance.now() - began;
  }, TREE);

const scroll = (page) =>
  page.evaluate(
    async ({ tree, count, px }) => {
      const place = document.querySelector(tree);
      let nodes = 0;
      const times = await globalThis.probe.frames(count, () => {
        place.scrollTop += px;
        nodes = Math.max(nodes, document.getElementsByTagName('*').length);
      });
      return { times, nodes, rows: Number(place.getAttribute('aria-rowcount')), reached: place.scrollTop / px };
    },
    { tree: TREE, count: FRAMES, px: ROWS_A_FRAME * ROW_PX },
  );

async function heapMib(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / MIB;
}

export async function tree({ server, size, store }) {
  const [opens, bodies, frames] = [[], [], []];
  let [nodes, heap, rows] = [0, 0, 0];
  for (let at = 0; at < size.opens; at += 1) {
    await withPage(server, async (page) => {
      await addProbe(page);
      await page.goto(`${server.url}/operate/processes/${store.ended[at % store.ended.length]}`);
      await page.locator(`${TREE} [role=row]`).first().waitFor();
      await page.locator('.diagram[data-drawn]').waitFor();
      opens.push((await click(page, { href: `/operate/processes/${store.big}`, asks: '^/baton/v1/element-instances/\\d+/children$', shown: `${TREE} [aria-expanded]` })).ms);
      await page.waitForTimeout(1000);
      bodies.push(await openBody(page));
      const scrolled = await scroll(page);
      frames.push(...scrolled.times);
      nodes = Math.max(nodes, scrolled.nodes);
      rows = Math.max(rows, scrolled.rows);
      heap = Math.max(heap, await heapMib(page));
    });
  }
  const name = `tree of ${store.elements.toLocaleString('en')} elements`;
  return [
    row(`${name}: opens in`, quantile(opens, 75), 300, 'ms', `p75 of ${opens.length}, from the click on a link to the instance; its tasks, once they are opened, in ${digits(quantile(bodies, 75))} ms`),
    row('the same: frames', quantile(frames, 95), 20, 'ms', `p95 of ${frames.length} frames, ${ROWS_A_FRAME} rows on in each`),
    row('the same: longest frame', Math.max(...frames), 50, 'ms', `p99 ${digits(quantile(frames, 99))}`),
    row('the same: nodes', nodes, 1500, '', 'of the whole page'),
    row('the same: heap', heap, 60, 'MiB', `after a collection; ${rows.toLocaleString('en')} rows can be scrolled to`),
  ];
}
