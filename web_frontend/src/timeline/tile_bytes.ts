// Writes tiles in the format of TILE_FORMAT.md, for tests: what the server would send.

export interface TestSlice {
  readonly row?: number;
  /** In 1/256 bucket. */
  readonly start: number;
  readonly end: number;
  readonly id?: number;
  readonly name?: number;
  readonly count?: number;
  readonly kind?: number;
  readonly busy?: number;
  readonly flags?: number;
}

export interface TestTile {
  readonly k: number;
  readonly i: number;
  readonly group: number;
  readonly rows: number;
  readonly slices: readonly TestSlice[];
}

export function tile_bytes(tiles: readonly TestTile[]): ArrayBuffer {
  const parts = tiles.map(one_tile);
  const all = new Uint8Array(parts.reduce((n, p) => n + p.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    all.set(new Uint8Array(part), at);
    at += part.byteLength;
  }
  return all.buffer;
}

function one_tile(tile: TestTile): ArrayBuffer {
  const n = tile.slices.length;
  const up = (x: number): number => Math.ceil(x / 8) * 8;
  let at = 64;
  const offsets: number[] = [];
  for (const width of [4, 4, 4, 4, 4, 2, 1, 1]) {
    offsets.push(at);
    at = up(at + n * width);
  }
  const flags_at = at;
  const view = new DataView(new ArrayBuffer(up(at + n)));
  view.setUint32(0, 0x314c5447, true);
  view.setUint16(4, 1, true);
  view.setUint16(6, tile.k, true);
  view.setBigInt64(8, BigInt(tile.i), true);
  view.setUint32(16, tile.group, true);
  view.setUint32(20, n, true);
  view.setUint32(24, tile.rows, true);
  view.setUint32(28, view.byteLength, true);
  offsets.forEach((offset, c) => view.setUint32(32 + 4 * c, offset, true));
  const [start = 0, end = 0, id = 0, name = 0, count = 0, row = 0, kind = 0, busy = 0] = offsets;
  tile.slices.forEach((s, k) => {
    view.setUint32(start + 4 * k, s.start, true);
    view.setUint32(end + 4 * k, s.end, true);
    view.setUint32(id + 4 * k, s.id ?? k, true);
    view.setUint32(name + 4 * k, s.name ?? 0, true);
    view.setUint32(count + 4 * k, s.count ?? 1, true);
    view.setUint16(row + 2 * k, s.row ?? 0, true);
    view.setUint8(kind + k, s.kind ?? 0);
    view.setUint8(busy + k, s.busy ?? 255);
    view.setUint8(flags_at + k, s.flags ?? ((s.count ?? 1) > 1 ? 4 : 0));
  });
  return view.buffer;
}
