// A run in progress: a span that is renamed into the log directory is told of within 5 s, without a
// reload and without moving what is looked at; alone and in TensorBoard.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { accessible } from './lib/axe.js';
import { idle, launch, screenshot, watched } from './lib/browser.js';
import { logdirs } from './lib/logdirs.js';
import { serve, tensorboard } from './lib/servers.js';

const kWithinMs = 5000;
const dirs = logdirs();
const top = mkdtempSync(join(tmpdir(), 'traceglass-live-'));
let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
  dirs.remove();
  rmSync(top, { recursive: true, force: true });
});

const kSecond = 1_000_000_000;
const name_of = (span) => `worker.${1_700_000_000_000_000_000n + BigInt(span) * BigInt(kSecond)}.pt.trace.json.gz`;

/** A log directory whose run has one span so far, and a writer of the others. */
function run_in_progress(name) {
  const folder = join(top, name, 'run');
  mkdirSync(folder, { recursive: true });
  const made = join(dirs.made, 'run');
  const trace = join(made, readdirSync(made).filter((file) => file.startsWith('node_0')).sort()[0]);
  const write = (span) => {
    const to = join(folder, name_of(span));
    cpSync(trace, `${to}.tmp`);
    renameSync(`${to}.tmp`, to);
  };
  write(1);
  return { logdir: join(top, name), write };
}

/** What must not change: the address but for the span's name, the scroll, the selection, the picture. */
const place = (frame) =>
  frame.evaluate(() => ({
    hash: location.hash.replace(/&(run|worker|span)=[^&]*/g, ''),
    scroll: [...document.querySelectorAll('*')].filter((e) => e.scrollTop > 0).map((e) => e.scrollTop),
    details: document.querySelector('.drawer, aside')?.textContent ?? '',
    marked: window.marked,
  }));

async function new_span_keeps_the_place(page, frame, write) {
  await frame.evaluate(() => (window.marked = 'not reloaded'));
  const before = await place(frame);
  const news = frame.getByRole('button', { name: 'new: span 2' });
  assert.equal(await news.count(), 0);
  write(2);
  const begun = performance.now();
  await news.waitFor({ timeout: kWithinMs });
  const took = performance.now() - begun;
  assert.ok(took <= kWithinMs, `${took} ms`);
  await idle(frame);
  assert.deepEqual(await place(frame), before);
  return { news, took };
}

test('the trace view keeps range, selection and scroll', async () => {
  const { logdir, write } = run_in_progress('trace');
  const server = await serve(logdir);
  const view = await watched(browser, server.url, { height: 420 });
  const { page } = view;
  await page.goto(`${server.url}#v=1&view=trace&t=1ms..2ms&sel=3`);
  await idle(page);
  await page.locator('.tracks').evaluate((element) => (element.scrollTop = 60));
  await idle(page);
  const { news } = await new_span_keeps_the_place(page, page.mainFrame(), write);
  await accessible(page, 'a new span');
  await screenshot(page, 'live-trace');
  // A reload too keeps it, though the newest is another one by now.
  await page.reload();
  await idle(page);
  assert.match(page.url(), /[#&]span=1(&|$)/);
  assert.match(page.url(), /[#&]sel=3(&|$)/);

  write(3);
  const third = page.getByRole('button', { name: 'new: span 3' });
  await third.click({ timeout: kWithinMs });
  await idle(page);
  assert.match(page.url(), /[#&]span=3(&|$)/);
  assert.equal(await page.getByRole('button', { name: /^new: / }).count(), 0);
  assert.equal(await news.count(), 0);
  view.check();
  await view.close();
  await server.close();
});

test('a table keeps its filter, sort and open row', async () => {
  const { logdir, write } = run_in_progress('table');
  const server = await serve(logdir);
  const view = await watched(browser, server.url, { width: 900, height: 500 });
  await view.page.goto(`${server.url}#v=1&view=operators&filter=aten&sort=-calls&open=aten::mm`);
  await idle(view.page);
  await new_span_keeps_the_place(view.page, view.page.mainFrame(), write);
  await screenshot(view.page, 'live-operators-900');
  view.check();
  await view.close();
  await server.close();
});

test('in TensorBoard', async () => {
  const { logdir, write } = run_in_progress('hosted');
  const server = await tensorboard(process.env.TRACEGLASS_E2E_VENV, logdir);
  const view = await watched(browser, server.url);
  const { page } = view;
  await page.goto(`${server.url}#traceglass&p.traceglass.view=operators&p.traceglass.filter=aten`);
  const frame = await page.waitForSelector('iframe').then((element) => element.contentFrame());
  await frame.waitForURL(/\/data\/plugin\/traceglass\/index\.html/);
  await idle(frame);
  await idle(frame);
  const { news } = await new_span_keeps_the_place(page, frame, write);
  await news.click();
  await frame.waitForFunction(() => /[#&]span=2(&|$)/.test(location.hash));
  await page.waitForFunction(() => /p\.traceglass\.span=2(&|$)/.test(location.hash));
  await view.close();
  await server.close();
});
