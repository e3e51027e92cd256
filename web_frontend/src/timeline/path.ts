// A chain of slices over all tracks, such as a step's critical path: everything else steps back, and lines join what
// follows each other. Pieces come by time and do not overlap, so that a view of them is two binary searches.
import type { PaintContext } from './batch';
import { place_of } from './hit_test';
import { bands_between, type Layout } from './layout';
import type { Palette } from './palette';
import { kHeadH } from './ruler';
import { x_of_ns, type Viewport } from './viewport';

/** One piece: a slice's part of the chain. */
export interface PathPiece {
  /** Where it is drawn, and on whose behalf: a thread may have several tracks. Undefined where no slice is. */
  readonly at: { readonly group: number; readonly row: number; readonly thread: string } | undefined;
  readonly start_ns: number;
  readonly end_ns: number;
}

export interface PathFrame {
  readonly viewport: Viewport;
  readonly layout: Layout;
  readonly scroll_px: number;
  readonly height_px: number;
  readonly palette: Palette;
}

/** How far the rest steps back: still to be read, no longer to be seen first. */
const kVeil = 0.7;
/** Pieces of a row closer than this are one rectangle. */
const kJoinPx = 0.75;
/** Lines closer than this are hatching. */
const kApartPx = 3;

interface Run {
  readonly y: number;
  readonly h: number;
  x0: number;
  x1: number;
}

export function paint_path(ctx: PaintContext, f: PathFrame, pieces: readonly PathPiece[]): void {
  const [first, last] = in_view(pieces, f.viewport);
  veil(ctx, f);
  const { runs, lines } = gather(f, pieces, first, last);
  for (const { x0, x1, y, h } of runs) ctx.clearRect(x0, y, x1 - x0, h);
  ctx.fillStyle = f.palette.text;
  for (const { x0, x1, y, h } of runs) ctx.fillRect(x0, y + h, x1 - x0, 1.5);
  for (const [colour, width] of [
    [f.palette.panel, 3],
    [f.palette.text, 1],
  ] as const) {
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.beginPath();
    for (const [x0, y0, x1, y1] of lines) {
      ctx.moveTo(x0, y0);
      ctx.lineTo(x1, y1);
    }
    ctx.stroke();
  }
}

/** First piece that ends in the view, and the one after the last that starts in it. */
export function in_view(pieces: readonly PathPiece[], v: Viewport): readonly [number, number] {
  const first = lower_bound(pieces.length, (n) => (pieces[n]?.end_ns ?? 0) > v.start_ns);
  const last = lower_bound(pieces.length, (n) => (pieces[n]?.start_ns ?? 0) >= v.end_ns);
  // One more on both sides: lines lead there.
  return [Math.max(0, first - 1), Math.min(pieces.length, last + 1)];
}

function lower_bound(size: number, holds: (n: number) => boolean): number {
  let lo = 0;
  let hi = size;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (holds(mid)) hi = mid;
    else lo = mid + 1;
  }
  return lo;
}

function veil(ctx: PaintContext, f: PathFrame): void {
  ctx.globalAlpha = kVeil;
  ctx.fillStyle = f.palette.panel;
  for (const band of bands_between(f.layout, f.scroll_px, f.scroll_px + f.height_px)) {
    if (band.type === 'section' && !band.collapsed) continue;
    ctx.fillRect(0, band.y - f.scroll_px + kHeadH, f.viewport.width_px, band.h - 1);
  }
  ctx.globalAlpha = 1;
}

type Line = readonly [number, number, number, number];

function gather(
  f: PathFrame,
  pieces: readonly PathPiece[],
  first: number,
  last: number,
): { runs: Run[]; lines: Line[] } {
  const runs: Run[] = [];
  const lines: Line[] = [];
  const open = new Map<string, Run>();
  const places = new Map<string, ReturnType<typeof place_of>>();
  let before: { thread: string; x: number; y: number; h: number } | undefined;
  let drawn_x = -Infinity;
  for (let n = first; n < last; n++) {
    const piece = pieces[n];
    if (piece?.at === undefined) continue;
    const key = `${piece.at.group} ${piece.at.row}`;
    if (!places.has(key)) places.set(key, place_of(f.layout, piece.at.group, piece.at.row));
    const place = places.get(key);
    if (place === undefined) continue;
    const y = place.y - f.scroll_px + kHeadH;
    const x0 = cut(f.viewport, piece.start_ns);
    const x1 = Math.max(x0 + 1, cut(f.viewport, piece.end_ns));
    const run = open.get(key);
    if (run !== undefined && x0 <= run.x1 + kJoinPx) run.x1 = Math.max(run.x1, x1);
    else {
      const next = { x0, x1, y, h: place.h };
      open.set(key, next);
      runs.push(next);
    }
    if (before !== undefined && before.thread !== piece.at.thread && x0 - drawn_x >= kApartPx) {
      const down = y > before.y;
      lines.push([before.x, down ? before.y + before.h : before.y, x0, down ? y : y + place.h]);
      drawn_x = x0;
    }
    before = { thread: piece.at.thread, x: cut(f.viewport, piece.end_ns), y, h: place.h };
  }
  return { runs, lines };
}

/** A little more than the view: huge rectangles lose their edges. */
function cut(v: Viewport, ns: number): number {
  return Math.min(v.width_px + 8, Math.max(-8, x_of_ns(v, ns)));
}
