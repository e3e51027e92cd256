// Reads the answer of `api/traces/{id}/tiles` (tb_backend/api/TILE_FORMAT.md) as typed-array views:
// nothing is copied, so decoding costs one pass over the row column.

export const kTileBuckets = 1024;
/** Positions inside a tile count in 1/256 of a bucket. */
export const kBucketParts = 256;

const kMagic = 0x314c5447;
const kHeaderBytes = 64;

export const kContinuesLeft = 1;
export const kContinuesRight = 2;
export const kFolded = 4;
export const kUnfinished = 8;
export const kSuspect = 32;

export interface Tile {
  readonly k: number;
  readonly i: number;
  readonly group: number;
  readonly rows: number;
  /** Slices and folded runs in the tile. */
  readonly size: number;
  readonly bytes: number;
  /** Left edge, ns from the trace's start. */
  readonly left_ns: number;
  /** ns of one unit of `start` and `end`. */
  readonly unit_ns: number;
  readonly start: Uint32Array;
  readonly end: Uint32Array;
  readonly id: Uint32Array;
  readonly name: Uint32Array;
  readonly count: Uint32Array;
  readonly kind: Uint8Array;
  readonly busy: Uint8Array;
  readonly flags: Uint8Array;
  /** Row r's slices are [row_begin[r], row_begin[r + 1]). */
  readonly row_begin: Uint32Array;
}

export class TileFormatError extends Error {}

/** All tiles of one answer, in the server's order (group-major). */
export function decode_tiles(buffer: ArrayBuffer): Tile[] {
  const tiles: Tile[] = [];
  let offset = 0;
  while (offset < buffer.byteLength) {
    const tile = decode_tile(buffer, offset);
    tiles.push(tile);
    offset += tile.bytes;
  }
  return tiles;
}

function decode_tile(buffer: ArrayBuffer, base: number): Tile {
  if (buffer.byteLength - base < kHeaderBytes) {
    throw new TileFormatError(`tile header cut at byte ${base}`);
  }
  const head = new DataView(buffer, base, kHeaderBytes);
  if (head.getUint32(0, true) !== kMagic) throw new TileFormatError(`no tile at byte ${base}`);
  const version = head.getUint16(4, true);
  if (version !== 1) throw new TileFormatError(`tile version ${version} is not known`);
  const k = head.getUint16(6, true);
  // A tile index beyond 2^53 would be a trace of 300 000 years.
  const i = head.getInt32(12, true) * 2 ** 32 + head.getUint32(8, true);
  const size = head.getUint32(20, true);
  const rows = head.getUint32(24, true);
  const bytes = head.getUint32(28, true);
  if (bytes < kHeaderBytes || bytes % 8 !== 0 || base + bytes > buffer.byteLength) {
    throw new TileFormatError(`tile at byte ${base} has ${bytes} bytes, which do not fit`);
  }
  const column = (index: number, width: number): number => {
    const at = head.getUint32(32 + 4 * index, true);
    if (at % width !== 0 || at < kHeaderBytes || at + size * width > bytes) {
      throw new TileFormatError(`column ${index} of the tile at byte ${base} does not fit`);
    }
    return base + at;
  };
  const busy_at = column(7, 1);
  const flags_at = base + Math.ceil((busy_at - base + size) / 8) * 8;
  if (flags_at + size > base + bytes) {
    throw new TileFormatError(`flags of the tile at byte ${base} do not fit`);
  }
  const bucket_ns = 2 ** k;
  return {
    k,
    i,
    group: head.getUint32(16, true),
    rows,
    size,
    bytes,
    left_ns: i * kTileBuckets * bucket_ns,
    unit_ns: bucket_ns / kBucketParts,
    start: new Uint32Array(buffer, column(0, 4), size),
    end: new Uint32Array(buffer, column(1, 4), size),
    id: new Uint32Array(buffer, column(2, 4), size),
    name: new Uint32Array(buffer, column(3, 4), size),
    count: new Uint32Array(buffer, column(4, 4), size),
    kind: new Uint8Array(buffer, column(6, 1), size),
    busy: new Uint8Array(buffer, busy_at, size),
    flags: new Uint8Array(buffer, flags_at, size),
    row_begin: row_begins(new Uint16Array(buffer, column(5, 2), size), rows, base),
  };
}

function row_begins(row: Uint16Array, rows: number, base: number): Uint32Array {
  if (rows > 65536) throw new TileFormatError(`tile at byte ${base} claims ${rows} rows`);
  const begin = new Uint32Array(rows + 1);
  let at = 0;
  for (let r = 0; r < rows; r++) {
    begin[r] = at;
    while (at < row.length && row[at] === r) at++;
  }
  begin[rows] = at;
  if (at !== row.length) throw new TileFormatError(`rows of the tile at byte ${base} are unsorted`);
  return begin;
}

/** ns from the trace's start where slice `n` begins and ends, as far as the tile shows it. */
export function slice_start_ns(tile: Tile, n: number): number {
  return tile.left_ns + (tile.start[n] ?? 0) * tile.unit_ns;
}
export function slice_end_ns(tile: Tile, n: number): number {
  return tile.left_ns + (tile.end[n] ?? 0) * tile.unit_ns;
}

/** First slice of row `r` that ends after `ns`; row_begin[r + 1] if none does. O(log n). */
export function first_ending_after(tile: Tile, r: number, ns: number): number {
  let lo = tile.row_begin[r] ?? 0;
  let hi = tile.row_begin[r + 1] ?? lo;
  const units = (ns - tile.left_ns) / tile.unit_ns;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if ((tile.end[mid] ?? 0) > units) hi = mid;
    else lo = mid + 1;
  }
  return lo;
}
