// What lies under the pointer: binary searches in the tiles that are drawn, no pixel buffers.
import { value_at, type CounterData } from './counter_painter';
import {
  bands_between,
  row_top,
  type CounterInfo,
  type GroupBand,
  type GroupInfo,
  type Layout,
} from './layout';
import type { Selection } from './scene';
import type { Cover, TileCache } from './tile_cache';
import {
  first_ending_after,
  kContinuesLeft,
  kContinuesRight,
  slice_end_ns,
  slice_start_ns,
  type Tile,
} from './tile_decoder';
import { ns_of_x, ns_per_px, type Viewport } from './viewport';

export interface SliceHit {
  readonly type: 'slice';
  readonly group: GroupInfo;
  readonly row: number;
  readonly id: number;
  readonly name: number;
  readonly count: number;
  readonly kind: number;
  readonly busy: number;
  /** As far as the tile shows it. */
  readonly start_ns: number;
  readonly end_ns: number;
  readonly clipped: boolean;
}

export interface GapHit {
  readonly type: 'gap';
  readonly group: GroupInfo;
  readonly row: number;
  readonly at_ns: number;
  /** Edges in the view, if the neighbours are in it. */
  readonly start_ns: number | undefined;
  readonly end_ns: number | undefined;
}

export interface CounterHit {
  readonly type: 'counter';
  readonly counter: CounterInfo;
  readonly at_ns: number;
  readonly value: number;
}

export type Hit = SliceHit | GapHit | CounterHit;

export interface HitScene {
  readonly viewport: Viewport;
  readonly layout: Layout;
  readonly k: number;
  readonly tiles: readonly [number, number];
  readonly cache: Pick<TileCache, 'cover'>;
  readonly counters: ReadonlyMap<string, CounterData>;
}

/** Slices narrower than a fingertip are hit from this far away. */
const kReachPx = 2;

/** `y_px` counts from the top of the content, scrolling included. */
export function hit_test(scene: HitScene, x_px: number, y_px: number): Hit | undefined {
  const band = bands_between(scene.layout, y_px, y_px + 1)[0];
  const at_ns = ns_of_x(scene.viewport, x_px);
  if (band?.type === 'counter') {
    const data = scene.counters.get(band.counter.id);
    const value = data === undefined ? undefined : value_at(data, at_ns);
    return value === undefined ? undefined : { type: 'counter', counter: band.counter, at_ns, value };
  }
  if (band?.type !== 'group') return undefined;
  const row = row_at(band, y_px);
  if (row === undefined) return undefined;
  const covers = scene.cache.cover(scene.k, scene.tiles[0], scene.tiles[1], band.group.id);
  const reach = kReachPx * ns_per_px(scene.viewport);
  return (
    slice_at(covers, band.group, row, at_ns, reach) ?? gap_at(scene.viewport, covers, band.group, row, at_ns)
  );
}

function row_at(band: GroupBand, y_px: number): number | undefined {
  if (band.collapsed) return band.first_row;
  const shown = Math.floor((y_px - band.row_y) / band.pitch);
  const inside = y_px - band.row_y - shown * band.pitch < band.row_h + 1;
  return shown >= 0 && shown < band.rows && inside ? band.first_row + shown : undefined;
}

/** The slice that holds `at_ns`, else the nearest one within `reach_ns`. */
export function slice_at(
  covers: readonly Cover[],
  group: GroupInfo,
  row: number,
  at_ns: number,
  reach_ns: number,
): SliceHit | undefined {
  let best: { tile: Tile; n: number; distance: number } | undefined;
  for (const { tile, start_ns, end_ns } of covers) {
    if (tile === undefined || row >= tile.rows) continue;
    if (at_ns + reach_ns < start_ns || at_ns - reach_ns >= end_ns) continue;
    const until = tile.row_begin[row + 1] ?? 0;
    for (let n = first_ending_after(tile, row, at_ns - reach_ns); n < until; n++) {
      const left = slice_start_ns(tile, n);
      if (left > at_ns + reach_ns) break;
      const distance = Math.max(0, left - at_ns, at_ns - slice_end_ns(tile, n));
      if (best === undefined || distance < best.distance) best = { tile, n, distance };
    }
  }
  if (best === undefined) return undefined;
  const hit = hit_of(best.tile, best.n, group, row);
  return hit.clipped ? joined(hit, covers) : hit;
}

/** A slice over several tiles as one: its parts lie at the edges of their tiles. */
function joined(hit: SliceHit, covers: readonly Cover[]): SliceHit {
  let { start_ns, end_ns } = hit;
  let open_left = true;
  let open_right = true;
  for (const { tile } of covers) {
    if (tile === undefined || hit.row >= tile.rows) continue;
    const first = tile.row_begin[hit.row] ?? 0;
    const last = (tile.row_begin[hit.row + 1] ?? 0) - 1;
    for (const n of first === last ? [first] : [first, last]) {
      if (n > last || tile.id[n] !== hit.id || (tile.count[n] ?? 1) > 1) continue;
      start_ns = Math.min(start_ns, slice_start_ns(tile, n));
      end_ns = Math.max(end_ns, slice_end_ns(tile, n));
      if (((tile.flags[n] ?? 0) & kContinuesLeft) === 0) open_left = false;
      if (((tile.flags[n] ?? 0) & kContinuesRight) === 0) open_right = false;
    }
  }
  return { ...hit, start_ns, end_ns, clipped: open_left || open_right };
}

export function hit_of(tile: Tile, n: number, group: GroupInfo, row: number): SliceHit {
  const flags = tile.flags[n] ?? 0;
  return {
    type: 'slice',
    group,
    row,
    id: tile.id[n] ?? 0,
    name: tile.name[n] ?? 0,
    count: tile.count[n] ?? 1,
    kind: tile.kind[n] ?? 0,
    busy: tile.busy[n] ?? 255,
    start_ns: slice_start_ns(tile, n),
    end_ns: slice_end_ns(tile, n),
    clipped: (flags & (kContinuesLeft | kContinuesRight)) !== 0,
  };
}

function gap_at(
  v: Viewport,
  covers: readonly Cover[],
  group: GroupInfo,
  row: number,
  at_ns: number,
): GapHit | undefined {
  if (group.type !== 'device') return undefined;
  let start_ns: number | undefined;
  let end_ns: number | undefined;
  for (const cover of covers) {
    const { tile } = cover;
    if (tile === undefined) return undefined; // still loading: nobody knows yet
    if (row >= tile.rows) continue;
    const first = tile.row_begin[row] ?? 0;
    const until = tile.row_begin[row + 1] ?? 0;
    const next = first_ending_after(tile, row, at_ns);
    if (next > first) start_ns = Math.max(start_ns ?? -Infinity, slice_end_ns(tile, next - 1));
    if (next < until) end_ns = Math.min(end_ns ?? Infinity, slice_start_ns(tile, next));
  }
  if (start_ns !== undefined && start_ns < v.start_ns) start_ns = undefined;
  if (end_ns !== undefined && end_ns > v.end_ns) end_ns = undefined;
  return { type: 'gap', group, row, at_ns, start_ns, end_ns };
}

/** Where a slice of a group is drawn; the header of its section when that is collapsed. */
export function place_of(
  l: Layout,
  group: number,
  row: number,
): { y: number; h: number; exact: boolean } | undefined {
  const band = l.by_group.get(group);
  if (band !== undefined) {
    const top = row_top(band, row);
    if (top !== undefined) return { y: top, h: band.row_h, exact: !band.collapsed };
    return { y: band.y + band.h - 4, h: 3, exact: false };
  }
  for (const header of l.bands) {
    if (header.type === 'section' && header.collapsed && header.groups.includes(group)) {
      return { y: header.y + 3, h: header.h - 6, exact: false };
    }
  }
  return undefined;
}

/** First slice that overlaps the selection on a row below it: its children first, then other tracks. */
export function slice_below(scene: HitScene, s: Selection): SliceHit | undefined {
  const bands = scene.layout.bands.filter((b): b is GroupBand => b.type === 'group' && !b.collapsed);
  const at = bands.findIndex((b) => b.group.id === s.group);
  const middle = (s.start_ns + s.end_ns) / 2;
  const reach = Math.max((s.end_ns - s.start_ns) / 2, kReachPx * ns_per_px(scene.viewport));
  for (const band of bands.slice(Math.max(0, at))) {
    const covers = scene.cache.cover(scene.k, scene.tiles[0], scene.tiles[1], band.group.id);
    const first = band.group.id === s.group ? s.row + 1 : band.first_row;
    for (let row = first; row < band.first_row + band.rows; row++) {
      const hit = slice_at(covers, band.group, row, middle, reach);
      if (hit !== undefined) return hit;
    }
  }
  return undefined;
}

/** The slice nearest the middle of the view on the first track that has one there. */
export function slice_in_middle(scene: HitScene): SliceHit | undefined {
  const { viewport: v } = scene;
  const middle = (v.start_ns + v.end_ns) / 2;
  for (const band of scene.layout.bands) {
    if (band.type !== 'group' || band.collapsed) continue;
    const covers = scene.cache.cover(scene.k, scene.tiles[0], scene.tiles[1], band.group.id);
    const hit = slice_at(covers, band.group, band.first_row, middle, (v.end_ns - v.start_ns) / 2);
    if (hit !== undefined) return hit;
  }
  return undefined;
}
