// The page of `traceglass serve` in real Chromium: every view of every log directory, light and dark,
// narrow and wide; nothing serious by axe, no error, no request elsewhere; Back, Forward, keyboard.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { accessible } from './lib/axe.js';
import { fits, idle, launch, screenshot, watched } from './lib/browser.js';
import { logdirs } from './lib/logdirs.js';
import { serve } from './lib/servers.js';

const kViews = ['overview', 'operators', 'kernels', 'memory', 'modules', 'roofline', 'trace', 'compare'];
const kWidths = [900, 1600];
const kSchemes = ['light', 'dark'];

const dirs = logdirs();
let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
  dirs.remove();
});

const links = (page) => page.getByRole('navigation', { name: 'Views' });
const current = (page) => links(page).locator('[aria-current=page]').innerText();

async function with_page(logdir, options, body) {
  const { serve_options = [], ...page_options } = options;
  const server = await serve(logdir, ...serve_options);
  try {
    const view = await watched(browser, server.url, page_options);
    await body({ ...view, server });
    view.check();
    await view.close();
  } finally {
    await server.close();
  }
}

describe('every view, to be looked at', () => {
  for (const name of ['demo', 'made', 'v100', 'h100'].filter((name) => dirs[name] !== undefined)) {
    for (const scheme of kSchemes) {
      test(`${name}, ${scheme}`, async () => {
        await with_page(dirs[name], { scheme }, async ({ page, server }) => {
          for (const width of kWidths) {
            await page.setViewportSize({ width, height: 1000 });
            await page.goto(server.url);
            await idle(page);
            const shown = await links(page).getByRole('link').allInnerTexts();
            for (const view of kViews.filter((view) => shown.some((text) => text.trim().toLowerCase() === view))) {
              await links(page).getByRole('link', { name: new RegExp(view, 'i') }).click();
              await idle(page);
              const what = `${name}-${view}-${scheme}-${width}`;
              assert.equal(await page.getByText('The page failed').count(), 0, what);
              await screenshot(page, what);
              await fits(page, what);
              if (width === 1600) await accessible(page, what);
            }
          }
        });
      });
    }
  }
});

describe('the guide that the cards link to', () => {
  for (const scheme of kSchemes) {
    test(scheme, async () => {
      await with_page(dirs.made, { scheme, width: 900 }, async ({ page, server }) => {
        await page.goto(`${server.url}guide.html#data-loading`);
        assert.equal(await page.locator(':target').innerText(), 'Data loading');
        await fits(page, 'guide');
        await accessible(page, `guide ${scheme}`);
        await screenshot(page, `guide-${scheme}-900`);
      });
    });
  }
});

test('which views a trace has', async () => {
  await with_page(dirs.made, {}, async ({ page, server }) => {
    await page.goto(server.url);
    await idle(page);
    const shown = (await links(page).getByRole('link').allInnerTexts()).map((text) => text.trim().toLowerCase());
    for (const view of kViews) assert.ok(shown.includes(view), `${view} among ${shown}`);
  });
});

test('an empty log directory says what to do', async () => {
  for (const scheme of kSchemes) {
    for (const width of kWidths) {
      await with_page(dirs.empty, { scheme, width }, async ({ page, server }) => {
        await page.goto(server.url);
        await idle(page);
        assert.match(await page.locator('main').innerText(), /tensorboard_trace_handler/);
        await accessible(page, 'empty');
        await fits(page, 'empty');
        await screenshot(page, `empty-${scheme}-${width}`);
      });
    }
  }
});

test('a file that is no trace is named for what it is, and hides no other', async () => {
  await with_page(dirs.made, {}, async ({ page, server, expect }) => {
    expect(/console: Failed to load resource/); // the browser's own line for an answer with an error
    await page.goto(`${server.url}#v=1&run=wrong&worker=foreign`);
    await idle(page);
    assert.match(await page.locator('main').innerText(), /foreign\.pt\.trace\.json/);
    await accessible(page, 'a foreign file');
    await screenshot(page, 'wrong-foreign');
    await page.goto(`${server.url}#v=1&run=run&worker=node_1`);
    await idle(page);
    assert.equal((await current(page)).trim(), 'Overview');
  });
});

test('a device that could not be recorded is said, and what to do', async () => {
  await with_page(dirs.made, {}, async ({ page, server }) => {
    await page.goto(`${server.url}#v=1&run=other&worker=refused`);
    await idle(page);
    const banner = page.getByText(/Another profiler holds CUPTI.*Run without Nsight/);
    await banner.first().waitFor();
    await accessible(page, 'a refused device');
    await screenshot(page, 'refused-device');
    await page.goto(`${server.url}#v=1&run=other&worker=refused&view=kernels`);
    await idle(page);
    assert.match(await page.locator('main').innerText(), /Another profiler holds CUPTI/);
  });
});

test('names from a trace are text', async () => {
  await with_page(dirs.made, {}, async ({ page, server }) => {
    await page.goto(`${server.url}#v=1&run=run&worker=node_0&view=operators`);
    await idle(page);
    await page.getByText('<img src=x onerror', { exact: false }).first().waitFor();
    assert.equal(await page.locator('img').count(), 0);
  });
});

describe('under a path prefix', () => {
  for (const name of ['demo', 'made', 'v100', 'h100', 'empty'].filter((name) => dirs[name] !== undefined)) {
    test(name, async () => {
      await with_page(dirs[name], { serve_options: ['--path-prefix', '/a/b'] }, async ({ page, server }) => {
        const url = new URL('/a/b/', server.url).href;
        const elsewhere = [];
        page.on('request', (request) => request.url().startsWith(url) || elsewhere.push(request.url()));
        await page.goto(url);
        await idle(page);
        if (name === 'empty') {
          assert.match(await page.locator('main').innerText(), /tensorboard_trace_handler/);
        } else {
          await links(page).getByRole('link', { name: 'Trace' }).click();
          await idle(page);
          await page.getByRole('application').waitFor();
        }
        assert.ok(page.url().startsWith(url));
        assert.deepEqual(elsewhere, []);
      });
    });
  }
});

test('Back and Forward', async () => {
  await with_page(dirs.made, {}, async ({ page, server }) => {
    await page.goto(server.url);
    await idle(page);
    for (const view of ['Operators', 'Kernels']) {
      await links(page).getByRole('link', { name: view }).click();
      await idle(page);
    }
    const seen = [];
    for (const move of ['goBack', 'goBack', 'goForward', 'goForward']) {
      await page[move]();
      await idle(page);
      seen.push((await current(page)).trim());
    }
    assert.deepEqual(seen, ['Operators', 'Overview', 'Operators', 'Kernels']);
  });
});

test('a link opens what it names', async () => {
  await with_page(dirs.made, {}, async ({ page, server }) => {
    await page.goto(`${server.url}#v=1&run=run&worker=node_0&span=2&view=kernels&steps=1`);
    await idle(page);
    assert.equal((await current(page)).trim(), 'Kernels');
    await page.reload();
    await idle(page);
    assert.equal((await current(page)).trim(), 'Kernels');
    const state = new URLSearchParams(new URL(page.url()).hash.slice(1));
    assert.equal(state.get('steps'), '1');
    assert.equal(state.get('span'), '2');
  });
});

test('keyboard: views, a table row and the timeline', async () => {
  await with_page(dirs.made, {}, async ({ page, server }) => {
    await page.goto(`${server.url}#v=1&run=run&worker=node_0`);
    await idle(page);
    await links(page).getByRole('link', { name: 'Operators' }).focus();
    await page.keyboard.press('Enter');
    await idle(page);
    assert.equal((await current(page)).trim(), 'Operators');

    await page.goto(`${server.url}#v=1&run=run&worker=node_0&view=trace`);
    await idle(page);
    const timeline = page.getByRole('application').first();
    await timeline.focus();
    const before = page.url();
    await page.keyboard.down('w');
    await page.waitForFunction((url) => location.href !== url, before);
    await page.keyboard.up('w');
    await idle(page);
    assert.match(page.url(), /[#&]t=/);
  });
});

test('no answer to a name that is not ours', async () => {
  await with_page(dirs.empty, {}, async ({ server }) => {
    const { request } = await import('node:http');
    const { port } = new URL(server.url);
    const status = await new Promise((done, failed) => {
      const asked = request({ port, host: '127.0.0.1', path: '/', headers: { Host: 'evil.example' } }, (answer) => {
        answer.resume();
        done(answer.statusCode);
      });
      asked.on('error', failed).end();
    });
    assert.equal(status, 403);
  });
});
