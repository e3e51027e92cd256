// What stands on both sides of a gap. Tiles on screen may know only a folded run; finer tiles are
// fetched until the neighbour is a slice of its own. Edges are as exact as the tile that showed it.
import { slice_end_ns, slice_start_ns, first_ending_after, kTileBuckets, type Tile } from './tile_decoder';
import type { Limits } from './viewport';

export type LoadTile = (k: number, i: number) => Promise<Tile | undefined>;

export interface Neighbour {
  readonly id: number;
  readonly name: number;
  /** Edge towards the gap. */
  readonly edge_ns: number;
}

/** More than the one that holds the time, the one beside it, and one for rounding are never needed. */
const kMostCandidates = 3;
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
      const slack = 2 * tile.unit_ns;
      const inside: [number, number] =
        side === 'before'
          ? [start - slack, Math.min(end + slack, at_ns)]
          : [Math.max(start - slack, at_ns), end + slack];
      const found = await search(load, row, at_ns, ...inside, Math.max(0, k - kStep), side);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Slices and runs of the row on the wanted side, nearest first: a few are enough. */
function candidates(tile: Tile, row: number, at_ns: number, side: 'before' | 'after'): number[] {
  const begin = tile.row_begin[row] ?? 0;
  const until = tile.row_begin[row + 1] ?? 0;
  const out: number[] = [];
  // Edges are rounded to the tile's unit: a run that close to `at_ns` may have slices on both sides.
  const slack = 2 * tile.unit_ns;
  const near = first_ending_after(tile, row, at_ns - slack);
  const fits = (n: number): boolean => {
    const run = (tile.count[n] ?? 1) > 1;
    if (side === 'before')
      return slice_end_ns(tile, n) <= at_ns || (run && slice_start_ns(tile, n) - slack < at_ns);
    return slice_start_ns(tile, n) >= at_ns || (run && slice_end_ns(tile, n) + slack > at_ns);
  };
  if (side === 'before') {
    let n = near;
    while (n < until && slice_start_ns(tile, n) - slack < at_ns) n++;
    for (n--; n >= begin && out.length < kMostCandidates; n--) if (fits(n)) out.push(n);
  } else {
    for (let n = near; n < until && out.length < kMostCandidates; n++) if (fits(n)) out.push(n);
  }
  return out;
}
