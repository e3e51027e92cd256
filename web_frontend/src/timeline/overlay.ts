// The upper canvas: hover, selection, arrows, area, cursor. Redrawn on pointer moves, so it must not
// need the tracks beneath to be drawn again.
import type { PaintContext } from './batch';
import { bytes, count } from '../lib/format';
import { place_of, type CounterHit, type Hit, type HitScene, type SliceHit } from './hit_test';
import type { TextMeasure } from './labels';
import { bands_between, type Layout } from './layout';
import { hue_index, type Palette } from './palette';
import { kHeadH, kRulerH } from './ruler';
import { paint_path, type PathPiece } from './path';
import type { Area, Arrow, ArrowEnd, Selection } from './scene';
import { format_at, format_duration } from './ticks';
import { first_ending_after, slice_end_ns, slice_start_ns } from './tile_decoder';
import { clamp, ns_per_px, span_ns, x_of_ns, type Viewport } from './viewport';

export interface OverlayFrame extends HitScene {
  readonly scroll_px: number;
  /** Height of the canvas, head included. */
  readonly height_px: number;
  readonly palette: Palette;
  readonly measure: TextMeasure;
  readonly name_of: (id: number) => string | undefined;
  readonly pointer: { readonly x: number; readonly y: number } | undefined;
  readonly hover: Hit | undefined;
  readonly selection: Selection | undefined;
  readonly area: Area | undefined;
  readonly arrows: readonly Arrow[];
  /** Names that the search matches. */
  readonly found: ReadonlySet<number> | undefined;
  /** Events that are pointed out, by id. */
  readonly marked: ReadonlySet<number>;
  /** A chain that stands out before everything else. */
  readonly path: readonly PathPiece[] | undefined;
}

/** Away from the text's own lightness, so that names stay readable. */
const kHoverOnDarkInk = 'rgba(255, 255, 255, 0.34)';
const kHoverOnLightInk = 'rgba(0, 0, 0, 0.3)';
const kTooltipMost = 460;

export function paint_overlay(ctx: PaintContext, f: OverlayFrame): void {
  const { viewport: v } = f;
  ctx.clearRect(0, 0, v.width_px, f.height_px);
  if (f.area !== undefined) area(ctx, f, f.area);
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, kHeadH, v.width_px, f.height_px - kHeadH);
  ctx.clip();
  if (f.path !== undefined) paint_path(ctx, f, f.path);
  if (f.marked.size > 0) marked(ctx, f, f.marked);
  if (f.found !== undefined && f.found.size > 0) found(ctx, f, f.found);
  if (f.hover?.type === 'slice') same_name(ctx, f, f.hover);
  if (f.hover?.type === 'slice') outline(ctx, f, f.hover, 1);
  if (f.selection !== undefined) selected(ctx, f, f.selection);
  for (const arrow of f.arrows) paint_arrow(ctx, f, arrow);
  ctx.restore();
  if (f.pointer !== undefined) cursor(ctx, f, f.pointer.x);
  if (f.pointer !== undefined && f.hover !== undefined) tooltip(ctx, f, f.hover, f.pointer);
}

/** Every exact slice in sight, with its rectangle on the canvas. */
function each_visible(
  f: OverlayFrame,
  visit: (name: number, x: number, y: number, w: number, h: number, id: number) => void,
): void {
  const top = f.scroll_px;
  for (const band of bands_between(f.layout, top, top + f.height_px)) {
    if (band.type !== 'group' || band.collapsed) continue;
    for (const cover of f.cache.cover(f.k, f.tiles[0], f.tiles[1], band.group.id)) {
      const { tile } = cover;
      if (tile === undefined) continue;
      const from = Math.max(cover.start_ns, f.viewport.start_ns);
      const to = Math.min(cover.end_ns, f.viewport.end_ns);
      for (let n = 0; n < band.rows; n++) {
        const row = band.first_row + n;
        if (row >= tile.rows) break;
        const y = band.row_y + n * band.pitch - f.scroll_px + kHeadH;
        const until = tile.row_begin[row + 1] ?? 0;
        for (let s = first_ending_after(tile, row, from); s < until; s++) {
          const start = slice_start_ns(tile, s);
          if (start >= to) break;
          if ((tile.count[s] ?? 1) > 1) continue;
          const x0 = x_of_ns(f.viewport, Math.max(start, from));
          const x1 = x_of_ns(f.viewport, Math.min(slice_end_ns(tile, s), to));
          visit(tile.name[s] ?? 0, x0, y, Math.max(1, x1 - x0), band.row_h, tile.id[s] ?? 0);
        }
      }
    }
  }
}

function same_name(ctx: PaintContext, f: OverlayFrame, hover: SliceHit): void {
  if (hover.count > 1) return;
  const light = f.palette.light_ink[hue_index(hover.kind)] === true;
  ctx.fillStyle = light ? kHoverOnLightInk : kHoverOnDarkInk;
  each_visible(f, (name, x, y, w, h) => {
    if (name === hover.name && w >= 2) ctx.fillRect(x, y, w - 1, h);
  });
}

function found(ctx: PaintContext, f: OverlayFrame, names: ReadonlySet<number>): void {
  ctx.fillStyle = f.palette.accent;
  each_visible(f, (name, x, y, w, h) => {
    if (names.has(name)) ctx.fillRect(x, y + h - 2, Math.max(1, w - 1), 2);
  });
}

/** A frame of the accent and a mark over it: seen even where the slice is a hair. */
function marked(ctx: PaintContext, f: OverlayFrame, ids: ReadonlySet<number>): void {
  each_visible(f, (_, x, y, w, h, id) => {
    if (!ids.has(id)) return;
    for (const [colour, width] of [
      [f.palette.panel, 4],
      [f.palette.accent, 2],
    ] as const) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = width;
      ctx.strokeRect(x - 1, y - 1, w + 2, h + 2);
    }
    const middle = clamp(x + w / 2, 6, f.viewport.width_px - 6);
    ctx.fillStyle = f.palette.accent;
    ctx.beginPath();
    ctx.moveTo(middle, y - 1);
    ctx.lineTo(middle - 4, y - 7);
    ctx.lineTo(middle + 4, y - 7);
    ctx.closePath();
    ctx.fill();
  });
}

function outline(ctx: PaintContext, f: OverlayFrame, hit: SliceHit, width: number): void {
  const place = place_of(f.layout, hit.group.id, hit.row);
  if (place === undefined) return;
  const { x, w } = extent(f.viewport, hit.start_ns, hit.end_ns);
  ctx.strokeStyle = f.palette.text;
  ctx.lineWidth = width;
  ctx.strokeRect(x - 0.5, place.y - f.scroll_px + kHeadH - 0.5, w + 1, place.h + 1);
}

function selected(ctx: PaintContext, f: OverlayFrame, s: Selection): void {
  const place = place_of(f.layout, s.group, s.row);
  if (place === undefined) return;
  const { x, w } = extent(f.viewport, s.start_ns, s.end_ns);
  if (x > f.viewport.width_px + 4 || x + w < -4) return;
  const y = place.y - f.scroll_px + kHeadH;
  if (s.type === 'gap') {
    ctx.globalAlpha = 0.9;
    ctx.fillStyle = f.palette.panel;
    ctx.fillRect(x, y, w, place.h);
    ctx.globalAlpha = 1;
    const full = format_duration(s.end_ns - s.start_ns);
    const fits = (text: string): boolean => f.measure.width(text) * 1.08 + 6 < w;
    // The unit is in the details; the number alone still says how long.
    const text = fits(full) ? full : (full.split('\u2009').at(0) ?? '');
    if (fits(text)) {
      ctx.fillStyle = f.palette.text;
      ctx.font = `600 11px ${f.palette.font}`;
      ctx.textAlign = 'center';
      ctx.textBaseline = 'middle';
      ctx.fillText(text, clamp(x + w / 2, 30, f.viewport.width_px - 30), y + place.h / 2 + 0.5);
      ctx.textAlign = 'left';
    }
  }
  // Ink outside, ground inside: seen on every colour, in both themes.
  ctx.lineWidth = 1;
  ctx.strokeStyle = f.palette.panel;
  if (w > 6) ctx.strokeRect(x + 1.5, y + 1.5, w - 3, place.h - 3);
  ctx.lineWidth = 2;
  ctx.strokeStyle = f.palette.text;
  ctx.strokeRect(x, y, w, place.h);
}

/** Pixels of [start, end], cut to a little more than the view: huge rectangles lose their edges. */
function extent(v: Viewport, start_ns: number, end_ns: number): { x: number; w: number } {
  const x0 = clamp(Math.round(x_of_ns(v, start_ns)), -8, v.width_px + 8);
  const x1 = clamp(Math.round(x_of_ns(v, end_ns)), -8, v.width_px + 8);
  return { x: x0, w: Math.max(1, x1 - x0) };
}

function paint_arrow(ctx: PaintContext, f: OverlayFrame, arrow: Arrow): void {
  const from = end_point(f, arrow.from);
  const to = end_point(f, arrow.to);
  if (from === undefined || to === undefined) return;
  const { width_px } = f.viewport;
  if (Math.max(from.x, to.x) < 0 || Math.min(from.x, to.x) > width_px) return;
  const down = to.y >= from.y;
  const y0 = down ? from.bottom : from.y;
  const y1 = down ? to.y : to.bottom;
  const bend = clamp(Math.abs(y1 - y0) * 0.6, 12, 60) * (down ? 1 : -1);
  for (const [colour, line] of [
    [f.palette.panel, 4],
    [f.palette.text, 1.5],
  ] as const) {
    ctx.strokeStyle = colour;
    ctx.lineWidth = line;
    ctx.beginPath();
    ctx.moveTo(from.x, y0);
    ctx.bezierCurveTo(from.x, y0 + bend, to.x, y1 - bend, to.x, y1 - (down ? 5 : -5));
    ctx.stroke();
  }
  ctx.fillStyle = f.palette.text;
  const tip = down ? -6 : 6;
  ctx.beginPath();
  ctx.moveTo(to.x, y1);
  ctx.lineTo(to.x - 4, y1 + tip);
  ctx.lineTo(to.x + 4, y1 + tip);
  ctx.closePath();
  ctx.fill();
  if (arrow.text === '') return;
  const w = f.measure.width(arrow.text) * 1.1 + 10;
  const visible0 = clamp(from.x, 0, width_px);
  const visible1 = clamp(to.x, 0, width_px);
  const x = clamp((visible0 + visible1) / 2 - w / 2, 4, Math.max(4, width_px - w - 4));
  const y = clamp((y0 + y1) / 2, kHeadH + 10, f.height_px - 10);
  ctx.fillStyle = f.palette.panel;
  ctx.fillRect(x, y - 9, w, 18);
  ctx.fillStyle = f.palette.text;
  ctx.font = `600 11px ${f.palette.font}`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.fillText(arrow.text, x + 5, y + 0.5);
}

function end_point(f: OverlayFrame, end: ArrowEnd): { x: number; y: number; bottom: number } | undefined {
  const place = place_of(f.layout, end.group, end.row);
  if (place === undefined) return undefined;
  const y = place.y - f.scroll_px + kHeadH;
  // Ends far outside are moved near: a curve over millions of pixels is not drawn by canvases.
  const x = clamp(x_of_ns(f.viewport, end.ns), -2000, f.viewport.width_px + 2000);
  return { x, y, bottom: y + place.h };
}

function area(ctx: PaintContext, f: OverlayFrame, a: Area): void {
  const v = f.viewport;
  const { x, w } = extent(v, a.start_ns, a.end_ns);
  ctx.globalAlpha = 0.1;
  ctx.fillStyle = f.palette.accent;
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, kHeadH, v.width_px, f.height_px - kHeadH);
  ctx.clip();
  const groups = new Set(a.groups);
  for (const band of f.layout.bands) {
    const inside =
      (band.type === 'group' && groups.has(band.group.id)) ||
      (band.type === 'section' && band.groups.some((g) => groups.has(g)));
    if (inside) ctx.fillRect(x, band.y - f.scroll_px + kHeadH, w, band.h);
  }
  ctx.restore();
  ctx.globalAlpha = 1;
  ctx.fillStyle = f.palette.accent;
  if (x >= 0 && x <= v.width_px) ctx.fillRect(x, kRulerH, 1, f.height_px - kRulerH);
  if (x + w >= 0 && x + w <= v.width_px) ctx.fillRect(x + w - 1, kRulerH, 1, f.height_px - kRulerH);
  flag(ctx, f, `${format_duration(a.end_ns - a.start_ns)} selected`, clamp(x + w / 2, 0, v.width_px));
}

function cursor(ctx: PaintContext, f: OverlayFrame, x: number): void {
  ctx.globalAlpha = 0.35;
  ctx.fillStyle = f.palette.text;
  ctx.fillRect(Math.round(x), kRulerH, 1, f.height_px - kRulerH);
  ctx.globalAlpha = 1;
  if (f.area !== undefined) return;
  const ns = f.viewport.start_ns + x * ns_per_px(f.viewport);
  flag(ctx, f, `${format_at(ns, span_ns(f.viewport) / 1000)} ms`, x);
}

/** A small sign on the ruler, centred on x. */
function flag(ctx: PaintContext, f: OverlayFrame, text: string, x: number): void {
  const w = f.measure.width(text) * 1.08 + 12;
  const left = clamp(x - w / 2, 0, Math.max(0, f.viewport.width_px - w));
  ctx.fillStyle = f.palette.accent;
  ctx.fillRect(Math.round(left), 2, Math.round(w), kRulerH - 4);
  ctx.fillStyle = f.palette.accent_ink;
  ctx.font = `600 11px ${f.palette.font}`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.fillText(text, Math.round(left) + 6, kRulerH / 2 + 0.5);
}

function slice_words(f: OverlayFrame, hit: SliceHit): [string, string] {
  const name = f.name_of(hit.name) ?? '';
  if (hit.count > 1) {
    const share = ((hit.busy / 255) * 100).toFixed(0);
    return [name, `${hit.count} slices, ${share} % covered; the longest is named`];
  }
  const length = `${hit.clipped ? 'over ' : ''}${format_duration(hit.end_ns - hit.start_ns)}`;
  return [name, `${length} from ${format_at(hit.start_ns)} ms`];
}

function counter_words(hit: CounterHit): [string, string] {
  const { label, unit } = hit.counter;
  const value = unit === 'bytes' ? bytes(hit.value) : `${count(hit.value)} ${unit}`;
  return [value, `${label} at ${format_at(hit.at_ns)} ms`];
}

function tooltip(
  ctx: PaintContext,
  f: OverlayFrame,
  hit: Hit,
  at: { readonly x: number; readonly y: number },
): void {
  if (hit.type === 'gap') return;
  const [name, second] = hit.type === 'slice' ? slice_words(f, hit) : counter_words(hit);
  const first = f.measure.width(name) > kTooltipMost ? f.measure.crop(name, kTooltipMost) : name;
  const w = Math.max(f.measure.width(first) * 1.08, f.measure.width(second)) + 18;
  const h = 40;
  const x = clamp(at.x + 14, 4, Math.max(4, f.viewport.width_px - w - 4));
  const y = at.y + 18 + h > f.height_px ? at.y - h - 8 : at.y + 18;
  ctx.fillStyle = f.palette.panel;
  ctx.fillRect(x, y, w, h);
  ctx.strokeStyle = f.palette.rule_2;
  ctx.lineWidth = 1;
  ctx.strokeRect(Math.round(x) + 0.5, Math.round(y) + 0.5, Math.round(w), h);
  ctx.fillStyle = f.palette.text;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.font = `600 11px ${f.palette.font}`;
  ctx.fillText(first, x + 9, y + 13);
  ctx.fillStyle = f.palette.text_2;
  ctx.font = `11px ${f.palette.font}`;
  ctx.fillText(second, x + 9, y + 28);
}

/** The layout's groups between two heights of the content, for an area drag. */
export function groups_in(l: Layout, top: number, bottom: number): number[] {
  const ids: number[] = [];
  for (const band of bands_between(l, Math.min(top, bottom), Math.max(top, bottom) + 1)) {
    if (band.type === 'group') ids.push(band.group.id);
    if (band.type === 'section' && band.collapsed) ids.push(...band.groups);
  }
  return ids;
}
