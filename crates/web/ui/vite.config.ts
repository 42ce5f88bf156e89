import { defineConfig } from 'vite';
import solid from 'vite-plugin-solid';
import { texts } from './scripts/licences.mjs';

/** Libraries have chunks of their own, so that a change of ours leaves them as they are in browsers' caches. */
const chunkOf = (id: string): string | undefined => {
  if (!id.includes('node_modules')) return undefined;
  if (/node_modules\/(solid-js|@solidjs|@tanstack)\//.test(id)) return 'base';
  // Forms have the parsers of the editor, and not the editor.
  if (/node_modules\/@lezer\//.test(id)) return 'lezer';
  return undefined;
};

/** The texts of the licences of all that is built in, for the page that shows them. */
const licences = {
  name: 'licences',
  resolveId: (id: string) => (id === 'virtual:licences' ? id : undefined),
  load: (id: string) => (id === 'virtual:licences' ? `export default ${JSON.stringify(texts())}` : undefined),
};

export default defineConfig({
  // Files name each other from where they are; the server writes into the page where they are.
  base: './',
  plugins: [solid(), licences],
  build: {
    target: 'es2022',
    outDir: 'node_modules/.built',
    emptyOutDir: true,
    // Inlined scripts and images of the kind `data:` need exceptions of the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    rollupOptions: {
      output: {
        manualChunks: chunkOf,
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
});
