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
import type { Arrangement } from './arrangement';
import { bands_between, groups_between, type GroupInfo, type Layout } from './layout';
import { busy_in_view } from './minimap';
import type { Move } from './motion';
import type { PathPiece } from './path';
import { Pictures, type Canvases } from './pictures';
import { kHeadH, type StepInfo } from './ruler';
import type { Area, Arrow, Selection } from './scene';
import { TileCache, type FetchTiles } from './tile_cache';
import { level_for, level_of_whole, tiles_in_view, type Limits, type Viewport } from './viewport';
import { Tracks } from './tracks';
import { visible_slices, type VisibleSlices } from './visible';
import { WholeTrace, type FetchBusy, type Lanes } from './whole_trace';

export interface TraceInfo {
  readonly limits: Limits;
  /** Those to begin with: of many tracks only the busiest. */
  readonly groups: readonly GroupInfo[];
  /** That there are; their ids are below this. */
  readonly group_count: number;
  readonly steps: readonly StepInfo[];
}

export interface Sources {
  readonly tiles: FetchTiles;
  readonly counters: FetchCounters;
  readonly busy: FetchBusy;
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
/** Frames within which the page takes up a layout. */
const kScrollTries = 10;

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
  /** What the next frame scrolls to. */
  private sought: { readonly group: number; readonly row: number } | undefined;
  /** A track that stays where it was in the window, whatever was listed above it. */
  private kept: { readonly group: number; readonly from_top_px: number } | undefined;
  private scroll_tries = 0;
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
    this.tracks = new Tracks(trace.groups, trace.group_count, (layout) => {
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
    this.cache.pin_level(level_of_whole(trace.limits.end_ns - trace.limits.start_ns));
    this.whole = new WholeTrace(
      sources.busy,
      () => this.busy_came(),
      (error) => events.on_error(error),
    );
    this.counters = new CounterCache(
      sources.counters,
      () => this.counters_came(),
      (error) => events.on_error(error),
    );
    this.tracks.relayout();
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
  /** Those that are listed. */
  get groups(): readonly GroupInfo[] {
    return this.tracks.groups;
  }
  group(id: number): GroupInfo | undefined {
    return this.tracks.group(id);
  }
  /** Of every group that the trace has, listed or not. */
  get all_ids(): readonly number[] {
    return Array.from({ length: this.trace.group_count }, (_, id) => id);
  }
  get steps(): readonly StepInfo[] {
    return this.step_infos;
  }
  get scroll_px(): number {
    return this.stage.scroller.scrollTop;
  }
  get arrangement(): Arrangement {
    return this.tracks.arrangement;
  }
  /** As one finds it. */
  get initial_arrangement(): Arrangement {
    return this.tracks.initial;
  }

  destroy(): void {
    this.cache.stop();
    this.counters.stop();
    this.whole.stop();
    cancelAnimationFrame(this.frame_id);
    this.shown = false;
    this.settle();
  }

  /** Size of the tracks' canvas; a hidden frame reports 0 and is left alone. */
  resize(width_px: number, height_px: number, dpr: number): void {
    if (width_px < 1 || height_px < 1) return;
    // What is selected stays in sight when the drawer that tells of it takes its place.
    if (height_px < this.height_px && this.sees_selection()) this.sought = this.selection;
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

  /** Names have been loaded: labels can be written now. */
  names_came(): void {
    this.redraw();
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

  arrange(change: Partial<Arrangement>): void {
    this.tracks.arrange(change);
  }
  /** Lists more groups; what is looked at stays where it is. */
  add_groups(groups: readonly GroupInfo[]): void {
    const seen = bands_between(this.layout, this.scroll_px, this.scroll_px + this.height_px);
    const shown = seen.filter((band) => band.type === 'group');
    const top = shown.find((band) => band.group.id === this.selection?.group) ?? shown[0];
    this.tracks.add_groups(groups);
    if (top === undefined || this.scroll_px === 0) return;
    this.kept = { group: top.group.id, from_top_px: top.y - this.scroll_px };
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
    const group = this.group(s.group);
    if (group === undefined) return;
    this.tracks.open(group, s.row);
    // The page has room for what was unfolded only when it has taken up the layout.
    this.sought = s;
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
    this.scroll_as_told();
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
    if (!this.first_tiles && this.cache.bytes > 0) {
      performance.mark('first-tiles');
      this.first_tiles = true;
    }
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
    this.redraw();
  }

  private busy_came(): void {
    this.lanes = undefined;
    this.redraw();
  }

  private counters_came(): void {
    this.tracks.add_counters([...this.counters.data.values()].map((d) => d.info));
    this.redraw();
  }

  private sees_selection(): boolean {
    const { selection: s, scroll_px: top } = this;
    const place = s === undefined ? undefined : place_of(this.layout, s.group, s.row);
    return place !== undefined && place.y >= top && place.y + place.h <= top + this.height_px - kHeadH;
  }

  /** To where a track is kept, or sought; tried again while the page has no room for it yet. */
  private scroll_as_told(): void {
    const { kept, sought } = this;
    if (kept === undefined && sought === undefined) return;
    const band = kept === undefined ? undefined : this.layout.by_group.get(kept.group);
    let there = true;
    if (kept !== undefined && band !== undefined) there = this.scroll_top(band.y - kept.from_top_px);
    if (sought !== undefined) there = this.scroll_to(sought.group, sought.row) && there;
    if (there || ++this.scroll_tries > kScrollTries) {
      this.kept = this.sought = undefined;
      this.scroll_tries = 0;
    } else {
      this.redraw();
    }
  }

  /** Whether the row is in sight now. */
  private scroll_to(group: number, row: number): boolean {
    const place = place_of(this.layout, group, row);
    if (place === undefined) return true;
    const room = this.height_px - kHeadH;
    const top = this.scroll_px;
    if (place.y < top + 24) return this.scroll_top(place.y - room / 3);
    if (place.y + place.h > top + room - 12) return this.scroll_top(place.y + place.h - (room * 2) / 3);
    return true;
  }

  private scroll_top(wanted_px: number): boolean {
    const { scroller } = this.stage;
    const most = Math.max(0, this.layout.height + kHeadH - this.height_px);
    const to = Math.min(most, Math.max(0, wanted_px));
    scroller.scrollTop = to;
    return Math.abs(scroller.scrollTop - to) < 2;
  }

  private settle(): void {
    const busy =
      this.shown &&
      (this.frame_id !== 0 ||
        this.cache.busy ||
        this.counters.busy ||
        this.whole.loading ||
        this.camera.flying);
    if (busy) return;
    const done = this.waiters;
    this.waiters = [];
    for (const resolve of done) resolve();
  }
}
