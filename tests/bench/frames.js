// node tests/bench/frames.js LOGDIR: how long the trace view takes from one frame to the next while it
// pans and zooms over the directory's one trace. Prints JSON, medians in milliseconds.
import { launch, watched } from '../e2e/lib/browser.js';
import { frames } from '../e2e/lib/frames.js';
import { serve } from '../e2e/lib/servers.js';

const server = await serve(process.argv[2]);
const browser = await launch();
try {
  const { page, check, close } = await watched(browser, server.url);
  console.log(JSON.stringify(await frames(page, server.url)));
  check();
  await close();
} finally {
  await browser.close();
  await server.close();
}
