// The timeline as one object: view, folding, selection in; pictures out. It owns the canvases and the
// frame loop, draws only when something changed, and asks its sources for what the picture lacks.
// Input comes through `input.ts`, the page around it through `TimelineEvents`.
import { Camera } from './camera';
import { CounterCache, type FetchCounters } from './counter_cache';
import {
  hit_test,
  place_of,
  slice_below,
  slice_in_middle,
  type Hit,
  type HitScene,
  type SliceHit,
} from './hit_test';
import { groups_between, type Folding, type GroupInfo, type Layout } from './layout';
import { busy_in_view } from './minimap';
import type { Move } from './motion';
import type { PathPiece } from './path';
import { Pictures, type Canvases } from './pictures';
import { kHeadH, type StepInfo } from './ruler';
import type { Area, Arrow, Selection } from './scene';
import { TileCache, type FetchTiles } from './tile_cache';
import { level_for, tiles_in_view, type Limits, type Viewport } from './viewport';
import { Tracks } from './tracks';
import { visible_slices, type VisibleSlices } from './visible';
import { WholeTrace, type Lanes } from './whole_trace';

export interface TraceInfo {
  readonly limits: Limits;
  readonly groups: readonly GroupInfo[];
  readonly steps: readonly StepInfo[];
}

export interface Sources {
  readonly tiles: FetchTiles;
  readonly counters: FetchCounters;
  /** A name by its id; undefined while it is not known yet. */
  readonly name_of: (id: number) => string | undefined;
}

export interface TimelineEvents {
  on_view(view: Viewport): void;
  on_layout(layout: Layout): void;
  /** Each frame, with how far the tracks are scrolled. */
  on_frame(scroll_px: number): void;
  on_stale(): void;
  on_error(error: Error): void;
}

export interface Stage extends Canvases {
  /** Scrolls the tracks; its scrollTop is the state. */
  readonly scroller: HTMLElement;
}

/** Tracks just outside the window are loaded too, so that scrolling does not meet empty rows. */
const kScrollAheadPx = 300;

export class Timeline {
  selection: Selection | undefined;
  area: Area | undefined;
  readonly counters: CounterCache;
  readonly cache: TileCache;

  private readonly camera: Camera;
  private readonly tracks: Tracks;
  private readonly pictures: Pictures;
  private readonly whole: WholeTrace;
  private step_infos: readonly StepInfo[];
  private lanes: Lanes | undefined;
  private k: number | undefined;
  private tiles: readonly [number, number] = [0, 0];
  private arrows: readonly Arrow[] = [];
  private found: ReadonlySet<number> | undefined;
  private bins: readonly number[] | undefined;
  private marked: ReadonlySet<number> = new Set();
  private path: readonly PathPiece[] | undefined;
  private pointer: { x: number; y: number } | undefined;
  private hover: Hit | undefined;
  private dragged: Area | undefined;
  private height_px = 0;
  private frame_id = 0;
  private base_dirty = true;
  private shown = true;
  private first_tiles = false;
  private waiters: (() => void)[] = [];
  /** Moves that go on while a key is held; asked once a frame. */
  motion: ((elapsed_ms: number) => Move | undefined) | undefined;
  private last_ms = 0;

  constructor(
    readonly stage: Stage,
    private readonly trace: TraceInfo,
    sources: Sources,
    private readonly events: TimelineEvents,
  ) {
    this.pictures = new Pictures(stage, sources.name_of);
    this.tracks = new Tracks(trace.groups, (layout) => {
      events.on_layout(layout);
      this.redraw();
    });
    this.camera = new Camera(trace.limits, (view) => events.on_view(view));
    this.step_infos = trace.steps;
    this.cache = new TileCache(sources.tiles, {
      on_tiles: () => this.tiles_came(),
      on_stale: () => events.on_stale(),
      on_error: (error) => events.on_error(error),
    });
    this.whole = new WholeTrace(trace.limits, trace.groups, this.cache, sources.name_of);
    this.counters = new CounterCache(
      sources.counters,
      () => this.counters_came(),
      (error) => events.on_error(error),
    );
    this.tracks.relayout();
    this.whole.load();
  }

  get view(): Viewport {
    return this.camera.view;
  }
  get layout(): Layout {
    return this.tracks.layout;
  }
  get limits(): Limits {
    return this.trace.limits;
  }
  get groups(): readonly GroupInfo[] {
    return this.trace.groups;
  }
  get steps(): readonly StepInfo[] {
    return this.step_infos;
  }
  get scroll_px(): number {
    return this.stage.scroller.scrollTop;
  }
  get folds(): Folding {
    return this.tracks.folding;
  }

  destroy(): void {
    this.cache.stop();
    this.counters.stop();
    cancelAnimationFrame(this.frame_id);
    this.shown = false;
    this.settle();
  }

  /** Size of the tracks' canvas; a hidden frame reports 0 and is left alone. */
  resize(width_px: number, height_px: number, dpr: number): void {
    if (width_px < 1 || height_px < 1) return;
    this.pictures.resize(width_px, height_px, dpr);
    this.height_px = height_px;
    this.camera.resize(width_px);
    this.lanes = undefined;
    this.redraw();
  }

  set_shown(shown: boolean): void {
    this.shown = shown;
    if (shown) this.redraw();
    else this.settle();
  }

  /** The theme changed: colours are read anew. */
  retheme(): void {
    this.pictures.retheme();
    this.redraw();
  }

  set_steps(steps: readonly StepInfo[]): void {
    this.step_infos = steps;
    this.redraw();
  }

  /** Names have been loaded: labels and step rows can be told now. */
  names_came(): void {
    this.lanes = undefined;
    this.hide_step_rows();
  }

  set_view(view: Viewport, animate = false): void {
    this.camera.set(view, animate);
    this.redraw();
  }

  /** Where the view is going, while it is on its way. */
  get target(): Viewport {
    return this.camera.target;
  }

  move(move: Move, at_x = this.pointer?.x ?? this.view.width_px / 2): void {
    this.camera.move(move, at_x);
    this.redraw();
  }

  scroll_by(dy: number): void {
    this.stage.scroller.scrollTop += dy;
    this.redraw();
  }

  fold(folding: Partial<Folding>): void {
    this.tracks.fold(folding);
  }

  select(selection: Selection | undefined, arrows: readonly Arrow[] = []): void {
    this.selection = selection;
    this.arrows = arrows;
    this.redraw_overlay();
  }
  set_area(area: Area | undefined): void {
    this.area = area;
    this.redraw_overlay();
  }
  /** A range being dragged, shown in place of the area until it is let go. */
  set_dragged(range: Area | undefined): void {
    this.dragged = range;
    this.redraw_overlay();
  }
  set_search(found: ReadonlySet<number> | undefined, bins: readonly number[] | undefined): void {
    this.found = found;
    this.bins = bins;
    this.redraw();
  }

  /** Points events out, by their ids. */
  set_marked(ids: ReadonlySet<number>): void {
    this.marked = ids;
    this.redraw_overlay();
  }
  /** A chain that stands out, by time; everything else steps back. */
  set_path(path: readonly PathPiece[] | undefined): void {
    this.path = path;
    this.redraw_overlay();
  }

  /** Brings a slice into sight: unfolds its group, scrolls to its row, pans to its time. */
  reveal(s: Selection): void {
    const group = this.groups.find((g) => g.id === s.group);
    if (group === undefined) return;
    this.tracks.open(group, s.row);
    this.scroll_to(s.group, s.row);
    this.camera.reveal(s.start_ns, s.end_ns);
    this.redraw();
  }

  hit(x: number, y: number): Hit | undefined {
    if (this.k === undefined || y < kHeadH) return undefined;
    return hit_test(this.scene(this.k), x, y - kHeadH + this.scroll_px);
  }

  /** The next slice downwards from a selection: inside it, else on the tracks below. */
  below(s: Selection): SliceHit | undefined {
    return this.k === undefined ? undefined : slice_below(this.scene(this.k), s);
  }

  /** Where to start without a selection: a slice of the first open track, at the view's middle. */
  first(): SliceHit | undefined {
    return this.k === undefined ? undefined : slice_in_middle(this.scene(this.k));
  }

  point(pointer: { x: number; y: number } | undefined): void {
    this.pointer = pointer;
    this.hover = pointer === undefined ? undefined : this.hit(pointer.x, pointer.y);
    this.redraw_overlay();
  }

  /** Covered share of a group's time in the view, all its rows together; undefined while loading. */
  busy_share(group: number): number | undefined {
    if (this.k === undefined) return undefined;
    return busy_in_view(this.cache.cover(this.k, ...this.tiles, group), this.view, this.limits);
  }

  /** Colour families of the trace, by index. */
  hues(): Set<number> {
    return this.whole.hues();
  }

  /** The slices in view, as a list. */
  visible(limit: number): VisibleSlices {
    if (this.k === undefined) return { slices: [], more: false };
    return visible_slices(this.cache, this.groups, this.view, this.k, this.tiles, limit);
  }

  redraw(): void {
    this.base_dirty = true;
    this.redraw_overlay();
  }

  /** Resolves when everything asked for is here and drawn. For tests and for the event table. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.waiters.push(resolve);
      this.settle();
    });
  }

  private redraw_overlay(): void {
    if (this.frame_id === 0 && this.shown) {
      this.frame_id = requestAnimationFrame((now) => this.frame(now));
    }
  }

  private frame(now_ms: number): void {
    this.frame_id = 0;
    if (this.height_px < 1) {
      this.settle();
      return;
    }
    this.advance(now_ms);
    const k = level_for(this.view, this.k);
    this.k = k;
    this.tiles = tiles_in_view(this.view, k, this.camera.reach);
    this.want(k);
    // What lies under a resting pointer changes when the view moves below it.
    if (this.base_dirty && this.pointer !== undefined) this.hover = this.hit(this.pointer.x, this.pointer.y);
    if (this.base_dirty) this.paint_base(k);
    this.paint_overlay(k);
    this.base_dirty = false;
    this.events.on_frame(this.scroll_px);
    if (this.camera.flying || this.motion?.(0) !== undefined) this.redraw();
    this.settle();
  }

  private advance(now_ms: number): void {
    const elapsed = now_ms - this.last_ms;
    this.last_ms = now_ms;
    const move = this.motion?.(elapsed);
    if (move !== undefined) this.move(move);
    this.base_dirty = this.camera.advance(now_ms) || this.base_dirty;
  }

  private want(k: number): void {
    const top = this.scroll_px - kScrollAheadPx;
    const groups = groups_between(this.layout, top, this.scroll_px + this.height_px + kScrollAheadPx);
    const [first, last] = this.tiles;
    const end = tiles_in_view({ ...this.camera.reach, width_px: 1 }, k, this.camera.reach)[1];
    if (groups.length > 0) this.cache.want({ k, first, last, groups, end });
    this.counters.want(this.view);
  }

  private scene(k: number): HitScene {
    return {
      viewport: this.view,
      layout: this.layout,
      k,
      tiles: this.tiles,
      cache: this.cache,
      counters: this.counters.data,
    };
  }

  private paint_base(k: number): void {
    this.pictures.paint_tracks({ ...this.scene(k), scroll_px: this.scroll_px }, this.steps);
    this.lanes ??= this.whole.lanes(Math.floor(this.view.width_px));
    if (this.lanes === undefined) return;
    this.pictures.paint_minimap({
      width_px: this.view.width_px,
      limits: this.limits,
      viewport: this.view,
      bins: this.bins,
      ...this.lanes,
    });
    if (!this.first_tiles) performance.mark('first-tiles');
    this.first_tiles = true;
  }

  private paint_overlay(k: number): void {
    this.pictures.paint_overlay({
      ...this.scene(k),
      scroll_px: this.scroll_px,
      pointer: this.pointer,
      hover: this.hover,
      selection: this.selection,
      area: this.dragged ?? this.area,
      arrows: this.arrows,
      found: this.found,
      marked: this.marked,
      path: this.path,
    });
  }

  private tiles_came(): void {
    if (!this.whole.complete) this.lanes = undefined;
    if (this.lanes === undefined) this.hide_step_rows();
    this.redraw();
  }

  private counters_came(): void {
    this.tracks.add_counters([...this.counters.data.values()].map((d) => d.info));
    this.redraw();
  }

  private hide_step_rows(): void {
    this.tracks.hide_rows(this.whole.step_rows());
  }

  private scroll_to(group: number, row: number): void {
    const place = place_of(this.layout, group, row);
    if (place === undefined) return;
    const room = this.height_px - kHeadH;
    const top = this.scroll_px;
    if (place.y < top + 24) this.stage.scroller.scrollTop = Math.max(0, place.y - room / 3);
    else if (place.y + place.h > top + room - 12) {
      this.stage.scroller.scrollTop = place.y + place.h - (room * 2) / 3;
    }
  }

  private settle(): void {
    const busy =
      this.shown && (this.frame_id !== 0 || this.cache.busy || this.counters.busy || this.camera.flying);
    if (busy) return;
    const done = this.waiters;
    this.waiters = [];
    for (const resolve of done) resolve();
  }
}
