// Draws the tracks: grounds and grid, the slices of every row in sight, their labels, counters.
// Everything is in CSS pixels, snapped to device pixels; the caller sets the transform.
import { RectBatch, type PaintContext } from './batch';
import { paint_counter, type CounterData } from './counter_painter';
import { kLabelFontPx, type LabelCache } from './labels';
import { bands_between, kSummaryGroups, type GroupBand, type Layout, type SectionBand } from './layout';
import type { Palette } from './palette';
import { gather_row, kColours, type Label, type SliceSink } from './slices';
import type { Cover, TileCache } from './tile_cache';
import type { Ticks } from './ticks';
import { x_of_ns, type Viewport } from './viewport';

/** All that a picture of the tracks depends on. */
export interface Frame {
  readonly viewport: Viewport;
  readonly layout: Layout;
  readonly scroll_px: number;
  readonly height_px: number;
  /** Size of a device pixel in CSS pixels. */
  readonly pixel: number;
  readonly k: number;
  readonly tiles: readonly [number, number];
  readonly cache: Pick<TileCache, 'cover'>;
  readonly labels: LabelCache | undefined;
  readonly counters: ReadonlyMap<string, CounterData>;
  readonly palette: Palette;
  readonly ticks: Ticks;
}

const kMostLabels = 800;

export class TrackPainter {
  private readonly batch = new RectBatch(kColours);
  /** Middles of groups that have nothing in the view. */
  private empty: number[] = [];

  /** Draws into a context whose origin is the top left of the tracks. Returns rectangles drawn. */
  paint(ctx: PaintContext, frame: Frame): number {
    const { palette, viewport: v, height_px, scroll_px } = frame;
    ctx.fillStyle = palette.panel;
    ctx.fillRect(0, 0, v.width_px, height_px);
    const bands = bands_between(frame.layout, scroll_px, scroll_px + height_px);
    this.ground(ctx, frame, bands);
    const labels: Label[] = [];
    this.empty = [];
    for (const band of bands) {
      if (band.type === 'group') this.group(frame, band, labels);
      if (band.type === 'section' && band.collapsed) this.summary(frame, band);
    }
    const rects = this.batch.size;
    this.batch.flush(ctx, batch_styles(palette));
    this.write(ctx, frame, labels);
    ctx.fillStyle = palette.text_3;
    for (const y of this.empty) ctx.fillText('nothing in this range', 8, y);
    for (const band of bands) {
      if (band.type !== 'counter') continue;
      const data = frame.counters.get(band.counter.id);
      if (data !== undefined) paint_counter(ctx, v, data, band.y - scroll_px, band.h, palette, frame.pixel);
    }
    return rects;
  }

  private ground(ctx: PaintContext, frame: Frame, bands: Layout['bands']): void {
    const { palette, viewport: v, scroll_px, pixel } = frame;
    const bottom = Math.min(frame.height_px, frame.layout.height - scroll_px);
    ctx.fillStyle = palette.rule;
    for (const ns of frame.ticks.at_ns) ctx.fillRect(Math.round(x_of_ns(v, ns)), 0, pixel, bottom);
    for (const band of bands) {
      const y = band.y - scroll_px;
      if (band.type === 'section') {
        ctx.fillStyle = palette.sunk;
        ctx.fillRect(0, y, v.width_px, band.h);
      }
      ctx.fillStyle = palette.rule;
      ctx.fillRect(0, y + band.h - pixel, v.width_px, pixel);
    }
  }

  private group(frame: Frame, band: GroupBand, labels: Label[]): void {
    const covers = frame.cache.cover(frame.k, frame.tiles[0], frame.tiles[1], band.group.id);
    const sink: SliceSink = { batch: this.batch, labels: band.collapsed ? undefined : labels };
    const before = this.batch.size;
    for (let n = 0; n < band.rows; n++) {
      const y = band.row_y + n * band.pitch - frame.scroll_px;
      if (y + band.row_h < 0 || y > frame.height_px) continue;
      this.row(frame, covers, band.first_row + n, y, band.row_h, sink);
    }
    const y = band.row_y - frame.scroll_px;
    const seen = y > -band.h && y < frame.height_px;
    if (seen && !band.collapsed && this.batch.size === before && covers.every((c) => c.tile !== undefined)) {
      this.empty.push(y + Math.min(band.row_h, 20) / 2);
    }
  }

  /** All groups of a collapsed section, as thin lines inside its header. */
  private summary(frame: Frame, band: SectionBand): void {
    const h = Math.max(2, Math.min(4, Math.floor((band.h - 6) / Math.max(1, band.groups.length)) - 1));
    band.groups.slice(0, kSummaryGroups).forEach((group, n) => {
      const covers = frame.cache.cover(frame.k, frame.tiles[0], frame.tiles[1], group);
      const y = band.y - frame.scroll_px + 3 + n * (h + 1);
      this.row(frame, covers, 0, y, h, { batch: this.batch, labels: undefined });
    });
  }

  private row(
    frame: Frame,
    covers: readonly Cover[],
    row: number,
    y: number,
    h: number,
    sink: SliceSink,
  ): void {
    gather_row(covers, frame.viewport, frame.pixel, { row, y, h }, sink);
  }

  private write(ctx: PaintContext, frame: Frame, labels: readonly Label[]): void {
    if (frame.labels === undefined) return;
    const { palette } = frame;
    ctx.font = `${kLabelFontPx}px ${palette.font}`;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    let hue = -1;
    let written = 0;
    for (const label of [...labels].sort((a, b) => a.hue - b.hue)) {
      const text = frame.labels.fit(label.name, label.room);
      if (text === '') continue;
      if (label.hue !== hue) {
        hue = label.hue;
        ctx.fillStyle = palette.ink[hue] ?? palette.text;
      }
      ctx.fillText(text, label.x, label.y + 0.5);
      if (++written >= kMostLabels) return;
    }
  }
}

const styles_of = new WeakMap<Palette, readonly string[]>();

/** Fill styles in the order of the batch's colours. */
export function batch_styles(palette: Palette): readonly string[] {
  let styles = styles_of.get(palette);
  if (styles === undefined) {
    styles = [...palette.tint, ...palette.solid, palette.sunk];
    styles_of.set(palette, styles);
  }
  return styles;
}
