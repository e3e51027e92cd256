// Where things are, and packages of the page's own node_modules.
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
export const shared = process.env.TRACEGLASS_SHARED ?? resolve(root, '../shared');
export const binary = process.env.TRACEGLASS_BIN ?? join(root, 'build/dev/traceglass');
export const screens = join(root, 'build/screens');
export const packages = createRequire(join(root, 'web_frontend/package.json'));
