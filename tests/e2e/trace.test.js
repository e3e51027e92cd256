// The trace view by hand: pointing, keys, search, areas and gaps on a trace whose times are known
// (tests/contract/small_logdir.py), and how fast it moves over a real one.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { accessible } from './lib/axe.js';
import { idle, launch, screenshot, watched } from './lib/browser.js';
import { frames } from './lib/frames.js';
import { large, logdirs } from './lib/logdirs.js';
import { serve } from './lib/servers.js';

const dirs = logdirs();
let browser;
let server;
let view;
before(async () => {
  browser = await launch();
  server = await serve(dirs.made);
  view = await watched(browser, server.url, {});
});
after(async () => {
  await view?.close();
  await server?.close();
  await browser?.close();
  dirs.remove();
});

/** One step: 1 ms from its start. */
const kStep = 't=1ms..2ms';
const trace = (more = '') => `${server.url}#v=1&run=run&worker=node_0&span=1&view=trace${more === '' ? '' : `&${more}`}`;
const stage = () => view.page.getByRole('application');
const details = () => view.page.getByRole('region', { name: 'Selection' });
const hash = () => new URLSearchParams(new URL(view.page.url()).hash.slice(1));

async function open(more) {
  await view.page.goto('about:blank');
  await view.page.goto(trace(more));
  await idle(view.page);
}

/** The middle of a track's first row, at a time of the step shown, in µs from its start. */
async function point(track, at_us) {
  const area = await stage().boundingBox();
  const item = view.page.getByRole('treeitem', { name: track }).first();
  const box = await item.boundingBox();
  return { x: area.x + (at_us / 1000) * area.width, y: box.y + 10 };
}
async function click(track, at_us) {
  const { x, y } = await point(track, at_us);
  await view.page.mouse.click(x, y);
  await idle(view.page);
}

describe('a slice', () => {
  test('a click says what a kernel is, who launched it, and draws the way', async () => {
    await open(kStep);
    await click(/Stream 7/, 200);
    const text = await details().innerText();
    assert.match(text, /cutlass/);
    assert.match(text, /210 µs|210\s?µs/);
    assert.match(text, /cudaLaunchKernel/);
    assert.match(text, /queued 10\.0\s?µs/);
    assert.match(text, /aten::mm/);
    assert.match(text, /grid 8×1×1 · block 128×1×1 · 64 registers · 1\.00\s?KiB shared/);
    assert.match(text, /45 % estimate/);
    assert.ok(hash().has('sel'));
    await accessible(view.page, 'a selected kernel');
    await screenshot(view.page, 'trace-kernel');
  });

  test('keys walk: to the launch, back, to the next of the row, to the parent, and let go', async () => {
    const { page } = view;
    await page.keyboard.press('[');
    await idle(page);
    assert.match(await details().locator('h2').first().innerText(), /cudaLaunchKernel/);
    await page.keyboard.press('p');
    await idle(page);
    assert.match(await details().locator('h2').first().innerText(), /aten::mm/);
    await page.goBack();
    await idle(page);
    assert.match(await details().locator('h2').first().innerText(), /cudaLaunchKernel/);
    await page.keyboard.press(']');
    await idle(page);
    await page.keyboard.press('.');
    await idle(page);
    assert.match(await details().locator('h2').first().innerText(), /Memcpy HtoD/);
    await page.keyboard.press('Escape');
    await details().waitFor({ state: 'detached' });
    assert.ok(!hash().has('sel'));
  });

  test('a link opens it, and what it is called is text', async () => {
    await open('q=onerror');
    await view.page.getByRole('searchbox', { name: /slice/ }).press('Enter');
    await idle(view.page);
    const sel = hash().get('sel');
    await open(`sel=${sel}`);
    assert.match(await details().innerText(), /<img src=x onerror/);
    assert.equal(await view.page.locator('img').count(), 0);
  });
});

test('a gap of a stream is a thing: its length, both neighbours, what the host did', async () => {
  await open(kStep);
  await click(/Stream 7/, 100);
  const text = await details().innerText();
  assert.match(text, /idle 7\d\d\s?µs/); // from the last kernel of step 1 to the first of step 2
  assert.match(text, /Memset/);
  assert.match(text, /cutlass/);
  assert.match(text, /enumerate\(DataLoader\)/);
  await accessible(view.page, 'a selected gap');
  await screenshot(view.page, 'trace-gap');
});

test('a slice without a true time is found, and looked at where it claims to be', async () => {
  const { page } = view;
  await page.goto('about:blank');
  await page.goto(`${server.url}#v=1&run=other&worker=timeless&span=1&view=trace&q=lost_kernel`);
  await idle(page);
  await page.getByRole('searchbox', { name: /slice/ }).press('Enter');
  await idle(page);
  assert.match(await details().innerText(), /lost_kernel[\s\S]*before its launch/);
  const there = /[#&]t=-\d+ns\.\.-\d+ns/;
  await page.waitForFunction((where) => where.test(location.hash), there);
  const link = page.url();
  await page.goto('about:blank');
  await page.goto(link);
  await idle(page);
  await page.waitForFunction((where) => where.test(location.hash), there);
  await page.getByRole('button', { name: 'Show as table' }).click();
  await page.getByRole('region', { name: 'Visible slices' }).getByText('lost_kernel').waitFor();
  await page.getByRole('button', { name: 'Show as timeline' }).click();
  await screenshot(page, 'trace-timeless');
  await stage().focus();
  await page.keyboard.press('0');
  await page.waitForFunction(() => !location.hash.includes('t='));
});

test('search counts, steps, marks where, and Escape ends it', async () => {
  const { page } = view;
  await open();
  await page.keyboard.press('/');
  await page.keyboard.type('aten::mm');
  await page.getByText('1 of 3', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await idle(page);
  assert.match(await details().locator('h2').first().innerText(), /aten::mm/);
  await page.keyboard.press('Enter');
  await page.getByText('2 of 3', { exact: true }).waitFor();
  await page.keyboard.press('Shift+Enter');
  await page.getByText('1 of 3', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !location.hash.includes('q='));
});

test('typing loses no character, however slowly the keys come or the page answers', async () => {
  const { page } = view;
  const field = page.getByRole('searchbox', { name: /slice/ });
  const cpu = await page.context().newCDPSession(page);
  // Pauses around the 180 ms after which the server is asked, and the 300 ms after which the address is written.
  for (const [delay, rate] of [[0, 20], [210, 6], [310, 1]]) {
    await open();
    await cpu.send('Emulation.setCPUThrottlingRate', { rate });
    await page.keyboard.press('/');
    await page.keyboard.type('aten::mm', { delay });
    await page.getByText('1 of 3', { exact: true }).waitFor();
    assert.equal(await field.inputValue(), 'aten::mm');
  }
  await cpu.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  // The address is read again between two keys, before the last query is written to it.
  await open();
  await page.keyboard.press('/');
  for (const key of 'aten::mm') {
    await page.keyboard.type(key, { delay: 220 });
    await page.evaluate(() => dispatchEvent(new PopStateEvent('popstate')));
  }
  await page.getByText('1 of 3', { exact: true }).waitFor();
  assert.equal(await field.inputValue(), 'aten::mm');
  await page.waitForFunction(() => location.hash.includes('q=aten::mm'));
  await page.keyboard.press('Escape');
});

test('every button of the toolbar is whole and in reach, however many colours there are', async () => {
  const { page } = view;
  await open(kStep);
  const was = page.viewportSize();
  for (const width of [900, 1100, 1280, 1500, 1600]) {
    await page.setViewportSize({ width, height: was.height });
    await idle(page);
    const off = await page.getByRole('toolbar', { name: 'Timeline' }).evaluate((bar) =>
      [...bar.querySelectorAll('button, input')]
        .filter((b) => {
          const { left, right, width: w } = b.getBoundingClientRect();
          return left < 0 || right > bar.getBoundingClientRect().right || w < 20 || b.scrollWidth > b.clientWidth + 1;
        })
        .map((b) => b.getAttribute('aria-label') ?? b.innerText),
    );
    assert.deepEqual(off, [], `at ${width} px`);
  }
  await page.setViewportSize(was);
  await idle(page);
  await screenshot(page, 'trace-toolbar');
});

test('an area is summed exactly, by name, kind and track', async () => {
  const { page } = view;
  await open(kStep);
  const from = await point(/Stream 7/, 100);
  const to = await point(/Stream 7/, 600);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y + 4, { steps: 5 });
  await page.mouse.up();
  await idle(page);
  const row = (text) => details().getByRole('row').filter({ hasText: text }).first();
  assert.match(await row('cutlass').innerText(), /\b1\b[\s\S]*0\.210/);
  await details().getByRole('radio', { name: 'by kind' }).check();
  await row('memcpy').waitFor();
  assert.match(await row('memcpy').innerText(), /0\.030/);
  await accessible(page, 'an area');
  await screenshot(page, 'trace-area');
  await page.keyboard.press('Escape');
  await details().waitFor({ state: 'detached' });
});

test('the view moves by keys, wheel and minimap, stays in the trace, and the address follows', async () => {
  const { page } = view;
  await open();
  assert.ok(!hash().has('t'));
  const box = await stage().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 200);
  for (let n = 0; n < 5; n++) await page.mouse.wheel(0, -120);
  await page.waitForFunction(() => location.hash.includes('t='));
  await page.keyboard.press('0');
  await page.waitForFunction(() => !location.hash.includes('t='));
  const strip = await page.locator('canvas[aria-label*="Overview"]').boundingBox();
  await page.mouse.move(strip.x + strip.width * 0.4, strip.y + 20);
  await page.mouse.down();
  await page.mouse.move(strip.x + strip.width * 0.6, strip.y + 20, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes('t='));
  await page.keyboard.press('z');
  await page.waitForFunction(() => !location.hash.includes('t='));
});

test('tracks fold, the help lists the keys, and the table holds what the canvas shows', async () => {
  const { page } = view;
  await open(kStep);
  const before = await page.getByRole('treeitem').count();
  await page.getByRole('treeitem', { name: /GPU 0/ }).first().getByRole('button').click();
  assert.ok((await page.getByRole('treeitem').count()) < before);
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Keys and gestures').waitFor();
  await accessible(page, 'the help');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Show as table' }).click();
  await idle(page);
  const table = page.getByRole('region', { name: 'Visible slices' });
  await table.getByText('aten::linear').waitFor();
  await accessible(page, 'the table of slices');
  await table.getByText('aten::linear').click();
  await idle(page);
  assert.match(await details().locator('h2').first().innerText(), /aten::linear/);
});

test('tracks are hidden, moved, filtered, kept in the address, and back in one click', async () => {
  const { page } = view;
  await open(kStep);
  const names = async () =>
    (await page.getByRole('treeitem').evaluateAll((all) => all.map((e) => e.innerText.replace(/\s+/g, ' ').replace(/ [\d.]+ % busy in view/, '').trim())));
  const first = await names();
  const streams = await page.getByRole('treeitem', { name: /Stream 7/ }).count();
  const thread = page.getByRole('treeitem', { name: /Stream 7/ }).first().getByRole('button').first();
  await thread.focus();
  await page.keyboard.press('Delete');
  await page.getByText('1 hidden').waitFor();
  await page.waitForFunction(() => location.hash.includes('hide=g'));
  assert.equal(await page.getByRole('treeitem', { name: /Stream 7/ }).count(), streams - 1);
  await screenshot(page, 'trace-hidden');
  await page.reload();
  await idle(page);
  await page.getByText('1 hidden').waitFor();
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  assert.deepEqual(await names(), first);

  const host = page.getByRole('treeitem', { level: 2 }).first().getByRole('button').first();
  await host.focus();
  await page.keyboard.press('Alt+ArrowDown');
  await page.waitForFunction(() => location.hash.includes('move='));
  assert.notDeepEqual(await names(), first);
  await page.getByRole('button', { name: 'Reset' }).click();
  assert.deepEqual(await names(), first);
  await page.waitForFunction(() => !location.hash.includes('move='));

  const filter = page.getByRole('searchbox', { name: 'Filter tracks' });
  await filter.fill('no such track');
  await page.getByText('No track of this name').waitFor();
  await filter.fill('stream');
  await page.getByRole('treeitem', { name: /Stream 7/ }).first().waitFor();
  await accessible(page, 'filtered tracks');
  await page.getByRole('button', { name: 'Reset' }).click();
  assert.deepEqual(await names(), first);
});

test('a regular expression is searched for, and half of one is no error', async () => {
  const { page } = view;
  await open();
  const field = page.getByRole('searchbox', { name: /slice/ });
  await field.fill('/^aten::(mm|nothing)$/');
  await page.getByText('1 of 3', { exact: true }).waitFor();
  view.expect(/status of 422/);
  await field.fill('/(/');
  await page.getByText('no expression', { exact: true }).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  await field.fill('/AT.N::MM/i');
  await page.getByText('1 of 3', { exact: true }).waitFor();
  await field.press('Escape');
});

test('the next of the same name is one key, or one button, away', async () => {
  const { page } = view;
  await open();
  const field = page.getByRole('searchbox', { name: /slice/ });
  await field.fill('aten::mm');
  await field.press('Enter');
  await idle(page);
  const first = hash().get('sel');
  await page.getByRole('button', { name: 'next', exact: true }).click();
  await idle(page);
  const second = hash().get('sel');
  assert.notEqual(second, first);
  assert.match(await details().locator('h2').first().innerText(), /aten::mm/);
  await stage().focus();
  await page.keyboard.press('<');
  await page.waitForFunction((sel) => location.hash.includes(`sel=${sel}`), first);
});

test('the trace is to be had for Perfetto: whole, or what is in view', async () => {
  const { page } = view;
  await open(kStep);
  await page.getByRole('button', { name: 'Download for Perfetto' }).click();
  await accessible(page, 'the ways to download');
  await screenshot(page, 'trace-download');
  const links = page.getByRole('link', { name: /whole trace|in view/ });
  assert.equal(await links.count(), 2);
  const sizes = [];
  for (const link of await links.all()) {
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    const bytes = gunzipSync(readFileSync(await download.path()));
    const { traceEvents } = JSON.parse(bytes);
    sizes.push(traceEvents.filter(({ ph }) => ph === 'X').length);
    await page.getByRole('button', { name: 'Download for Perfetto' }).click();
  }
  assert.ok(sizes[1] > 0 && sizes[1] < sizes[0], sizes.join());
});

test('nothing failed on the way', () => view.check());

test('a frame with 100,000 slices in view takes a fraction of its 16 ms', async (t) => {
  // Of our script, the median: how often a frame comes is the machine's matter too (scripts/bench.sh frames).
  const kScriptMs = 8;
  const real = await serve(large(dirs));
  const own = await watched(browser, real.url, {});
  try {
    const { events, moves } = await frames(own.page, real.url);
    assert.ok(events >= 140_000, `${events} events`);
    for (const { key, gap_ms, script_ms } of moves) {
      t.diagnostic(`${key}: a frame each ${gap_ms.toFixed(1)} ms, script ${script_ms.toFixed(1)} ms, ${events} events`);
      assert.ok(script_ms <= kScriptMs, `${key}: ${script_ms} ms of script in a frame`);
    }
    own.check();
  } finally {
    await own.close();
    await real.close();
  }
});
