// The log directories that are looked at: what the example records, a made one with everything in
// it, real V100 and H100 traces where ../shared is, and an empty one.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { root, shared, binary } from './paths.js';

/** The tests' own, with TensorBoard: the made log directory has event files by its writer. */
const python = join(root, 'build/venv/bin/python');

const kReal = {
  v100: 'fixtures/HTA/ns_resolution_trace_rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz',
  h100: 'fixtures/TraceLens/traces_h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz',
};

/** Beside traces there may be event files. */
const first_trace = (folder) => readdirSync(folder).filter((name) => name.endsWith('.json.gz')).sort()[0];

/** A log directory with one trace of over 140,000 events: copies of a real one, or of the made one. */
export function large(dirs) {
  const folder = join(dirname(dirs.made), 'large');
  mkdirSync(folder, { recursive: true });
  const from = dirs.v100 ?? join(dirs.made, 'run');
  const name = first_trace(from);
  const to = join(folder, 'large.pt.trace.json.gz');
  execFileSync('python3', [join(root, 'tests/bench/replicate.py'), join(from, name), to, '--megabytes', '60']);
  return folder;
}

/** A log directory with a bottleneck that was put there (tests/planted), of a strength. */
export function planted(dirs, name, strength) {
  const folder = join(dirname(dirs.made), 'planted');
  execFileSync('python3', [join(root, 'tests/planted/generate.py'), folder, '--plant', name], { stdio: 'ignore' });
  return join(folder, `${name}-${strength}`, 'planted');
}

/** A log directory with the made trace, but for its steps. */
export function without_steps(dirs) {
  const folder = join(dirname(dirs.made), 'stepless');
  mkdirSync(folder, { recursive: true });
  const from = join(dirs.made, 'run');
  const trace = JSON.parse(gunzipSync(readFileSync(join(from, first_trace(from)))));
  trace.traceEvents = trace.traceEvents.filter(({ name }) => !name.startsWith('ProfilerStep'));
  writeFileSync(join(folder, 'stepless.pt.trace.json'), JSON.stringify(trace));
  return folder;
}

/** {name: directory}; `remove()` takes them away again. */
export function logdirs() {
  const top = mkdtempSync(join(tmpdir(), 'traceglass-e2e-'));
  const made = { empty: join(top, 'empty'), made: join(top, 'made') };
  mkdirSync(made.empty);
  execFileSync(python, [join(root, 'tests/contract/small_logdir.py'), made.made]);
  for (const [name, path] of Object.entries(kReal)) {
    const source = join(shared, path);
    if (!existsSync(source)) continue;
    made[name] = join(top, name);
    mkdirSync(made[name]);
    symlinkSync(source, join(made[name], basename(source)));
  }
  const example = join(dirname(binary), 'train_mlp');
  if (existsSync(example)) {
    made.demo = join(top, 'demo');
    execFileSync(example, [made.demo], { stdio: 'ignore' });
  }
  return { ...made, remove: () => rmSync(top, { recursive: true, force: true }) };
}
