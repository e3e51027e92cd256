// What limits the step, as a person meets it: verdicts on a profile with a planted bottleneck, the way from a card
// to its events and along the critical path; and profiles that leave nothing to judge.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { accessible } from './lib/axe.js';
import { fits, idle, launch, screenshot, watched } from './lib/browser.js';
import { logdirs, planted, without_steps } from './lib/logdirs.js';
import { serve } from './lib/servers.js';

const dirs = logdirs();
const kWidths = [900, 1600];
const kSchemes = ['light', 'dark'];
let browser;
let server;
let view;
before(async () => {
  browser = await launch();
  server = await serve(planted(dirs, 'data_loading', 'high'));
  view = await watched(browser, server.url, {});
});
after(async () => {
  await view?.close();
  await server?.close();
  await browser?.close();
  dirs.remove();
});

const hash = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));
const selection = (page) => page.getByRole('region', { name: 'Selection' });
const tour = (page) => page.getByRole('group', { name: 'Events of a verdict' });
const toggle = (page) => page.getByRole('button', { name: /Critical path/ }).first();
const card = (page, name) => page.getByRole('listitem', { name });

/** The address is written when the movement pauses. */
const has = (page, key) =>
  page.waitForFunction((wanted) => new URLSearchParams(location.hash.slice(1)).has(wanted), key);

async function open(more = '') {
  await view.page.goto('about:blank');
  await view.page.goto(`${server.url}#v=1${more}`);
  await idle(view.page);
  return view.page;
}

/** Another server for as long as `body` runs. */
async function with_page(logdir, hash, body) {
  const own = await serve(logdir);
  const page = await watched(browser, own.url, {});
  try {
    await page.page.goto(`${own.url}#v=1${hash}`);
    await idle(page.page);
    await body(page.page);
    page.check();
  } finally {
    await page.close();
    await own.close();
  }
}

describe('a planted bottleneck', () => {
  test('is the sentence, the first card and a bracket on the mean step', async () => {
    const page = await open();
    assert.match(await page.locator('h1').innerText(), /Largest avoidable cost: data loading, up to [\d.]+\s?ms a step\./);
    const first = card(page, /Data loading/);
    const text = await first.innerText();
    assert.match(text, /up to [\d.]+\s?ms/);
    assert.match(text, /num_workers/);
    assert.match(text, /% of the step/);
    await first.getByText('Evidence').click();
    await first.locator('.evidence li').first().waitFor();
    const bracket = page.getByRole('button', { name: /^1 Data loading ≤/ });
    await bracket.click();
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'verdict-data_loading');
    assert.match(await page.locator('summary', { hasText: 'Checked and fine:' }).innerText(), /communication/);
    await accessible(page, 'overview with verdicts');
  });

  test('has a guide that opens beside the page', async () => {
    const page = await open();
    const link = card(page, /Data loading/).getByRole('link', { name: 'How to find and fix this' });
    assert.equal(await link.getAttribute('target'), '_blank');
    const answer = await page.request.get(await link.evaluate((a) => a.href));
    assert.equal(answer.status(), 200);
    assert.match(await answer.text(), /id="data-loading"/);
  });

  test('shows itself in the trace, event by event, and a link keeps the place', async () => {
    const page = await open();
    await card(page, /Data loading/).getByRole('link', { name: 'Show in trace: data loading' }).click();
    await idle(page);
    assert.equal(hash(page).get('view'), 'trace');
    const sel = hash(page).get('sel');
    assert.match(await tour(page).innerText(), /Data loading[\s\S]*1 of \d+/);
    assert.match(await selection(page).locator('h2').first().innerText(), /DataLoader/);
    await has(page, 't'); // the view goes to the event
    await screenshot(page, 'verdict-in-trace');
    await accessible(page, 'a verdict in the trace');
    await tour(page).getByRole('button', { name: 'Next event' }).click();
    await idle(page);
    assert.match(await tour(page).innerText(), /2 of \d+/);
    await page.waitForFunction((was) => !location.hash.includes(`sel=${was}&`), sel);
    await page.keyboard.press('Shift+N');
    await idle(page);
    await page.keyboard.press('n');
    await idle(page);
    await page.reload();
    await idle(page);
    assert.match(await tour(page).innerText(), /2 of \d+/);
    await tour(page).getByRole('button', { name: 'End the tour' }).click();
    await tour(page).waitFor({ state: 'detached' });
    await page.waitForFunction(() => !location.hash.includes('verdict='));
  });

  test('is the cause of the gap on the device', async () => {
    const page = await open();
    await card(page, /Data loading/).getByRole('link', { name: 'Show in trace: data loading' }).click();
    await idle(page);
    await has(page, 't');
    // The device is idle in the second half of the wait; the first runs out what was launched before.
    const ms = (text) => Number.parseFloat(text) * { ns: 1e-6, us: 1e-3, ms: 1, s: 1e3 }[/[a-z]+$/.exec(text)[0]];
    const [from, to] = hash(page).get('t').split('..').map(ms);
    const said = await selection(page).locator('dd').first().innerText();
    const [, length, unit, start] = /^([\d.]+)\s?(m?s) from ([\d. \u202f]+) ms/.exec(said);
    const at = Number(start.replace(/\s/g, '')) + 0.75 * ms(`${length}${unit}`);
    const stage = await page.getByRole('application').boundingBox();
    const stream = await page.getByRole('treeitem', { name: /Stream/ }).first().boundingBox();
    await page.mouse.click(stage.x + (stage.width * (at - from)) / (to - from), stream.y + 10);
    await idle(page);
    const text = await selection(page).innerText();
    assert.match(text, /idle [\d.]+\s?ms/);
    assert.match(text, /Why\s+data loading [\d.]+\s?ms, the host was in\s+.*DataLoader/);
    await screenshot(page, 'gap-cause');
    await accessible(page, 'a gap with its cause');
    await selection(page).getByRole('link', { name: 'Data loading' }).click();
    await idle(page);
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'verdict-data_loading');
  });

  test('makes most of the device’s idle time', async () => {
    const page = await open();
    const table = page.getByRole('table', { name: /Idle time by cause/ });
    const [, ...causes] = await table.getByRole('columnheader').allInnerTexts();
    assert.equal(causes[0].trim(), 'data loading');
  });

  test('fits, in both themes', async () => {
    for (const scheme of kSchemes) {
      for (const width of kWidths) {
        const own = await watched(browser, server.url, { scheme, width });
        for (const [name, more] of [
          ['verdicts', ''],
          ['path', '&view=trace&path=1'],
        ]) {
          const what = `${name}-${scheme}-${width}`;
          await own.page.goto('about:blank');
          await own.page.goto(`${server.url}#v=1${more}`);
          await idle(own.page);
          await screenshot(own.page, what);
          await fits(own.page, what);
          await accessible(own.page, what);
        }
        own.check();
        await own.close();
      }
    }
  });
});

describe('the critical path', () => {
  test('is a key away, lists what a step is made of, and stays in the link', async () => {
    const page = await open('&view=trace');
    await page.getByRole('application').focus();
    await page.keyboard.press('x');
    await has(page, 'path');
    await idle(page);
    assert.match(await selection(page).innerText(), /Critical path of step \d+/);
    await page.reload();
    await idle(page);
    assert.equal(await toggle(page).getAttribute('aria-pressed'), 'true');
    const row = selection(page).getByRole('row').filter({ hasText: 'DataLoader' }).first();
    assert.match(await row.innerText(), /≤ [\d.]+/);
    await row.getByRole('button').click();
    await idle(page);
    await has(page, 'sel');
    await selection(page).getByRole('button', { name: 'Fit step' }).click();
    await idle(page);
    await selection(page).getByRole('radio', { name: 'in time' }).check();
    await selection(page).getByRole('columnheader', { name: 'Began because of' }).waitFor();
    await screenshot(page, 'path-in-time');
    await accessible(page, 'the critical path in time');
    await page.getByRole('application').focus();
    await page.keyboard.press('x');
    await page.waitForFunction(() => !location.hash.includes('path='));
  });

  test('follows to the step in view', async () => {
    const page = await open('&view=trace&path=1');
    const title = () => selection(page).locator('h2').first().innerText();
    const before = await title();
    const step = await page.evaluate(() => document.querySelector('[role=application]')?.getBoundingClientRect().toJSON());
    const number = Number(/step (\d+)/.exec(before)[1]);
    // The step band: a click shows that step alone.
    for (const share of [0.3, 0.8]) {
      await page.keyboard.press('0');
      await idle(page);
      await page.mouse.click(step.x + step.width * share, step.y + 30);
      await idle(page);
    }
    await page.waitForFunction(
      (was) => {
        const found = /step (\d+)/.exec(document.querySelector('section.drawer h2')?.textContent ?? '');
        return found !== null && Number(found[1]) !== was;
      },
      number,
    );
  });
});

test('every view says how far the profile can be believed', async () => {
  const page = await open();
  for (const name of await page.getByRole('navigation', { name: 'Views' }).getByRole('link').allInnerTexts()) {
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: name.trim() }).click();
    await idle(page);
    await page.getByRole('button', { name: /trust A nothing lost/ }).waitFor();
  }
  await with_page(dirs.made, '&run=other&worker=cut', async (other) => {
    await other.getByRole('button', { name: /^trust D .*import report/ }).click();
    const report = other.getByRole('group', { name: /import report/ });
    assert.ok((await report.getByRole('listitem').count()) >= 1);
    assert.match(await report.innerText(), /part of the recording is missing[\s\S]*what follows the cut is missing/);
    await accessible(other, 'the import report');
    await screenshot(other, 'trust-report');
  });
});

describe('nothing to judge', () => {
  test('without steps it says what to call', async () => {
    await with_page(without_steps(dirs), '', async (page) => {
      assert.match(await page.locator('main').innerText(), /has no steps[\s\S]*prof\.step\(\)/);
      await accessible(page, 'no steps');
      await screenshot(page, 'no-steps');
      await page.getByRole('link', { name: 'Trace', exact: true }).click();
      await idle(page);
      await page.getByRole('application').focus();
      await page.keyboard.press('x');
      await idle(page);
      assert.match(await selection(page).innerText(), /Critical path/);
    });
  });
  test('on the host alone there is no device to be idle', async () => {
    await with_page(dirs.made, '&run=other&worker=refused', async (page) => {
      assert.match(await page.locator('h1').innerText(), /No device work was recorded/);
      assert.equal(await page.getByText('by what the host did meanwhile').count(), 0);
      await screenshot(page, 'host-alone');
      await accessible(page, 'host alone');
    });
  });
  test('in an empty profile nothing is claimed', async () => {
    await with_page(dirs.made, '&run=other&worker=quiet', async (page) => {
      assert.match(await page.locator('h1').innerText(), /This profile is empty/);
      assert.equal(await page.getByText('What limits the step').count(), 0);
    });
  });
});

test('nothing failed on the way', () => view.check());
