// axe-core in a page or frame: nothing serious. It is put in through the debugger, which the page's
// content security policy does not concern.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { packages } from './paths.js';

const source = readFileSync(packages.resolve('axe-core/axe.min.js'), 'utf8');

export async function accessible(frame, what) {
  await frame.evaluate(source);
  const { violations } = await frame.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).slice(0, 3)}`);
  assert.deepEqual(serious, [], what);
}
