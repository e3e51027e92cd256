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
  page.on('request', (request) => {
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

/** Waits until the page (or the frame of a tab) neither loads nor draws. */
export async function idle(frame) {
  await frame.waitForFunction(() => typeof window.__traceglass_idle === 'function');
  await frame.evaluate(() => window.__traceglass_idle());
}

export async function screenshot(page, name) {
  mkdirSync(screens, { recursive: true });
  await page.screenshot({ path: join(screens, `${name}.png`), animations: 'disabled' });
}
