// The trace view of a trace with ten thousand tracks: what comes over the wire, how soon it is there, and the way to
// any of the tracks. The trace is made from a seed (tests/bench/many_lanes.py).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { accessible } from './lib/axe.js';
import { fits, idle, launch, screenshot, watched } from './lib/browser.js';
import { root } from './lib/paths.js';
import { serve } from './lib/servers.js';

const kLanes = Number(process.env.TRACEGLASS_E2E_LANES ?? 10_000);
const kWireBytes = 300_000;
/** A second on an idle machine (scripts/bench.sh scale holds that); a test must not fail on a busy one. */
const kFirstPaintMs = 5000;

let folder;
let browser;
let server;
let view;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'traceglass-large-'));
  const run = join(folder, 'run');
  mkdirSync(run);
  const out = join(run, 'many.pt.trace.json.gz');
  execFileSync('python3', [join(root, 'tests/bench/many_lanes.py'), out, '--lanes', `${kLanes}`]);
  browser = await launch();
  server = await serve(folder);
  view = await watched(browser, server.url, {});
});
after(async () => {
  await view?.close();
  await server?.close();
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const track = (name) => view.page.getByRole('treeitem', { name });

test('ten thousand tracks: the first picture is small and soon', async (t) => {
  const { page } = view;
  await page.goto(`${server.url}#v=1&view=trace`);
  await idle(page); // the server has read it now
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
  let bytes = 0;
  cdp.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.goto('about:blank');
  await page.goto(`${server.url}#v=1&view=trace`);
  await idle(page);
  const at = await page.evaluate(() => performance.getEntriesByName('first-tiles')[0]?.startTime);
  t.diagnostic(`first picture after ${at.toFixed(0)} ms; ${bytes} bytes until nothing is under way`);
  assert.ok(bytes <= kWireBytes, `${bytes} bytes`);
  assert.ok(at <= kFirstPaintMs, `${at} ms`);
  assert.ok((await page.getByRole('treeitem').count()) < 100, 'only what is in sight is made');
  await accessible(page, 'many tracks');
  await screenshot(page, 'trace-many');
});

describe('any of the tracks', () => {
  test('comes by scrolling down: more are listed at the end', async () => {
    const { page } = view;
    const scroller = page.locator('.tracks');
    const height = () => scroller.evaluate((e) => e.scrollHeight);
    const before = await height();
    await scroller.evaluate((e) => e.scrollTo(0, e.scrollHeight));
    await page.waitForFunction((h) => document.querySelector('.tracks').scrollHeight > h + 1000, before);
    await idle(page);
    await screenshot(page, 'trace-many-end');
    await scroller.evaluate((e) => e.scrollTo(0, 0));
  });

  test('is found by its name, and the address keeps the filter', async () => {
    const { page } = view;
    await page.getByRole('searchbox', { name: 'Filter tracks' }).fill(`worker ${kLanes - 1}`);
    await track(`worker ${kLanes - 1}`).waitFor();
    await page.waitForFunction((text) => location.hash.includes(text), `filter=worker%20${kLanes - 1}`);
    await screenshot(page, 'trace-many-filter');
    await page.reload();
    await idle(page);
    await track(`worker ${kLanes - 1}`).waitFor();
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.waitForFunction(() => !location.hash.includes('filter='));
  });

  test('is brought in by a link to one of its events', async () => {
    const { page } = view;
    const { runs } = await (await fetch(`${server.url}api/runs`)).json();
    const [{ id }] = runs[0].workers[0].spans;
    const { events } = await (await fetch(`${server.url}api/traces/${id}/meta`)).json();
    const event = await (await fetch(`${server.url}api/traces/${id}/events/${events - 1}`)).json();
    await page.goto('about:blank');
    await page.goto(`${server.url}#v=1&view=trace&sel=${events - 1}`);
    await idle(page);
    await page.getByRole('region', { name: 'Selection' }).getByText(event.track).first().waitFor();
    await page.getByRole('treeitem', { selected: true }).waitFor();
  });
});

test('all that happens in a marked time is summed, over every track', async () => {
  const { page } = view;
  await page.goto('about:blank');
  await page.goto(`${server.url}#v=1&view=trace&area=10ms..20ms`);
  await idle(page);
  const table = page.getByRole('region', { name: 'Selection' });
  await table.getByText('queue::wait').first().waitFor();
});

test('at 900 px nothing scrolls sideways', async () => {
  const { page } = view;
  await page.setViewportSize({ width: 900, height: 800 });
  await page.goto('about:blank');
  await page.goto(`${server.url}#v=1&view=trace`);
  await idle(page);
  await fits(page, 'many tracks');
  await screenshot(page, 'trace-many-900');
});

test('nothing failed on the way', () => view.check());
