// `traceglass serve` and TensorBoard as children of a test: started on a free port, known by the
// address that they print, ended with the test.
import { spawn } from 'node:child_process';
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

/** The TensorBoard of a virtual environment, with the plugin of this tree unless it is installed there. */
export function tensorboard(venv, logdir, { env = {}, options = [] } = {}) {
  const args = ['--logdir', logdir, '--host', '127.0.0.1', '--port', '0', '--reload_interval', '0', ...options];
  return start(join(venv, 'bin/tensorboard'), args, /http:\/\/[^\s]+:\d+[^\s]*/, {
    PYTHONPATH: join(root, 'build/plugin_path'),
    PYTHONUNBUFFERED: '1',
    TRACEGLASS_BIN: binary,
    ...env,
  });
}
