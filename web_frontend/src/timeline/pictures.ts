// The three canvases and what draws on them. `Timeline` says what there is to see; nothing here decides.
import type { CounterData } from './counter_painter';
import type { HitScene } from './hit_test';
import { LabelCache, measure_in, type TextMeasure } from './labels';
import { kMinimapH, paint_minimap, type MinimapFrame } from './minimap';
import { paint_overlay, type OverlayFrame } from './overlay';
import { TrackPainter } from './painter';
import { read_palette, type Palette } from './palette';
import { kHeadH, paint_ruler, paint_steps, type StepInfo } from './ruler';
import { Surface } from './surface';
import { ticks_for } from './ticks';

export interface Canvases {
  readonly base: HTMLCanvasElement;
  readonly overlay: HTMLCanvasElement;
  readonly minimap: HTMLCanvasElement;
}

/** What a picture of the tracks shows. */
export interface TrackScene extends HitScene {
  readonly scroll_px: number;
  readonly counters: ReadonlyMap<string, CounterData>;
}

type Own = 'palette' | 'measure' | 'name_of' | 'height_px';

export class Pictures {
  private readonly base: Surface;
  private readonly overlay: Surface;
  private readonly minimap: Surface;
  private readonly painter = new TrackPainter();
  private readonly measure: TextMeasure;
  private readonly labels: LabelCache;
  private palette: Palette;
  private height_px = 0;

  constructor(
    private readonly canvases: Canvases,
    private readonly name_of: (id: number) => string | undefined,
  ) {
    this.base = new Surface(canvases.base);
    this.overlay = new Surface(canvases.overlay);
    this.minimap = new Surface(canvases.minimap);
    this.palette = read_palette(getComputedStyle(canvases.base));
    this.measure = measure_in(canvases.base.ownerDocument, this.palette.font);
    this.labels = new LabelCache(name_of, this.measure);
  }

  resize(width_px: number, height_px: number, dpr: number): void {
    this.height_px = height_px;
    this.base.resize(width_px, height_px, dpr);
    this.overlay.resize(width_px, height_px, dpr);
    this.minimap.resize(width_px, kMinimapH, dpr);
  }

  retheme(): void {
    this.palette = read_palette(getComputedStyle(this.canvases.base));
  }

  paint_tracks(scene: TrackScene, steps: readonly StepInfo[]): void {
    const ctx = this.base.at(kHeadH);
    if (ctx === null) return;
    const ticks = ticks_for(scene.viewport);
    this.painter.paint(ctx, {
      ...scene,
      height_px: this.height_px - kHeadH,
      pixel: this.base.pixel,
      labels: this.labels,
      palette: this.palette,
      ticks,
    });
    // The head is drawn over the rows that are scrolled below it.
    this.base.at(0);
    paint_ruler(ctx, scene.viewport, ticks, this.palette, this.measure);
    paint_steps(ctx, scene.viewport, steps, this.palette, this.measure);
  }

  paint_minimap(frame: Omit<MinimapFrame, 'palette'>): void {
    const ctx = this.minimap.at(0);
    if (ctx !== null) paint_minimap(ctx, { ...frame, palette: this.palette });
  }

  paint_overlay(frame: Omit<OverlayFrame, Own>): void {
    const ctx = this.overlay.at(0);
    if (ctx === null) return;
    const { palette, measure, name_of, height_px } = this;
    paint_overlay(ctx, { ...frame, palette, measure, name_of, height_px });
  }
}
