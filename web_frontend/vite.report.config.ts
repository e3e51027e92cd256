// Build of `dist/report.html`: the page as one file without a neighbour, into which `traceglass report` writes answers.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { one_file } from './scripts/one_file.js';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  base: './',
  // Without a server there are no notes: what shows them stays out of the file.
  resolve: {
    alias: ['./notes_part', '../views/notes/NotesView.svelte'].map((find) => ({
      find,
      replacement: here('src/app/report/no_notes.ts'),
    })),
  },
  plugins: [svelte(), one_file('report.html')],
  build: {
    target: 'es2022',
    emptyOutDir: false,
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: here('src/app/report/entry.ts'),
      output: { codeSplitting: false },
    },
  },
});
