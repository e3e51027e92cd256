// The pictures of docs/guide.md: `node tests/planted/pictures.js [NAME…]` after a build of program and page. Each is the
// page on a generated trace, cut to what the guide speaks of.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { idle, launch, watched } from '../e2e/lib/browser.js';
import { root } from '../e2e/lib/paths.js';
import { serve } from '../e2e/lib/servers.js';

const kLogs = join(root, 'build/guide_logs');
const kOut = join(root, 'docs/pictures');
const kSize = { width: 1300, height: 1000 };

// `to`: a row of words below which nothing is shown; `height`: cut there.
const kPictures = [
  { name: 'data_loading', hash: 'view=overview', height: 560 },
  { name: 'synchronization', verdict: 'synchronization', height: 560 },
  { name: 'small_kernels', verdict: 'small_kernels', height: 560 },
  { name: 'inefficient_operators', hash: 'view=kernels', height: 460 },
  { name: 'memory', verdict: 'memory', height: 560 },
];

const wanted = process.argv.slice(2);
const made = kPictures.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
mkdirSync(kOut, { recursive: true });
rmSync(kLogs, { recursive: true, force: true });
for (const { name } of made) {
  const generate = join(root, 'tests/planted/generate.py');
  execFileSync('python3', [generate, kLogs, '--plant', name, '--strength', 'medium'], { stdio: 'inherit' });
}
const server = await serve(kLogs);
const browser = await launch();
try {
  for (const { name, hash, verdict, height } of made) {
    const { page, check, close } = await watched(browser, server.url, kSize);
    const run = `run=${name}-medium/planted`;
    await page.goto(`${server.url}#v=1&${run}&${hash ?? 'view=overview'}`);
    await idle(page);
    if (verdict !== undefined) {
      await page.locator(`#verdict-${verdict}`).getByRole('link', { name: /^Show/ }).click();
      await idle(page);
    }
    await page.screenshot({
      path: join(kOut, `${name}.png`),
      clip: { x: 0, y: 0, width: kSize.width, height },
      animations: 'disabled',
    });
    check();
    await close();
  }
} finally {
  await browser.close();
  await server.close();
}
