import { expect, test } from 'vitest';
import { gzipSync } from 'node:zlib';
import { make_api } from '../../api/client';
import { key_of, kNowhere, read_embedded } from './embedded';
import { TileStore } from './tile_store';

/** A document with parts as `traceglass report` packs them. */
function report(...answers: unknown[]): Document {
  const made = document.implementation.createHTMLDocument();
  for (const answer of answers) {
    const part = made.createElement('script');
    part.type = 'text/plain';
    part.dataset['report'] = 'answers';
    part.textContent = gzipSync(JSON.stringify(answer)).toString('base64');
    made.body.append(part);
  }
  return made;
}

const overview = { at: ['/api/traces/00/overview\nsteps=1-3'], body: { step_count: 3 } };

test('what the page would fetch is found by path and parameters, whatever their order', async () => {
  const runs = { at: ['/api/runs'], body: { logdir: '</script>' } };
  const found = await read_embedded(
    report({ format: 1, answers: [runs] }, { format: 1, answers: [overview] }),
  );
  const api = make_api(() => kNowhere, found!.fetch);
  expect(await api.get('/api/runs')).toEqual({ logdir: '</script>' });
  const ask = { path: { id: '00' }, query: { steps: '1-3' } };
  expect(await api.get('/api/traces/{id}/overview', ask)).toEqual({ step_count: 3 });
  expect(key_of(new URL('http://x/api/a?b=2&a=%C3%A9%0A'))).toBe('/api/a\na=é\n\nb=2');
});

test('names are there as a whole, and asked for in parts', async () => {
  const names = { at: ['/api/traces/00/names'], body: { from: 0, names: ['a', 'b', 'c', 'd'] } };
  const found = await read_embedded(report({ format: 1, answers: [names] }));
  const api = make_api(() => kNowhere, found!.fetch);
  const ask = { path: { id: '00' }, query: { from: 1, n: 2 } };
  expect(await api.get('/api/traces/{id}/names', ask)).toEqual({ from: 1, names: ['b', 'c'] });
});

test('what is not there is a problem that says so', async () => {
  const found = await read_embedded(report({ format: 1, answers: [overview] }));
  const api = make_api(() => kNowhere, found!.fetch);
  const asked = api.get('/api/traces/{id}/overview', { path: { id: '00' } });
  await expect(asked).rejects.toMatchObject({ problem: { status: 404, code: 'not_in_report' } });
});

test('a page without answers, or of another format, is no report', async () => {
  expect(await read_embedded(report())).toBeUndefined();
  expect(await read_embedded(report({ format: 2, answers: [overview] }))).toBeUndefined();
});

/** The head of a tile, which is all that the store reads. */
function tile(k: number, i: number, group: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(64);
  const head = new DataView(bytes.buffer);
  head.setUint16(6, k, true);
  head.setUint32(8, i, true);
  head.setUint32(16, group, true);
  head.setUint32(28, 64, true);
  return bytes;
}

test('a tile that is not there is the nearest coarser one, once', async () => {
  const both = new Uint8Array(128);
  both.set(tile(5, 0, 7));
  both.set(tile(3, 2, 7), 64);
  const store = new TileStore([both]);
  const found = async (query: string): Promise<[number, number][]> => {
    const bytes = await new Response(store.answer(new URLSearchParams(query))).arrayBuffer();
    const heads: [number, number][] = [];
    for (let at = 0; at < bytes.byteLength; at += 64) {
      const head = new DataView(bytes, at);
      heads.push([head.getUint16(6, true), head.getUint32(8, true)]);
    }
    return heads;
  };
  expect(await found('k=3&i=2&g=7')).toEqual([[3, 2]]);
  expect(await found('k=3&i=0-3&g=7')).toEqual([
    [5, 0],
    [3, 2],
  ]);
  expect(await found('k=1&i=9&g=7')).toEqual([[3, 2]]);
  expect(await found('k=6&i=0&g=7')).toEqual([]);
  expect(await found('k=3&i=2&g=8')).toEqual([]);
});

test('groups are named alone or first to last', () => {
  const three = new Uint8Array(192);
  [4, 5, 6].forEach((group, n) => three.set(tile(5, 0, group), n * 64));
  const store = new TileStore([three]);
  expect(store.answer(new URLSearchParams('k=5&i=0&g=4-6')).byteLength).toBe(192);
  expect(store.answer(new URLSearchParams('k=5&i=0&g=4,6')).byteLength).toBe(128);
});
