// The tab in real TensorBoard: shown, alive under a path prefix, harmless where it cannot start, gone
// with TensorBoard. The venv is that of $TRACEGLASS_E2E_VENV (run.js).
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { basename } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { accessible } from './lib/axe.js';
import { idle, launch, screenshot, watched } from './lib/browser.js';
import { logdirs } from './lib/logdirs.js';
import { tensorboard } from './lib/servers.js';

const venv = process.env.TRACEGLASS_E2E_VENV;
const kind = basename(venv);
// TensorBoard's own: fonts that it asks from elsewhere, or without the prefix, and its icon.
const kTheirs = [/https:\/\/fonts\.(googleapis|gstatic)\.com/, /\/font-roboto\//, /favicon/];

let browser, dirs;
before(async () => {
  dirs = logdirs();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  dirs?.remove();
});

/** TensorBoard's page at our tab, and our frame once it has arrived. */
async function tab(board, hash = '#traceglass', options = {}) {
  const view = await watched(browser, board.url, options);
  kTheirs.forEach(view.expect);
  await view.page.goto(`${board.url}${hash}`);
  const frame = await view.page.waitForSelector('iframe').then((element) => element.contentFrame());
  await frame.waitForURL(/\/data\/plugin\/traceglass\/index\.html/);
  return { ...view, frame };
}

const get = (url, headers = {}, method = 'GET') =>
  new Promise((done, failed) => {
    request(url, { headers, method }, (answer) => {
      answer.resume();
      answer.on('end', () => done(answer));
    })
      .on('error', failed)
      .end();
  });

/** Servers started by a process. */
const children = (pid) =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/stat`))
    .filter((name) => readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(pid))
    .filter((name) => readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('--exit-with-parent'));

describe(`TensorBoard of ${kind}`, () => {
  test('the tab shows the profile, and the scalars stay', async () => {
    const logdir = dirs.demo ?? dirs.made;
    const board = await tensorboard(venv, logdir);
    try {
      const listing = await (await fetch(`${board.url}data/plugins_listing`)).json();
      assert.equal(listing.traceglass.tab_name, 'PyTorch Profiler');
      assert.equal(listing.traceglass.enabled, true);

      const { page, frame, check, close } = await tab(board);
      await idle(frame);
      await accessible(frame, 'overview in TensorBoard');
      await screenshot(page, `${kind}-overview`);
      for (const view of ['Operators', 'Trace']) {
        await frame.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }).click();
        await idle(frame);
        await screenshot(page, `${kind}-${view.toLowerCase()}`);
      }
      check();
      await close();

      if (dirs.demo) {
        const tags = await (await fetch(`${board.url}data/plugin/scalars/tags`)).json();
        const names = Object.values(tags).flatMap((run) => Object.keys(run));
        for (const name of ['loss', 'accuracy', 'step_time']) {
          assert.ok(names.some((tag) => tag.includes(name)), `${name} among ${names}`);
        }
        const scalars = await watched(browser, board.url);
        kTheirs.forEach(scalars.expect);
        // The curves, not only their frames: a line of many points, or the canvas that holds it.
        const curves = [
          ['timeseries', 'scalar-card line-chart canvas'],
          ['scalars', 'tf-scalar-card svg.content path[d^="M"][d*="L"]'],
        ];
        for (const [name, curve] of curves) {
          await scalars.page.goto(`${board.url}#${name}`);
          await scalars.page.reload();
          await scalars.page.locator(curve).nth(2).waitFor();
          await screenshot(scalars.page, `${kind}-${name}`);
        }
        await scalars.close();
      }
    } finally {
      await board.close();
    }
  });

  for (const name of ['v100', 'h100']) {
    test(`a real trace of ${name.toUpperCase()}`, async (t) => {
      if (dirs[name] === undefined) return t.skip('no ../shared');
      const board = await tensorboard(venv, dirs[name]);
      try {
        const { page, frame, check, close } = await tab(board);
        await idle(frame);
        assert.match(await frame.locator('h1').first().innerText(), /GPU is\s+busy/);
        await screenshot(page, `${kind}-${name}-overview`);
        await frame.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Trace' }).click();
        await idle(frame);
        await frame.getByRole('application').waitFor();
        await screenshot(page, `${kind}-${name}-trace`);
        check();
        await close();
      } finally {
        await board.close();
      }
    });
  }

  test('under a path prefix, with a logdir spec', async () => {
    const board = await tensorboard(venv, `mine:${dirs.made}`, { options: ['--path_prefix', '/a/b'] });
    try {
      assert.match(board.url, /\/a\/b\/$/);
      const { page, frame, check, close } = await tab(board);
      await idle(frame);
      await screenshot(page, `${kind}-prefix`);
      const { runs } = await frame.evaluate(async () => (await fetch(new URL('api/runs', document.baseURI))).json());
      assert.ok(runs.some(({ name }) => name.startsWith('mine')), JSON.stringify(runs.map(({ name }) => name)));
      check();
      await close();
    } finally {
      await board.close();
    }
  });

  test('dark, narrow', async () => {
    const board = await tensorboard(venv, dirs.made);
    try {
      const { page, frame, check, close } = await tab(board, '?darkMode=true#traceglass', { width: 900, scheme: 'dark' });
      await idle(frame);
      await screenshot(page, `${kind}-dark-900`);
      const [wide, room] = await frame.evaluate(() => {
        const { scrollWidth, clientWidth } = document.scrollingElement;
        return [scrollWidth, clientWidth];
      });
      assert.ok(wide <= room, `the page is ${wide} px wide in ${room}`);
      check();
      await close();
    } finally {
      await board.close();
    }
  });

  test('an empty directory: no tab that promises anything, and the page says what to do', async () => {
    const board = await tensorboard(venv, dirs.empty);
    try {
      const listing = await (await fetch(`${board.url}data/plugins_listing`)).json();
      assert.equal(listing.traceglass.enabled, false);
      const { page, frame, check, close } = await tab(board);
      await idle(frame);
      assert.match(await frame.locator('body').innerText(), /tensorboard_trace_handler/);
      await screenshot(page, `${kind}-empty`);
      check();
      await close();
    } finally {
      await board.close();
    }
  });

  test('a binary that cannot start is said in the tab, and TensorBoard lives', async () => {
    const board = await tensorboard(venv, dirs.made, { env: { TRACEGLASS_BIN: '/no/such/traceglass' } });
    try {
      const { page, frame, check, close } = await tab(board);
      const text = await frame.locator('main').innerText();
      assert.match(text, /could not start/);
      assert.match(text, /\/no\/such\/traceglass/);
      await accessible(frame, 'the page of a failed start');
      await screenshot(page, `${kind}-cannot-start`);
      check();
      await close();
      assert.equal((await get(`${board.url}data/plugins_listing`)).statusCode, 200);
    } finally {
      await board.close();
    }
  });

  test('foreign hosts, origins and methods are refused', async () => {
    const board = await tensorboard(venv, dirs.made);
    try {
      const runs = `${board.url}data/plugin/traceglass/api/runs`;
      const status = async (...args) => (await get(runs, ...args)).statusCode;
      assert.equal(await status(), 200);
      assert.equal(await status({ Host: 'evil.example' }), 403);
      assert.equal(await status({ Origin: 'http://evil.example' }), 403);
      assert.equal(await status({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors' }), 403);
      assert.equal(await status({}, 'POST'), 403, 'a write without the header that the page sends');
    } finally {
      await board.close();
    }
  });

  test('answers pass untouched', async () => {
    const board = await tensorboard(venv, dirs.made);
    try {
      const { headers } = await get(`${board.url}data/plugin/traceglass/api/runs`);
      assert.match(headers['content-type'], /^application\/json/);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      const again = await get(`${board.url}data/plugin/traceglass/api/runs`, { 'If-None-Match': headers.etag });
      assert.equal(again.statusCode, 304);
      assert.ok(again.headers['content-type']);
      assert.ok(!board.printed.some((line) => /In 3\.0, this warning/.test(line)), board.printed.join('\n'));
    } finally {
      await board.close();
    }
  });

  test('the server ends when TensorBoard is killed', async () => {
    const board = await tensorboard(venv, dirs.made);
    assert.equal(children(board.pid).length, 0, 'nothing is started before the tab is opened');
    await get(`${board.url}data/plugin/traceglass/api/runs`);
    const [child] = children(board.pid);
    assert.ok(child, 'the server is a child of TensorBoard');
    process.kill(board.pid, 'SIGKILL');
    const deadline = Date.now() + 10_000;
    while (alive(child) && Date.now() < deadline) await new Promise((done) => setImmediate(done));
    assert.ok(!alive(child), 'the server outlived TensorBoard');
    await board.close();
  });
});

/** Neither gone nor a zombie that nobody has reaped yet. */
function alive(pid) {
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
