// Build of the page: one bundle, two homes. `index.html` is the page of its own; `plugin_entry.ts` becomes the fixed
// name `index.js` that TensorBoard imports and whose `render()` it calls. Everything else is hashed, under `static/`.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { guide } from './scripts/guide.js';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const kBase =
  /vite.preload-helper|node_modules\/(svelte|esm-env|clsx)\/|\/src\/(lib|widgets|api)\/(?!note|when)/;
const kTable =
  /virtual-core|widgets\/(DataTable|virtual_rows|TableTools|Durations|Composition)|lib\/(columns|table|csv|filter|durations)\./;

export default defineConfig(({ mode }) => ({
  // Relative, since TensorBoard serves us below a prefix that nobody knows at build time.
  base: './',
  plugins: [svelte(), guide(), ...(mode === 'test' ? [svelteTesting()] : [])],
  build: {
    target: 'es2022',
    modulePreload: false,
    // Never inline an asset: `data:` is not in every policy that we are served under.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      input: { main: here('index.html'), plugin_entry: here('src/app/plugin_entry.ts') },
      // Else `render` is shaken away, since nothing in the bundle imports it.
      preserveEntrySignatures: 'strict',
      output: {
        entryFileNames: (chunk) => (chunk.name === 'plugin_entry' ? 'index.js' : 'static/[name]-[hash].js'),
        chunkFileNames: 'static/[name]-[hash].js',
        assetFileNames: 'static/[name]-[hash][extname]',
        // Few files rather than many small ones: TensorBoard closes the connection after each. What every view needs is
        // one; the table, which three views need, is another.
        codeSplitting: {
          groups: [
            // First, so that nothing of it is drawn into the table's file.
            { name: 'base', test: (id) => kBase.test(id) && !kTable.test(id), minShareCount: 2, priority: 2 },
            { name: 'table', test: kTable, priority: 1 },
          ],
        },
      },
    },
  },
  worker: {
    format: 'es',
    rolldownOptions: {
      output: { entryFileNames: 'static/[name]-[hash].js', chunkFileNames: 'static/[name]-[hash].js' },
    },
  },
  server: {
    // `npm run dev` beside a `traceglass serve` on its usual port.
    proxy: { '/api': process.env['TRACEGLASS'] ?? 'http://127.0.0.1:6006' },
  },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts'],
    setupFiles: ['src/test_setup.ts'],
    restoreMocks: true,
  },
}));
