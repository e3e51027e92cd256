// The whole trace in one strip: how busy host and devices are over time, search hits, the view.
import type { PaintContext } from './batch';
import { hue_index, kHues, type Palette } from './palette';
import type { Cover } from './tile_cache';
import { first_ending_after, slice_end_ns, slice_start_ns, type Tile } from './tile_decoder';
import { clamp, type Limits, type Viewport } from './viewport';

export const kMinimapH = 44;
const kHitsH = 7;

/** Busy share per pixel column, 0 to 1, and the family that fills most of it. */
export interface BusyLane {
  readonly share: Float32Array;
  readonly hue: Uint8Array;
}

/** A group's tile of the whole trace, and which of its rows count. */
export interface LaneTile {
  readonly tile: Tile;
  readonly first_row: number;
  readonly rows: number;
  /** The part of the tile that counts; all of it if absent. */
  readonly clip?: Limits;
  /** Slices that do not count, by their place in the tile. */
  readonly skip?: (n: number) => boolean;
}

/**
 * What shows how busy a thread is: its outermost slices, but of a step what is inside it, since a step
 * covers all of its time whatever happens.
 */
export function host_lane_rows(tile: Tile, is_step: (name: number) => boolean): LaneTile[] {
  const steps: { start: number; end: number }[] = [];
  const in_row_0 = tile.row_begin[1] ?? 0;
  for (let n = 0; n < in_row_0; n++) {
    if ((tile.count[n] ?? 1) === 1 && is_step(tile.name[n] ?? 0)) {
      steps.push({ start: tile.start[n] ?? 0, end: tile.end[n] ?? 0 });
    }
  }
  if (steps.length === 0) return [{ tile, first_row: 0, rows: 1 }];
  const in_step = (n: number): boolean =>
    steps.some((s) => (tile.start[n] ?? 0) >= s.start && (tile.start[n] ?? 0) < s.end);
  return [
    { tile, first_row: 0, rows: 1, skip: (n) => is_step(tile.name[n] ?? 0) },
    { tile, first_row: 1, rows: 1, skip: (n) => !in_step(n) },
  ];
}

/** Adds the rows up over `columns` equal parts of the trace; a column is full at 1. */
export function busy_lane(tiles: readonly LaneTile[], limits: Limits, columns: number): BusyLane {
  const share = new Float32Array(columns);
  const by_hue = kHues.map(() => new Float32Array(columns));
  const per_column = Math.max(1, limits.end_ns - limits.start_ns) / columns;
  const add_row = ({ tile, clip = limits, skip }: LaneTile, row: number): void => {
    const until = tile.row_begin[row + 1] ?? 0;
    for (let n = first_ending_after(tile, row, clip.start_ns); n < until; n++) {
      const from = Math.max(clip.start_ns, slice_start_ns(tile, n)) - limits.start_ns;
      const to = Math.min(clip.end_ns, slice_end_ns(tile, n)) - limits.start_ns;
      if (to < from) break;
      if (skip?.(n) === true) continue;
      const weight = (tile.busy[n] ?? 255) / 255;
      const sums = by_hue[hue_index(tile.kind[n] ?? 0)];
      const last = Math.min(columns - 1, Math.floor(to / per_column));
      for (let c = Math.max(0, Math.floor(from / per_column)); c <= last; c++) {
        const inside = Math.min(to, (c + 1) * per_column) - Math.max(from, c * per_column);
        const part = (Math.max(0, inside) / per_column) * weight;
        share[c] = (share[c] ?? 0) + part;
        if (sums !== undefined) sums[c] = (sums[c] ?? 0) + part;
      }
    }
  };
  for (const lane of tiles) {
    const end = Math.min(lane.tile.rows, lane.first_row + lane.rows);
    for (let row = lane.first_row; row < end; row++) add_row(lane, row);
  }
  const hue = new Uint8Array(columns);
  for (let c = 0; c < columns; c++) {
    let most = 0;
    by_hue.forEach((sums, h) => {
      if ((sums[c] ?? 0) > most) {
        most = sums[c] ?? 0;
        hue[c] = h;
      }
    });
    share[c] = Math.min(1, share[c] ?? 0);
  }
  return { share, hue };
}

/** Covered share of a view by all rows of a group; undefined while a part of it is loading. */
export function busy_in_view(covers: readonly Cover[], view: Viewport, limits: Limits): number | undefined {
  const seen: Limits = {
    start_ns: Math.max(view.start_ns, limits.start_ns),
    end_ns: Math.min(view.end_ns, limits.end_ns),
  };
  const lanes: LaneTile[] = [];
  for (const { tile, start_ns, end_ns } of covers) {
    if (tile === undefined) return undefined;
    const clip = { start_ns: Math.max(start_ns, seen.start_ns), end_ns: Math.min(end_ns, seen.end_ns) };
    lanes.push({ tile, first_row: 0, rows: tile.rows, clip });
  }
  const { share } = busy_lane(lanes, seen, Math.max(1, Math.floor(view.width_px)));
  return share.reduce((sum, s) => sum + s, 0) / share.length;
}

export interface MinimapFrame {
  readonly width_px: number;
  readonly limits: Limits;
  readonly viewport: Viewport;
  readonly palette: Palette;
  readonly host: BusyLane | undefined;
  readonly device: BusyLane | undefined;
  /** Hits in equal parts of the trace. */
  readonly bins: readonly number[] | undefined;
}

export function paint_minimap(ctx: PaintContext, f: MinimapFrame): void {
  const { palette, width_px } = f;
  ctx.fillStyle = palette.sunk;
  ctx.fillRect(0, 0, width_px, kMinimapH);
  const room = kMinimapH - kHitsH - 4;
  const host_h = f.host === undefined ? 0 : f.device === undefined ? room : Math.floor(room * 0.42);
  const host_y = kHitsH + 2;
  if (f.host !== undefined) lane(ctx, f.host, palette, host_y, host_h - 1);
  if (f.device !== undefined) lane(ctx, f.device, palette, host_y + host_h + 1, room - host_h - 1);
  if (f.bins !== undefined) hits(ctx, f.bins, width_px, palette);
  brush(ctx, f);
}

function lane(ctx: PaintContext, busy: BusyLane, palette: Palette, y: number, h: number): void {
  // By hue, so that the fill style changes a few times and not per column.
  const used = new Set(busy.hue);
  for (const hue of used) {
    ctx.fillStyle = palette.hue(kHues[hue] ?? 'other');
    for (let c = 0; c < busy.share.length; c++) {
      const share = busy.share[c] ?? 0;
      if (busy.hue[c] !== hue || share <= 0) continue;
      const bar = Math.max(1, Math.round(h * share));
      ctx.fillRect(c, y + h - bar, 1, bar);
    }
  }
}

function hits(ctx: PaintContext, bins: readonly number[], width_px: number, palette: Palette): void {
  ctx.fillStyle = palette.accent;
  const w = Math.max(1, width_px / bins.length);
  bins.forEach((n, at) => {
    if (n > 0) ctx.fillRect(Math.floor((at / bins.length) * width_px), 1, Math.max(1, w - 0.5), kHitsH - 2);
  });
}

function brush(ctx: PaintContext, f: MinimapFrame): void {
  const [x0, x1] = brush_extent(f.viewport, f.limits, f.width_px);
  ctx.globalAlpha = 0.45;
  ctx.fillStyle = f.palette.panel;
  ctx.fillRect(0, 0, x0, kMinimapH);
  ctx.fillRect(x1, 0, f.width_px - x1, kMinimapH);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = f.palette.accent;
  ctx.lineWidth = 2;
  ctx.strokeRect(x0 + 1, 1, Math.max(2, x1 - x0 - 2), kMinimapH - 2);
}

/** Where the view lies on the strip; at least wide enough to be seen and held. */
export function brush_extent(v: Viewport, limits: Limits, width_px: number): readonly [number, number] {
  const span = Math.max(1, limits.end_ns - limits.start_ns);
  const x0 = ((v.start_ns - limits.start_ns) / span) * width_px;
  const x1 = ((v.end_ns - limits.start_ns) / span) * width_px;
  const widen = Math.max(0, 6 - (x1 - x0)) / 2;
  return [clamp(x0 - widen, 0, width_px - 6), clamp(x1 + widen, 6, width_px)];
}
