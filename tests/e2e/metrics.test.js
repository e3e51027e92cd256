// The metrics view: curves with profiles marked, zoomed by mouse and by keys, the way from a point to
// the nearest profiled step; and log directories that have only one of the two.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { accessible } from './lib/axe.js';
import { fits, idle, launch, screenshot, watched } from './lib/browser.js';
import { logdirs } from './lib/logdirs.js';
import { serve } from './lib/servers.js';

const dirs = logdirs();
const top = mkdtempSync(join(tmpdir(), 'traceglass-metrics-'));
let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
  dirs.remove();
  rmSync(top, { recursive: true, force: true });
});

/** A log directory with those files of the made run that pass. */
function part_of(name, wanted) {
  const folder = join(top, name);
  mkdirSync(folder);
  const from = join(dirs.made, 'run');
  for (const file of readdirSync(from).filter(wanted)) cpSync(join(from, file), join(folder, file));
  return folder;
}
const is_event_file = (name) => name.includes('tfevents');
const is_trace = (name) => name.startsWith('node_0');

async function with_page(logdir, options, body) {
  const server = await serve(logdir);
  try {
    const view = await watched(browser, server.url, options);
    await body({ ...view, url: server.url });
    view.check();
    await view.close();
  } finally {
    await server.close();
  }
}

const kMetrics = '#v=1&run=run&worker=node_0&span=1&view=metrics';
const tab = (page) => page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Metrics' });
const chart = (page) => page.getByRole('group', { name: /^train\/loss: plus and minus zoom/ });
const zoom_of = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1)).get('zoom');

describe('to be looked at', () => {
  for (const name of ['made', 'demo'].filter((name) => dirs[name] !== undefined)) {
    for (const scheme of ['light', 'dark']) {
      test(`${name}, ${scheme}`, async () => {
        await with_page(dirs[name], { scheme }, async ({ page, url }) => {
          for (const width of [900, 1600]) {
            await page.setViewportSize({ width, height: 1000 });
            await page.goto(`${url}${name === 'made' ? kMetrics : '#v=1&view=metrics'}`);
            await idle(page);
            await screenshot(page, `metrics-${name}-${scheme}-${width}`);
            await fits(page, `metrics ${width}`);
            await accessible(page, `metrics ${name} ${scheme} ${width}`);
          }
        });
      });
    }
  }
});

test('keys zoom, move and show all; the focus stays', async () => {
  await with_page(dirs.made, {}, async ({ page, url }) => {
    await page.goto(`${url}${kMetrics}`);
    await idle(page);
    await chart(page).focus();
    const seen = [];
    for (const key of ['+', 'ArrowRight', '0']) {
      const before = page.url();
      await page.keyboard.press(key);
      await page.waitForFunction((was) => location.href !== was, before);
      await idle(page);
      seen.push(zoom_of(page));
    }
    assert.deepEqual(seen, ['1.4..2.6', '1.64..2.84', null]);
    assert.equal(await chart(page).evaluate((element) => element === document.activeElement), true);
  });
});

test('a drag zooms', async () => {
  await with_page(dirs.made, {}, async ({ page, url }) => {
    await page.goto(`${url}${kMetrics}`);
    await idle(page);
    const box = await chart(page).locator('.u-over').boundingBox();
    await page.mouse.move(box.x + box.width * 0.25, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => location.hash.includes('zoom='));
    const [from, to] = zoom_of(page).split('..').map(Number);
    assert.ok(Math.abs(from - 1.5) < 0.05 && Math.abs(to - 2.5) < 0.05, `${from}..${to}`);
  });
});

test('a click on a point leads to the nearest profiled step', async () => {
  await with_page(dirs.made, {}, async ({ page, url }) => {
    await page.goto(`${url}${kMetrics}`);
    await idle(page);
    const box = await chart(page).locator('.u-over').boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await page.getByRole('heading', { name: 'At metric step 2' }).waitFor();
    await page.getByRole('link', { name: 'step 2 in the trace' }).click();
    await idle(page);
    const state = new URLSearchParams(new URL(page.url()).hash.slice(1));
    assert.deepEqual([state.get('view'), state.get('steps')], ['trace', '1']);
  });
});

test('without event files there is no tab', async () => {
  await with_page(part_of('traces', is_trace), {}, async ({ page, url }) => {
    await page.goto(url);
    await idle(page);
    assert.equal(await tab(page).count(), 0);
    await page.goto(`${url}#v=1&view=metrics`); // a link from elsewhere says why
    await idle(page);
    assert.match(await page.locator('main').innerText(), /No scalars lie in this log directory/);
  });
});

test('event files alone are shown, not an empty log directory', async () => {
  const folder = part_of('scalars', is_event_file);
  for (const scheme of ['light', 'dark']) {
    await with_page(folder, { scheme, width: 900 }, async ({ page, url }) => {
      await page.goto(url);
      await idle(page);
      await chart(page).waitFor();
      assert.match(await page.locator('main').innerText(), /No profile lies in .* yet: how to record one/);
      await accessible(page, 'scalars alone');
      await fits(page, 'scalars alone');
      await screenshot(page, `metrics-alone-${scheme}-900`);
    });
  }
});
