// One step in time as three flat lanes: the busiest thread, another thread, the device. Drawn by the
// trace's own painter from its own tiles; a picture to look at, not to move in.
import { RectBatch, type PaintContext } from './batch';
import { kLabelFontPx, LabelCache, measure_in, type TextMeasure } from './labels';
import { is_device, type GroupInfo } from './layout';
import { host_lane_rows } from './minimap';
import { batch_styles } from './painter';
import { read_palette, type Palette } from './palette';
import { gather_row, kColours, type Label, type SliceSink } from './slices';
import { Surface } from './surface';
import type { Cover, FetchTiles } from './tile_cache';
import {
  decode_tiles,
  slice_end_ns,
  slice_start_ns,
  first_ending_after,
  kTileBuckets,
  type Tile,
} from './tile_decoder';
import { format_duration, tick_label, ticks_for } from './ticks';
import { level_for, tiles_in_view, x_of_ns, type Limits, type Viewport } from './viewport';

export const kLaneH = 16;
const kLaneGap = 2;
export const kAxisH = 16;
/** A device gap shorter than this share of the step is not worth a box. */
const kGapShare = 0.04;

export interface StripRange extends Limits {
  /** Tiles end with the trace. */
  readonly trace: Limits;
}

export interface StripLane {
  readonly label: string;
  readonly title: string;
  readonly device: boolean;
  /** A device's lane holds all of its streams: idle is only what none of them fills. */
  readonly groups: readonly GroupInfo[];
}

/** The lanes that say most: the two busiest threads in their order, and the busiest device. */
export function strip_lanes(groups: readonly GroupInfo[]): StripLane[] {
  const by_events = (list: readonly GroupInfo[]): GroupInfo[] =>
    [...list].sort((a, b) => b.events - a.events);
  const busiest = new Set(by_events(groups.filter((g) => g.type === 'host' && g.events > 0)).slice(0, 2));
  const threads = groups.filter((g) => busiest.has(g));
  const alike = new Set(threads.map((g) => g.label)).size < threads.length;
  const lanes: StripLane[] = threads.map((g) => {
    const label = alike ? `${g.label} ${g.sublabel}`.trim() : g.label;
    return { label, title: `${g.section_label}: ${g.label} ${g.sublabel}`, device: false, groups: [g] };
  });
  const device = by_events(groups.filter(is_device))[0];
  if (device !== undefined) {
    const streams = groups.filter((g) => is_device(g) && g.section === device.section);
    const label = device.section_label.split(' · ')[0] ?? device.section_label;
    lanes.push({ label, title: device.section_label, device: true, groups: streams });
  }
  return lanes;
}

export function strip_height(lanes: number): number {
  return lanes * (kLaneH + kLaneGap) - kLaneGap + kAxisH;
}

export interface Gap {
  readonly start_ns: number;
  readonly end_ns: number;
}

/** The longest time in [start, end] in which no row of the tiles has anything. */
export function longest_gap(tiles: readonly Tile[], range: Limits): Gap | undefined {
  const busy: [number, number][] = [];
  for (const tile of tiles) {
    for (let row = 0; row < tile.rows; row++) {
      const until = tile.row_begin[row + 1] ?? 0;
      for (let n = first_ending_after(tile, row, range.start_ns); n < until; n++) {
        if (slice_start_ns(tile, n) >= range.end_ns) break;
        busy.push([slice_start_ns(tile, n), slice_end_ns(tile, n)]);
      }
    }
  }
  busy.sort((a, b) => a[0] - b[0]);
  busy.push([range.end_ns, range.end_ns]);
  let best: Gap | undefined;
  let last = range.start_ns;
  for (const [start, end] of busy) {
    if (start - last > (best === undefined ? 0 : best.end_ns - best.start_ns)) {
      best = { start_ns: last, end_ns: start };
    }
    last = Math.max(last, end);
  }
  return best;
}

export class StepStrip {
  private readonly surface: Surface;
  private palette: Palette;
  private readonly measure: TextMeasure;
  private readonly labels: LabelCache;
  private width_px = 0;
  private tiles = new Map<number, Tile[]>();
  private range: StripRange | undefined;
  private asked = '';
  /** What stands before the length of the gap that is boxed: which verdict speaks of it. */
  mark_of: (gap: Gap) => string = () => '';

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly lanes: readonly StripLane[],
    private readonly fetch_tiles: FetchTiles,
    private readonly name_of: (id: number) => string | undefined,
  ) {
    this.surface = new Surface(canvas);
    this.palette = read_palette(getComputedStyle(canvas));
    this.measure = measure_in(canvas.ownerDocument, this.palette.font);
    this.labels = new LabelCache(name_of, this.measure);
  }

  resize(width_px: number, dpr: number): void {
    if (width_px < 1) return;
    this.width_px = width_px;
    this.surface.resize(width_px, strip_height(this.lanes.length), dpr);
    this.draw();
  }

  retheme(): void {
    this.palette = read_palette(getComputedStyle(this.canvas));
    this.draw();
  }

  /** Loads the tiles of a range, in one request, and draws them. */
  async show(range: StripRange, signal: AbortSignal): Promise<void> {
    this.range = range;
    if (this.width_px < 1 || this.lanes.length === 0) return;
    const view = this.view(range);
    const k = level_for(view);
    const [first, last] = tiles_in_view(view, k, range.trace);
    const asked = `${k} ${first} ${last}`;
    if (asked === this.asked) {
      this.draw();
      return;
    }
    this.asked = asked;
    const request = { k, first, last, groups: this.lanes.flatMap((lane) => lane.groups.map((g) => g.id)) };
    const tiles = new Map<number, Tile[]>();
    for (const tile of decode_tiles(await this.fetch_tiles(request, signal))) {
      tiles.set(tile.group, [...(tiles.get(tile.group) ?? []), tile]);
    }
    this.tiles = tiles;
    this.draw();
  }

  draw(): void {
    const { range } = this;
    const ctx = this.surface.at(0);
    if (range === undefined || ctx === null || this.width_px < 1) return;
    const view = this.view(range);
    const height = strip_height(this.lanes.length);
    ctx.clearRect(0, 0, this.width_px, height);
    const labels: Label[] = [];
    const batch = new RectBatch(kColours);
    this.lanes.forEach((lane, n) => this.gather(lane, n * (kLaneH + kLaneGap), view, { batch, labels }));
    ctx.fillStyle = this.palette.sunk;
    this.lanes.forEach((_, n) => ctx.fillRect(0, n * (kLaneH + kLaneGap), this.width_px, kLaneH));
    batch.flush(ctx, batch_styles(this.palette));
    this.write(ctx, labels);
    this.box_gap(ctx, view, range);
    this.axis(ctx, range, height - kAxisH);
  }

  private view(range: Limits): Viewport {
    return {
      start_ns: range.start_ns,
      end_ns: Math.max(range.start_ns + 1, range.end_ns),
      width_px: this.width_px,
    };
  }

  private gather(lane: StripLane, y: number, view: Viewport, sink: SliceSink): void {
    const place = { y, h: kLaneH };
    for (const tile of this.tiles_of(lane)) {
      const width = kTileBuckets * 2 ** tile.k;
      const covers: Cover[] = [{ tile, start_ns: tile.left_ns, end_ns: tile.left_ns + width }];
      if (lane.device) {
        for (let row = 0; row < tile.rows; row++) {
          gather_row(covers, view, this.surface.pixel, { ...place, row }, sink);
        }
        continue;
      }
      for (const { first_row, skip } of host_lane_rows(tile, this.is_step)) {
        const left_out = skip === undefined ? {} : { skip: (_: Tile, n: number) => skip(n) };
        gather_row(covers, view, this.surface.pixel, { ...place, row: first_row, ...left_out }, sink);
      }
    }
  }

  private tiles_of(lane: StripLane): Tile[] {
    return lane.groups.flatMap((g) => this.tiles.get(g.id) ?? []);
  }

  private readonly is_step = (name: number): boolean => /^ProfilerStep\b/.test(this.name_of(name) ?? '');

  private write(ctx: PaintContext, labels: readonly Label[]): void {
    ctx.font = `${kLabelFontPx}px ${this.palette.font}`;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    for (const label of labels) {
      const text = this.labels.fit(label.name, label.room);
      if (text === '') continue;
      ctx.fillStyle = this.palette.ink[label.hue] ?? this.palette.text;
      ctx.fillText(text, label.x, label.y + 0.5);
    }
  }

  private box_gap(ctx: PaintContext, view: Viewport, range: StripRange): void {
    const at = this.lanes.findIndex((one) => one.device);
    const lane = this.lanes[at];
    if (lane === undefined) return;
    const gap = longest_gap(this.tiles_of(lane), range);
    if (gap === undefined || gap.end_ns - gap.start_ns < kGapShare * (range.end_ns - range.start_ns)) return;
    const x0 = Math.round(x_of_ns(view, gap.start_ns));
    const w = Math.round(x_of_ns(view, gap.end_ns)) - x0;
    const y = at * (kLaneH + kLaneGap);
    ctx.fillStyle = this.palette.panel;
    ctx.fillRect(x0, y, w, kLaneH);
    ctx.strokeStyle = this.palette.text;
    ctx.lineWidth = 1;
    ctx.strokeRect(x0 + 0.5, y + 0.5, w - 1, kLaneH - 1);
    const long = `${this.mark_of(gap)} idle ${format_duration(gap.end_ns - gap.start_ns)}`.trim();
    if (this.measure.width(long) + 8 > w) return;
    ctx.fillStyle = this.palette.text;
    ctx.fillText(long, x0 + 5, y + kLaneH / 2 + 0.5);
  }

  private axis(ctx: PaintContext, range: Limits, y: number): void {
    const ticks = ticks_for({ start_ns: 0, end_ns: range.end_ns - range.start_ns, width_px: this.width_px });
    ctx.font = `11px ${this.palette.font}`;
    ctx.textBaseline = 'bottom';
    ticks.at_ns.forEach((ns, n) => {
      const x = x_of_ns({ start_ns: 0, end_ns: range.end_ns - range.start_ns, width_px: this.width_px }, ns);
      const text = tick_label(ns, ticks) + (n === 0 ? ` ${ticks.unit}` : '');
      const w = this.measure.width(text);
      if (x + w / 2 > this.width_px) return;
      ctx.fillStyle = this.palette.text_2;
      ctx.fillText(text, n === 0 ? 0 : x - w / 2, y + kAxisH);
    });
  }
}
