// `traceglass report` in real Chromium: one file, opened from the disk with the network off, in which
// every view that it offers is there, and from which no request leaves.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { accessible } from './lib/axe.js';
import { fits, idle, launch, screenshot, watched } from './lib/browser.js';
import { logdirs } from './lib/logdirs.js';
import { binary } from './lib/paths.js';

const kMostBytes = 3_000_000;

const dirs = logdirs();
const top = mkdtempSync(join(tmpdir(), 'traceglass-report-'));
let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
  dirs.remove();
  rmSync(top, { recursive: true, force: true });
});

/** The first trace of a folder. */
const trace_of = (folder) =>
  join(folder, readdirSync(folder).filter((name) => /\.json(\.gz)?$/.test(name) && !name.includes('tfevents')).sort()[0]);

const traces = {
  made: join(dirs.made, 'run'),
  ...(dirs.v100 === undefined ? {} : { v100: dirs.v100 }),
  ...(dirs.h100 === undefined ? {} : { h100: dirs.h100 }),
};

function report(name) {
  const page = join(top, `${name}.html`);
  execFileSync(binary, ['report', trace_of(traces[name]), '-o', page], { stdio: 'ignore' });
  return page;
}

const links = (page) => page.getByRole('navigation', { name: 'Views' });

async function opened(name, options, body) {
  const url = pathToFileURL(report(name)).href;
  const view = await watched(browser, url, options);
  const asked = [];
  view.page.on('request', (request) => request.url().startsWith('data:') || asked.push(request.url()));
  await view.page.context().setOffline(true);
  await view.page.goto(url);
  await idle(view.page);
  await body(view.page);
  view.check();
  assert.deepEqual(asked, [url], 'one file, and nothing else');
  await view.close();
}

describe('every view of a report, from the disk', () => {
  for (const name of Object.keys(traces)) {
    for (const scheme of ['light', 'dark']) {
      test(`${name}, ${scheme}`, async () => {
        await opened(name, { scheme }, async (page) => {
          assert.ok(statSync(join(top, `${name}.html`)).size <= kMostBytes);
          const shown = (await links(page).getByRole('link').allInnerTexts()).map((text) => text.trim());
          for (const view of ['Overview', 'Operators', 'Kernels', 'Trace']) assert.ok(shown.includes(view), view);
          for (const width of [900, 1600]) {
            await page.setViewportSize({ width, height: 1000 });
            for (const view of shown) {
              await links(page).getByRole('link', { name: view }).click();
              await idle(page);
              const what = `report-${name}-${view.toLowerCase()}-${scheme}-${width}`;
              assert.equal(await page.getByText(/Not in this report|The page failed/).count(), 0, what);
              await fits(page, what);
              await screenshot(page, what);
              if (width === 1600) await accessible(page, what);
            }
          }
        });
      });
    }
  }
});
