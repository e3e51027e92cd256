// The exact edges of a gap, and what stands on both sides. Tiles on screen know them only to a bucket
// and may name a folded run; finer tiles are fetched until the neighbour is a slice of its own.
import { slice_end_ns, slice_start_ns, first_ending_after, kTileBuckets, type Tile } from './tile_decoder';
import type { Limits } from './viewport';

export type LoadTile = (k: number, i: number) => Promise<Tile | undefined>;

export interface Neighbour {
  readonly id: number;
  readonly name: number;
  /** Edge towards the gap. */
  readonly edge_ns: number;
}

/** A tile this many levels finer still holds a whole folded run. */
const kStep = 9;

/** Last slice of the row that ends at or before `at_ns`. */
export function slice_before(
  load: LoadTile,
  row: number,
  at_ns: number,
  whole_k: number,
  limits: Limits,
): Promise<Neighbour | undefined> {
  return search(load, row, at_ns, limits.start_ns, at_ns, whole_k, 'before');
}

/** First slice of the row that starts at or after `at_ns`. */
export function slice_after(
  load: LoadTile,
  row: number,
  at_ns: number,
  whole_k: number,
  limits: Limits,
): Promise<Neighbour | undefined> {
  return search(load, row, at_ns, at_ns, limits.end_ns, whole_k, 'after');
}

async function search(
  load: LoadTile,
  row: number,
  at_ns: number,
  lo_ns: number,
  hi_ns: number,
  k: number,
  side: 'before' | 'after',
): Promise<Neighbour | undefined> {
  const width = kTileBuckets * 2 ** k;
  const first = Math.floor(lo_ns / width);
  const last = Math.floor(hi_ns / width);
  // Nearest tile first: a run spans two buckets at most, so there are few of them.
  for (let n = 0; n <= last - first; n++) {
    const tile = await load(k, side === 'before' ? last - n : first + n);
    if (tile === undefined || row >= tile.rows) continue;
    for (const s of candidates(tile, row, at_ns, side)) {
      const start = slice_start_ns(tile, s);
      const end = slice_end_ns(tile, s);
      if ((tile.count[s] ?? 1) === 1) {
        const edge_ns = side === 'before' ? end : start;
        return { id: tile.id[s] ?? 0, name: tile.name[s] ?? 0, edge_ns };
      }
      if (k === 0) continue;
      const inside: [number, number] =
        side === 'before' ? [start, Math.min(end, at_ns)] : [Math.max(start, at_ns), end];
      const found = await search(load, row, at_ns, ...inside, Math.max(0, k - kStep), side);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Slices and runs of the row on the wanted side, nearest first: two are enough. */
function candidates(tile: Tile, row: number, at_ns: number, side: 'before' | 'after'): number[] {
  const begin = tile.row_begin[row] ?? 0;
  const until = tile.row_begin[row + 1] ?? 0;
  const at = first_ending_after(tile, row, at_ns);
  // `at` may hold `at_ns` itself: as a run it can have slices on both sides, as a slice it does not count.
  const holds = at < until && slice_start_ns(tile, at) < at_ns && (tile.count[at] ?? 1) > 1;
  const skip = at < until && slice_start_ns(tile, at) < at_ns ? 1 : 0;
  const out: number[] = holds ? [at] : [];
  if (side === 'before') {
    for (let n = at - 1; n >= Math.max(begin, at - 2); n--) out.push(n);
  } else {
    for (let n = at + skip; n < Math.min(until, at + skip + 2); n++) out.push(n);
  }
  return out;
}
