// Turns the slices of one row into rectangles, folded runs included, and collects the labels.
// The hot loop of a frame: no allocation per slice, neighbours that look alike become one rectangle.
import type { RectBatch } from './batch';
import { kHues, kShades, hue_index, shade_of } from './palette';
import type { Cover } from './tile_cache';
import {
  first_ending_after,
  kContinuesLeft,
  kContinuesRight,
  kFolded,
  kSuspect,
  kUnfinished,
  type Tile,
} from './tile_decoder';
import { ns_per_px, type Viewport } from './viewport';

/** Batch colours: grounds of folded runs, then exact slices and bars, then places still empty. */
export const kTintBase = 0;
export const kSolidBase = kHues.length;
export const kEmptyColour = kSolidBase + kHues.length * kShades;
export const kColours = kEmptyColour + 1;

/** From this width on, a slice ends 1 px early so that neighbours can be told apart. */
const kGapFromPx = 3;
/** Text of a slice is inset by this much on both sides. */
export const kLabelInset = 4;

export interface Label {
  readonly x: number;
  /** Middle of the slice. */
  readonly y: number;
  /** Grows while the slice goes on in the next tile. */
  room: number;
  readonly name: number;
  readonly hue: number;
}

export interface RowPlace {
  /** Row of the group. */
  readonly row: number;
  readonly y: number;
  readonly h: number;
  /** Slices that are not drawn here. */
  readonly skip?: (tile: Tile, n: number) => boolean;
}

export interface SliceSink {
  readonly batch: RectBatch;
  /** Slices wide enough for text, if text is wanted. */
  readonly labels: Label[] | undefined;
}

/** Draws one row of a group in the view from what tiles there are. */
/** The slice at the right edge of what is drawn so far, if it goes on in the next tile. */
interface Carried {
  id: number;
  label: Label | undefined;
}

export function gather_row(
  covers: readonly Cover[],
  v: Viewport,
  pixel: number,
  place: RowPlace,
  sink: SliceSink,
): void {
  const carried: Carried = { id: -1, label: undefined };
  for (const cover of covers) {
    const from = Math.max(cover.start_ns, v.start_ns);
    const to = Math.min(cover.end_ns, v.end_ns);
    if (to <= from) continue;
    if (cover.tile === undefined) {
      const x0 = snap((from - v.start_ns) / ns_per_px(v), pixel);
      const x1 = snap((to - v.start_ns) / ns_per_px(v), pixel);
      sink.batch.add(kEmptyColour, x0, place.y, x1 - x0, place.h);
    } else if (place.row < cover.tile.rows) {
      gather_tile(cover.tile, from, to, v, pixel, place, sink, carried);
    }
  }
}

function gather_tile(
  tile: Tile,
  from: number,
  to: number,
  v: Viewport,
  pixel: number,
  place: RowPlace,
  sink: SliceSink,
  carried: Carried,
): void {
  const { batch, labels } = sink;
  const { y, h } = place;
  const per_px = ns_per_px(v);
  const scale = tile.unit_ns / per_px;
  const shift = (tile.left_ns - v.start_ns) / per_px;
  const clip0 = snap((from - v.start_ns) / per_px, pixel);
  const clip1 = snap((to - v.start_ns) / per_px, pixel);
  const until = tile.row_begin[place.row + 1] ?? 0;
  // The tinted ground and the bar of busy share that are still growing to the right.
  let tint = -1;
  let tint_x = 0;
  let tint_end = 0;
  let bar = -1;
  let bar_x = 0;
  let bar_end = 0;
  let bar_h = 0;
  // Right edge of what is drawn already: what would only hide under one pixel is left out.
  let drawn = -Infinity;

  for (let n = first_ending_after(tile, place.row, from); n < until; n++) {
    const left = shift + (tile.start[n] ?? 0) * scale;
    if (left >= clip1) break;
    if (place.skip?.(tile, n) === true) continue;
    let x0 = snap(left, pixel);
    let x1 = snap(shift + (tile.end[n] ?? 0) * scale, pixel);
    const flags = tile.flags[n] ?? 0;
    const hue = hue_index(tile.kind[n] ?? 0);
    const folded = (flags & kFolded) !== 0 && (tile.count[n] ?? 1) > 1;
    if (x1 - x0 < 1) x1 = x0 + 1;
    x0 = Math.max(x0, clip0);
    x1 = Math.min(x1, clip1);
    if (x1 <= drawn || x1 <= x0) continue;
    if (x0 < drawn) x0 = drawn;
    drawn = x1;

    if (folded) {
      const height = Math.max(1, snap((h * (tile.busy[n] ?? 0)) / 255, pixel));
      if (tint === hue && x0 - tint_end < 1) {
        tint_end = x1;
      } else {
        if (tint >= 0) batch.add(kTintBase + tint, tint_x, y, tint_end - tint_x, h);
        tint = hue;
        tint_x = x0;
        tint_end = x1;
      }
      if (bar === hue && bar_h === height && x0 <= bar_end) {
        bar_end = x1;
      } else {
        if (bar >= 0) batch.add(solid_of(bar, 0), bar_x, y + h - bar_h, bar_end - bar_x, bar_h);
        bar = hue;
        bar_x = x0;
        bar_end = x1;
        bar_h = height;
      }
      continue;
    }
    const gap = x1 - x0 >= kGapFromPx && (flags & kContinuesRight) === 0 && x1 < clip1 ? 1 : 0;
    const width = x1 - x0 - gap;
    if ((flags & kSuspect) !== 0) {
      // Not counted anywhere, since it cannot be true: only its edge and a pale body.
      batch.add(kTintBase + hue, x0, y, width, h);
      batch.add(solid_of(hue, 0), x0, y, Math.min(width, 2), h);
    } else if ((flags & kUnfinished) !== 0 && width > 6) {
      // Fades out where the recording stopped before it did.
      batch.add(kTintBase + hue, x0, y, width, h);
      batch.add(solid_of(hue, 0), x0, y, width - 5, h);
    } else {
      batch.add(solid_of(hue, shade_of(tile.name[n] ?? 0)), x0, y, width, h);
    }
    if (labels === undefined) continue;
    const id = tile.id[n] ?? 0;
    // A slice that spans tiles is written once, over all of its parts.
    const goes_on = carried.id === id && (flags & kContinuesLeft) !== 0;
    let label = goes_on ? carried.label : undefined;
    if (label !== undefined) {
      label.room += x1 - x0;
    } else if (x1 - x0 > 2 * kLabelInset || (flags & kContinuesRight) !== 0) {
      label = {
        x: x0 + kLabelInset,
        y: y + h / 2,
        room: x1 - x0 - 2 * kLabelInset,
        name: tile.name[n] ?? 0,
        hue,
      };
      labels.push(label);
    }
    carried.id = (flags & kContinuesRight) !== 0 ? id : -1;
    carried.label = label;
  }
  if (tint >= 0) batch.add(kTintBase + tint, tint_x, y, tint_end - tint_x, h);
  if (bar >= 0) batch.add(solid_of(bar, 0), bar_x, y + h - bar_h, bar_end - bar_x, bar_h);
}

export function solid_of(hue: number, shade: number): number {
  return kSolidBase + hue * kShades + shade;
}

export function snap(x: number, pixel: number): number {
  return Math.round(x / pixel) * pixel;
}
