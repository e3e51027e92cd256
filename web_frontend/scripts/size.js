// Holds the build to its size budget: gzip KiB of everything that a first visit, the trace view and the memory view load.
// Walks the static imports of the built files, so a chunk that two parts share counts in the part that is loaded first.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const files = readdirSync(join(dist, 'static')).filter((name) => /\.(js|css)$/.test(name));

/** @param {RegExp} pattern */
const named = (pattern) => files.filter((name) => pattern.test(name));
/** @param {string} name */
const text = (name) => readFileSync(join(dist, 'static', name), 'utf8');

/** Chunks that `name` imports statically, itself included. @param {string} name @param {Set<string>} seen */
function closure(name, seen = new Set()) {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const [, found] of text(name).matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) {
    if (found !== undefined) closure(found, seen);
  }
  return seen;
}

/** @param {Iterable<string>} names */
const gzip_kib = (names) => {
  let bytes = 0;
  for (const name of names) bytes += gzipSync(text(name), { level: 9 }).length;
  return bytes / 1024;
};

/** Chunk of a lazy view and its style sheets. @param {RegExp} pattern @param {Set<string>} loaded */
function part(pattern, loaded) {
  const all = new Set();
  for (const name of named(pattern)) {
    if (name.endsWith('.css')) all.add(name);
    else for (const one of closure(name)) all.add(one);
  }
  for (const name of loaded) all.delete(name);
  return all;
}

const shell = part(/^main-/, new Set());
const first = new Set([...shell, ...part(/^Overview(View)?-/, shell)]);
// Table, filter and columns of operators, kernels and memory.
const tables = part(/^table-/, first);
const rows = [
  { name: 'shell + overview', limit: 65, names: first },
  { name: 'tables (shared)', limit: 18, names: tables },
  {
    name: 'memory',
    limit: 35,
    names: part(/^(MemoryView|MemoryChart|uPlot)/i, new Set([...first, ...tables])),
  },
  {
    name: 'metrics',
    limit: 40,
    names: part(/^(MetricsView|MetricChart|uPlot)/i, new Set([...first, ...tables])),
  },
  {
    name: 'notes',
    limit: 42,
    names: part(/^(NotesView|NotesPanel|notes_part|Thread|markdown)/, new Set([...first, ...tables])),
  },
  { name: 'trace', limit: 50, names: part(/^(TraceView|tile_|timeline)/, new Set([...first, ...tables])) },
];
let over = false;
for (const { name, limit, names } of rows) {
  const kib = gzip_kib(names);
  over ||= kib > limit || names.size === 0;
  console.log(
    `${name.padEnd(18)} ${kib.toFixed(1).padStart(6)} KiB gzip  of ${limit}  ${names.size === 0 ? 'missing' : kib > limit ? 'over' : 'ok'}`,
  );
}
process.exitCode = over ? 1 : 0;
