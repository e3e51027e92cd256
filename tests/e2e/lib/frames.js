// How the trace view moves over the first trace of a server: keys held, frames counted.
import { idle } from './browser.js';

const kFrames = 40;
const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

/** {events, moves: [{key, gap_ms, script_ms}]}, medians; each move starts from 0.7 of the trace. */
export async function frames(page, url) {
  await page.addInitScript(() => {
    const ask = window.requestAnimationFrame.bind(window);
    window.frames_seen = [];
    window.requestAnimationFrame = (draw) =>
      ask((now) => {
        const begin = performance.now();
        draw(now);
        window.frames_seen.push([now, performance.now() - begin]);
      });
  });
  await page.goto(`${url}#v=1&view=trace`);
  await idle(page);
  const { runs } = await (await fetch(`${url}api/runs`)).json();
  const [{ id }] = runs[0].workers[0].spans;
  const { events } = await (await fetch(`${url}api/traces/${id}/meta`)).json();
  await page.getByRole('application').focus();
  const moves = [];
  for (const key of ['w', 'd', 'a', 's']) {
    await page.keyboard.press('0');
    await page.keyboard.press('w'); // room to pan
    await idle(page);
    await page.evaluate(() => (window.frames_seen = []));
    await page.keyboard.down(key);
    await page.waitForFunction((wanted) => window.frames_seen.length >= wanted, kFrames);
    await page.keyboard.up(key);
    const seen = await page.evaluate(() => window.frames_seen);
    const gaps = seen.slice(1).map(([now], n) => now - seen[n][0]);
    const gap_ms = median(gaps.filter((ms) => ms > 0));
    moves.push({ key, gap_ms, script_ms: median(seen.map(([, ms]) => ms)) });
  }
  return { events, moves };
}
