// node tests/e2e/run.js [standalone | overview | trace | tensorboard] [VENV] [options of `node --test`]
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from './lib/paths.js';

const [what = 'standalone', venv = 'build/venv', ...rest] = process.argv.slice(2);
const file = join(root, 'tests/e2e', `${what}.test.js`);
if (!existsSync(file)) {
  console.error(`no ${file}`);
  process.exit(2);
}
const options = ['--test', '--test-concurrency=1', '--test-reporter=spec', ...rest];
const { status } = spawnSync(process.execPath, [...options, file], {
  stdio: 'inherit',
  env: { ...process.env, TRACEGLASS_E2E_VENV: resolve(root, venv) },
});
process.exit(status ?? 1);
