// One Chromium for a test file. A watched page records what must never happen: a script error, a
// console error, a request to another origin. What the browser does on its own is switched off.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { packages, screens } from './paths.js';

const { chromium } = packages('playwright-core');

const kFlags = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const kIdleMs = 30_000;

/** Requests of each frame: begun so far, and open now. */
const traffic = new WeakMap();

function count(request, begun, open) {
  if (request.resourceType() === 'eventsource') return; // has no end
  const frame = request.frame();
  const own = traffic.get(frame) ?? { begun: 0, open: 0 };
  traffic.set(frame, { begun: own.begun + begun, open: own.open + open });
}

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: kFlags,
  });
}

/** A page of its own context. `check()` fails on anything that was recorded. */
export async function watched(browser, origin, { width = 1600, height = 1000, scheme = 'light' } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const bad = [];
  const expected = [];
  page.on('pageerror', (error) => bad.push(`script: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') bad.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on('requestfinished', (request) => count(request, 0, -1));
  page.on('requestfailed', (request) => count(request, 0, -1));
  page.on('request', (request) => {
    count(request, 1, 1);
    const { origin: to, protocol } = new URL(request.url());
    if (to !== new URL(origin).origin && protocol !== 'data:' && protocol !== 'blob:') {
      bad.push(`left the origin: ${request.url()}`);
    }
  });
  return {
    page,
    /** Something recorded that a test means to happen, e.g. a failed load. */
    expect: (pattern) => expected.push(pattern),
    check() {
      const left = bad.filter((line) => !expected.some((pattern) => pattern.test(line)));
      assert.deepEqual(left, []);
    },
    close: () => context.close(),
  };
}

/** Nothing is announced as loading. Runs in the page. */
const settled = () =>
  (document.querySelector('main')?.childElementCount ?? 0) > 0 &&
  document.querySelector('[aria-busy="true"], .skeleton') === null;

/**
 * Waits until the page, or the frame of a tab, neither loads nor draws: no request of it is under
 * way, nothing is announced as loading, and the timeline, where there is one, has drawn its tiles.
 */
export async function idle(frame) {
  const key = 'mainFrame' in frame ? frame.mainFrame() : frame;
  const now = () => traffic.get(key) ?? { begun: 0, open: 0 };
  const deadline = Date.now() + kIdleMs;
  for (;;) {
    await frame.waitForFunction(settled, undefined, { timeout: kIdleMs });
    const before = now().begun;
    await frame.evaluate(async () => {
      await window.__traceglass_idle?.();
      for (let i = 0; i < 2; ++i)
        await new Promise((done) => requestAnimationFrame(done));
    });
    const quiet = now().open === 0 && now().begun === before;
    if (quiet && (await frame.evaluate(settled))) return;
    assert.ok(Date.now() < deadline, `still loading after ${kIdleMs} ms`);
  }
}

/** The page scrolls downwards only. */
export async function fits(page, what) {
  const [wide, room] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.scrollingElement;
    return [scrollWidth, clientWidth];
  });
  assert.ok(wide <= room, `${what}: ${wide} px wide in ${room}`);
}

export async function screenshot(page, name) {
  mkdirSync(screens, { recursive: true });
  await page.screenshot({ path: join(screens, `${name}.png`), animations: 'disabled' });
}
