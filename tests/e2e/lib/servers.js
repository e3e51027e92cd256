// `traceglass serve` and TensorBoard as children of a test: started on a free port, known by the
// address that they print, ended with the test.
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { binary, root } from './paths.js';

const kStartMs = 60_000;

function start(command, args, address, env = {}) {
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const printed = [];
  const found = new Promise((done, failed) => {
    const late = setTimeout(() => failed(new Error(`no address from ${command}:\n${printed.join('\n')}`)), kStartMs);
    const look = (line) => {
      printed.push(line);
      const match = address.exec(line);
      if (match) {
        clearTimeout(late);
        done(match[0]);
      }
    };
    createInterface({ input: child.stdout }).on('line', look);
    createInterface({ input: child.stderr }).on('line', look);
    child.on('error', failed);
    child.on('exit', (code) => {
      clearTimeout(late);
      failed(new Error(`${command} ended with ${code}:\n${printed.join('\n')}`));
    });
  });
  const ended = new Promise((done) => child.on('exit', done));
  return found.then((url) => ({
    url: url.endsWith('/') ? url : `${url}/`,
    pid: child.pid,
    printed,
    async close() {
      child.stdin.end();
      child.kill('SIGTERM');
      await ended;
    },
  }));
}

/** `traceglass serve`; the address ends with a slash. */
export function serve(logdir, ...options) {
  const args = ['serve', logdir, '--host', '127.0.0.1', '--port', '0', '--exit-with-parent', ...options];
  return start(binary, args, /http:\/\/127\.0\.0\.1:\d+[^\s]*/);
}

/** A folder for PYTHONPATH in which the plugin of this tree looks installed. */
function plugin_path() {
  const folder = join(root, 'build/plugin_path');
  const info = join(folder, 'traceglass-0.dist-info');
  mkdirSync(info, { recursive: true });
  writeFileSync(join(info, 'METADATA'), 'Metadata-Version: 2.1\nName: traceglass\nVersion: 0\n');
  const points = '[tensorboard_plugins]\ntraceglass = traceglass_tb.plugin:TraceglassPlugin\n';
  writeFileSync(join(info, 'entry_points.txt'), points);
  rmSync(join(folder, 'traceglass_tb'), { force: true });
  symlinkSync(join(root, 'tb_backend/tensorboard_plugin/traceglass_tb'), join(folder, 'traceglass_tb'));
  return folder;
}

/** The TensorBoard of a virtual environment, with the plugin of this tree; `a:dir` is a logdir spec. */
export function tensorboard(venv, logdir, { env = {}, options = [] } = {}) {
  const where = logdir.includes(':') ? ['--logdir_spec', logdir] : ['--logdir', logdir];
  const args = [...where, '--host', '127.0.0.1', '--port', '0', ...options];
  // An installed wheel is found without our help.
  const installed = process.env.TRACEGLASS_E2E_INSTALLED !== undefined;
  return start(join(venv, 'bin/python'), ['-m', 'tensorboard.main', ...args], /http:\/\/[^\s]+:\d+[^\s]*/, {
    PYTHONUNBUFFERED: '1',
    ...(installed ? {} : { PYTHONPATH: plugin_path(), TRACEGLASS_BIN: binary }),
    ...env,
  });
}
