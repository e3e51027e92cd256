// The timeline's tiles that a report holds, by level, place and group (layout: tb_backend/api/TILE_FORMAT.md). Where a tile
// is not there, the nearest coarser one stands for it: the picture loses detail, and never a slice.

const kMaxLevel = 52;

export class TileStore {
  private readonly tiles = new Map<string, Uint8Array<ArrayBuffer>>();

  constructor(parts: readonly Uint8Array<ArrayBuffer>[]) {
    for (const part of parts) {
      let at = 0;
      while (at < part.byteLength) {
        const head = new DataView(part.buffer, part.byteOffset + at);
        const k = head.getUint16(6, true);
        const i = head.getInt32(12, true) * 2 ** 32 + head.getUint32(8, true);
        const bytes = head.getUint32(28, true);
        this.tiles.set(key(k, i, head.getUint32(16, true)), part.subarray(at, at + bytes));
        at += bytes;
      }
    }
  }

  /** What the server answers to `k`, `i` (one or `first-last`) and `g` (groups, alone or first-last), as far as it is there. */
  answer(query: URLSearchParams): Uint8Array<ArrayBuffer> {
    const level = Number(query.get('k'));
    const [first = 0, last = first] = (query.get('i') ?? '').split('-').map(Number);
    const found = new Set<Uint8Array<ArrayBuffer>>();
    for (const part of (query.get('g') ?? '').split(',')) {
      const [from = 0, to = from] = part.split('-').map(Number);
      for (let group = from; group <= to; group++) {
        for (let i = first; i <= last; i++) {
          const tile = this.nearest(level, i, group);
          if (tile !== undefined) found.add(tile);
        }
      }
    }
    return joined([...found]);
  }

  private nearest(level: number, index: number, group: number): Uint8Array<ArrayBuffer> | undefined {
    for (let k = level, i = index; k <= kMaxLevel; k++, i = Math.floor(i / 2)) {
      const tile = this.tiles.get(key(k, i, group));
      if (tile !== undefined) return tile;
    }
    return undefined;
  }
}

const key = (k: number, i: number, group: number): string => `${k}/${i}/${group}`;

function joined(parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  return all;
}
