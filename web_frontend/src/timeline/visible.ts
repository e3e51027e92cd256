// The slices in view as a list: what a person who does not see the canvas reads instead.
import type { GroupInfo } from './layout';
import { hit_of, type SliceHit } from './hit_test';
import type { TileCache } from './tile_cache';
import { first_ending_after, slice_start_ns } from './tile_decoder';
import type { Viewport } from './viewport';

export interface VisibleSlices {
  readonly slices: readonly SliceHit[];
  /** There are more than the limit. */
  readonly more: boolean;
}

/** Slices and folded runs of all groups in the view, by time, at most `limit`. */
export function visible_slices(
  cache: Pick<TileCache, 'cover'>,
  groups: readonly GroupInfo[],
  view: Viewport,
  k: number,
  tiles: readonly [number, number],
  limit: number,
): VisibleSlices {
  const found: SliceHit[] = [];
  for (const group of groups) {
    for (const { tile, start_ns, end_ns } of cache.cover(k, tiles[0], tiles[1], group.id)) {
      if (tile === undefined) continue;
      const from = Math.max(start_ns, view.start_ns);
      const to = Math.min(end_ns, view.end_ns);
      for (let row = 0; row < tile.rows; row++) {
        const until = tile.row_begin[row + 1] ?? 0;
        for (let n = first_ending_after(tile, row, from); n < until; n++) {
          if (slice_start_ns(tile, n) >= to) break;
          found.push(hit_of(tile, n, group, row));
        }
      }
    }
  }
  found.sort((a, b) => a.start_ns - b.start_ns || a.row - b.row);
  const once = without_repeats(found);
  return { slices: once.slice(0, limit), more: once.length > limit };
}

/** A slice over several tiles comes once for each; they are one. */
function without_repeats(slices: readonly SliceHit[]): SliceHit[] {
  const by_id = new Map<string, SliceHit>();
  for (const s of slices) {
    const key = `${s.group.id} ${s.id} ${s.count}`;
    const before = by_id.get(key);
    by_id.set(key, before === undefined ? s : { ...before, end_ns: Math.max(before.end_ns, s.end_ns) });
  }
  return [...by_id.values()];
}
