/// <reference types="node" />
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tile_bytes } from './tile_bytes';
import {
  decode_tiles,
  first_ending_after,
  slice_end_ns,
  slice_start_ns,
  TileFormatError,
  type Tile,
} from './tile_decoder';

// Tests run with the web folder as working directory.
const golden = '../tests/golden/';

interface JsonTile {
  k: number;
  i: number;
  group: number;
  rows: number;
  row: number[];
  [column: string]: number | number[];
}

function row_column(tile: Tile): number[] {
  const rows: number[] = [];
  for (let r = 0; r < tile.rows; r++) {
    for (let n = tile.row_begin[r]!; n < tile.row_begin[r + 1]!; n++) rows.push(r);
  }
  return rows;
}

describe('the golden file that the server writes', () => {
  const file = readFileSync(`${golden}tile_v1.bin`);
  const tiles = decode_tiles(file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength));
  const wanted = JSON.parse(readFileSync(`${golden}tile_v1.json`, 'utf8')) as JsonTile[];

  it('has every tile', () => expect(tiles.length).toBe(wanted.length));
  it.each(wanted.map((w, n) => [n, w] as const))('tile %i is what its JSON says', (n, w) => {
    const tile = tiles[n]!;
    expect([tile.k, tile.i, tile.group, tile.rows]).toEqual([w.k, w.i, w.group, w.rows]);
    for (const c of ['start', 'end', 'id', 'name', 'count', 'kind', 'busy', 'flags'] as const) {
      expect([...tile[c]], c).toEqual(w[c]);
    }
    expect(row_column(tile)).toEqual(w.row);
  });
});

describe('tiles made here', () => {
  it('places slices in ns from the trace’s start, left of it too', () => {
    const [tile] = decode_tiles(
      tile_bytes([{ k: 4, i: -2, group: 7, rows: 1, slices: [{ start: 0, end: 512 }] }]),
    );
    expect(tile?.left_ns).toBe(-2 * 1024 * 16);
    expect(slice_start_ns(tile!, 0)).toBe(-32768);
    expect(slice_end_ns(tile!, 0)).toBe(-32768 + 32);
  });

  it('views the bytes without a copy', () => {
    const buffer = tile_bytes([{ k: 0, i: 0, group: 0, rows: 1, slices: [{ start: 1, end: 2 }] }]);
    expect(decode_tiles(buffer)[0]?.start.buffer).toBe(buffer);
  });

  it('finds the first slice that ends after a time', () => {
    const slices = [0, 10, 20, 30].map((s) => ({ start: s * 256, end: (s + 5) * 256 }));
    const [tile] = decode_tiles(tile_bytes([{ k: 0, i: 0, group: 0, rows: 2, slices }]));
    expect(first_ending_after(tile!, 0, -1)).toBe(0);
    expect(first_ending_after(tile!, 0, 5)).toBe(1);
    expect(first_ending_after(tile!, 0, 14.9)).toBe(1);
    expect(first_ending_after(tile!, 0, 99)).toBe(4);
    expect(first_ending_after(tile!, 1, 0)).toBe(4);
  });
});

describe('bytes that are no tiles', () => {
  const good = tile_bytes([{ k: 3, i: 5, group: 1, rows: 2, slices: [{ start: 0, end: 9 }] }]);
  const broken = (change: (v: DataView) => void): ArrayBuffer => {
    const copy = good.slice(0);
    change(new DataView(copy));
    return copy;
  };
  it.each([
    ['cut header', good.slice(0, 40)],
    ['cut columns', good.slice(0, good.byteLength - 8)],
    ['magic', broken((v) => v.setUint32(0, 1, true))],
    ['version', broken((v) => v.setUint16(4, 2, true))],
    ['size of no bytes, which would never end', broken((v) => v.setUint32(28, 0, true))],
    ['more slices than bytes', broken((v) => v.setUint32(20, 1e9, true))],
    ['column outside', broken((v) => v.setUint32(32, 1 << 20, true))],
    ['column in the header', broken((v) => v.setUint32(32, 8, true))],
    ['rows beyond their type', broken((v) => v.setUint32(24, 1 << 20, true))],
    ['a row that the group lacks', broken((v) => v.setUint32(24, 0, true))],
  ])('%s is refused', (_, bytes) => expect(() => decode_tiles(bytes)).toThrow(TileFormatError));
  it('nothing is no tiles', () => expect(decode_tiles(new ArrayBuffer(0))).toEqual([]));
});
