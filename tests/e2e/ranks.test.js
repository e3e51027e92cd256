// The view over all ranks in real Chromium: two ranks, 64 with a straggler, one alone, and eight
// real ones where ../shared is; the link from the late rank into its trace; the tables and the CSV.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { accessible } from './lib/axe.js';
import { idle, launch, screenshot, watched } from './lib/browser.js';
import { root, shared } from './lib/paths.js';
import { serve } from './lib/servers.js';

const top = mkdtempSync(join(tmpdir(), 'traceglass-ranks-'));
const dlrm = join(shared, 'fixtures/param/dlrm_kineto');
const dirs = { two: join(top, 'two'), many: join(top, 'many'), alone: join(top, 'alone') };
let browser;

before(async () => {
  const python = (...args) => execFileSync('python3', args.map(String));
  const generate = join(root, 'tests/bench/many_ranks.py');
  python(generate, dirs.two, '--ranks', 2, '--events', 1200, '--collectives', 5);
  python(generate, dirs.many, '--ranks', 64, '--events', 1200);
  python(generate, dirs.alone, '--ranks', 1, '--events', 1200, '--collectives', 5);
  if (existsSync(dlrm)) dirs.dlrm = dlrm;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(top, { recursive: true, force: true });
});

async function with_view(name, options, body) {
  const server = await serve(dirs[name]);
  try {
    const view = await watched(browser, server.url, options);
    await view.page.goto(`${server.url}#v=1&view=distributed`);
    await idle(view.page);
    await body(view.page);
    view.check();
    await view.close();
  } finally {
    await server.close();
  }
}

const sentence = (page) => page.locator('main h1').innerText();
const grid = (page, name) => page.getByRole('grid', { name, exact: true });

describe('to be looked at', () => {
  for (const name of ['two', 'many', 'alone', 'dlrm']) {
    for (const scheme of ['light', 'dark']) {
      test(`${name}, ${scheme}`, async (t) => {
        if (dirs[name] === undefined) return t.skip('no ../shared');
        await with_view(name, { scheme }, async (page) => {
          for (const width of [900, 1600]) {
            await page.setViewportSize({ width, height: 1000 });
            await idle(page);
            const what = `${name}-distributed-${scheme}-${width}`;
            await screenshot(page, what);
            const [wide, room] = await page.evaluate(() => {
              const main = document.querySelector('main');
              return [main.scrollWidth, main.clientWidth];
            });
            assert.ok(wide <= room, `${what}: ${wide} px wide in ${room}`);
            if (width === 1600) await accessible(page, what);
          }
        });
      });
    }
  }
});

test('a straggler among many ranks is named, and shown in its trace', async () => {
  await with_view('many', {}, async (page) => {
    assert.match(await sentence(page), /Rank 42 comes last in 400 of 400 collectives: its kernels/);
    const bars = page.getByRole('region', { name: 'Step by rank' });
    assert.equal(await bars.locator('tbody tr').count(), 16);
    assert.equal(await bars.locator('tbody tr.worst th').innerText(), '42');
    await page.getByRole('link', { name: 'Show rank 42 in trace' }).click();
    await idle(page);
    const address = new URL(page.url()).hash;
    assert.match(address, /worker=host_42/);
    assert.match(address, /view=trace/);
    await page.goBack();
    await idle(page);
    assert.match(await sentence(page), /Rank 42/);
  });
});

test('tables, columns of the heat map and steps follow the address', async () => {
  await with_view('many', {}, async (page) => {
    const map = page.getByRole('region', { name: 'Wait' });
    assert.equal(await map.locator('thead th').count(), 12); // rank, ten steps, sum
    await map.getByRole('radio', { name: 'collectives' }).check();
    await idle(page);
    assert.equal(await map.locator('thead th').count(), 2 + 45); // 400 in bands of nine
    for (const [choice, label, rows] of [
      ['by kind and size', 'Collectives by kind and size', 1],
      ['ranks', 'Ranks', 64],
      ['steps', 'Steps', 10],
    ]) {
      await page.getByRole('radiogroup', { name: 'Table' }).getByRole('radio', { name: choice, exact: true }).check();
      await idle(page);
      assert.equal(await grid(page, label).getAttribute('aria-rowcount'), `${rows + 1}`);
    }
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const lines = readFileSync(await file.path(), 'utf8').trim().split('\r\n');
    assert.equal(file.suggestedFilename(), 'run.steps.csv');
    assert.equal(lines.length, 11);
    assert.match(lines[0], /^Step,Ranks,Length \(ns\)/);
    await page.goto(page.url().replace(/&group=steps/, '') + '&steps=3');
    await idle(page);
    assert.match(await sentence(page), /last in 40 of 40 collectives/);
  });
});

test('one rank says what it cannot tell', async () => {
  await with_view('alone', {}, async (page) => {
    await page.getByText('Only rank 0 is here').waitFor();
    await page.getByText('Waiting shows only between ranks, and there is one.').waitFor();
    assert.equal(await grid(page, 'Collectives').getAttribute('aria-rowcount'), '51');
  });
});
