// node tests/bench/first_view.js LOGDIR: what a browser with an empty cache needs from opening the
// address to the finished first view, of a log directory whose one trace the server has loaded.
// Prints JSON: the median and all runs, in milliseconds.
import { launch, idle, watched } from '../e2e/lib/browser.js';
import { serve } from '../e2e/lib/servers.js';

const kRuns = 5;

async function loaded(url) {
  const ask = async (path) => (await fetch(new URL(path, url))).json();
  const { runs } = await ask('api/runs');
  const [{ id }] = runs.flatMap((run) => run.workers.flatMap((worker) => worker.spans));
  for (;;) {
    const { phase, error } = await ask(`api/traces/${id}/status`);
    if (phase === 'ready') return;
    if (phase === 'error') throw new Error(error.detail);
    await new Promise((done) => setImmediate(done));
  }
}

const server = await serve(process.argv[2]);
const browser = await launch();
const runs = [];
try {
  await loaded(server.url);
  for (let run = 0; run < kRuns; ++run) {
    const { page, check, close } = await watched(browser, server.url);
    await page.goto(server.url);
    await idle(page);
    runs.push(await page.evaluate(() => performance.now()));
    check();
    await close();
  }
} finally {
  await browser.close();
  await server.close();
}
const sorted = [...runs].sort((a, b) => a - b);
console.log(JSON.stringify({ median_ms: sorted[Math.floor(kRuns / 2)], runs_ms: runs }));
