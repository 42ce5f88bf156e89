// The sources of the pages, for tests of their logic without a browser.
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

export const UI = fileURLToPath(new URL('../', import.meta.url));

/** Loads modules by `ssrLoadModule`, with messages in the first of these languages that there is. */
export async function startSources({ languages = ['en-US'], parts = [], plugins = [] } = {}) {
  // Node 20 has none.
  Object.defineProperty(globalThis, 'navigator', { value: { languages }, configurable: true });
  const server = { middlewareMode: true, hmr: false, ws: false, watch: null };
  const vite = await createServer({ root: UI, plugins, server, appType: 'custom', logLevel: 'error', optimizeDeps: { noDiscovery: true } });
  if (parts.length > 0) await (await vite.ssrLoadModule('/src/language/index.ts')).loadParts(...parts);
  return vite;
}
