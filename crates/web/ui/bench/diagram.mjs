// A diagram of very many elements: the first time, the second time, and when its counts change.
import { withPage } from '../tests/page.mjs';
import { digits, median, quantile, row } from './figures.mjs';
import { addProbe, click } from './probe.mjs';

const LISTED = { href: '/operate/processes', asks: '^/v2/process-instances/search$', shown: '.table tbody tr' };
const DRAWN = '.diagram[data-drawn]';

/** Notes for how long a script was at work on the overlays, from the first one that it touched to the end of its turn. */
function watchOverlays() {
  globalThis.overlays = [];
  let began;
  const note = (node) => node.closest?.('.counts, .djs-overlay-container') && (began ??= performance.now());
  for (const [kind, name] of [[Element, 'append'], [Element, 'remove'], [Element, 'replaceChildren'], [Node, 'removeChild'], [Node, 'appendChild']]) {
    const own = kind.prototype[name];
    kind.prototype[name] = function (...nodes) {
      note(this);
      return own.apply(this, nodes);
    };
  }
  const text = Object.getOwnPropertyDescriptor(Node.prototype, 'textContent');
  Object.defineProperty(Node.prototype, 'textContent', {
    ...text,
    set(value) {
      note(this);
      text.set.call(this, value);
    },
  });
  new MutationObserver(() => {
    if (began !== undefined) globalThis.overlays.push(performance.now() - began);
    began = undefined;
  }).observe(document, { childList: true, subtree: true });
}

export async function diagram({ server, size, store }) {
  const [cold, again, overlays] = [[], [], []];
  let shown = 0;
  const wide = { href: `/operate/processes?process=${store.wide}`, asks: '^/v2/process-definitions/.*(xml|element-instances)$', shown: DRAWN };
  for (let at = 0; at < size.opens; at += 1) {
    await withPage(server, async (page) => {
      await addProbe(page);
      await page.addInitScript(watchOverlays);
      await page.goto(`${server.url}${LISTED.href}`);
      await page.locator(LISTED.shown).first().waitFor();
      cold.push((await click(page, wide)).ms);
      await page.locator('.counts').first().waitFor();
      // Both are kept, and nothing has changed: no request is awaited.
      await click(page, { ...LISTED, asks: undefined });
      again.push((await click(page, { ...wide, asks: undefined })).ms);
      shown = await page.locator('.counts').count();
      await page.evaluate(() => (globalThis.overlays.length = 0));
      // One instance more has ended in each element.
      await server.rest('POST', '/v2/process-instances', { processDefinitionId: store.wide });
      await page.waitForFunction(() => globalThis.overlays.length > 0);
      overlays.push(...(await page.evaluate(() => globalThis.overlays)));
    });
  }
  return [
    row(`diagram of ${store.wideElements.toLocaleString('en')} elements: cold`, quantile(cold, 75), 1500, 'ms', `p75 of ${cold.length}, from the click, with what draws it`),
    row('the same: again', quantile(again, 75), 100, 'ms', `p75 of ${again.length}, after another page; p50 ${digits(median(again))}`),
    row('the same: overlays', quantile(overlays, 75), 16, 'ms', `p75 of ${overlays.length} changes of ${shown} counts, time of the script`),
  ];
}
