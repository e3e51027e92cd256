// The trace view's state and what its acts do: it joins the timeline (which draws) with the API (which
// knows) and the address (which remembers). Components read its fields and call its methods.
import { is_abort, problem_from } from '../../api/client';
import type { Problem, TraceEvent } from '../../api/types';
import { untrack } from 'svelte';
import type { TimeRange } from '../../lib/time_range';
import {
  busy_source,
  counter_source,
  GroupSource,
  step_infos,
  tile_source,
  trace_info,
} from '../../timeline/api_source';
import { kUntouched, type Arrangement } from '../../timeline/arrangement';
import type { Mode } from '../../timeline/gestures';
import { Input, type InputTargets } from '../../timeline/input';
import type { GroupInfo, Layout } from '../../timeline/layout';
import { NameTable } from '../../timeline/names';
import type { Area, Selection } from '../../timeline/scene';
import { Timeline, type Stage } from '../../timeline/timeline';
import { fit_all, fit_to, sees, type Viewport } from '../../timeline/viewport';
import type { UrlState } from '../../lib/url_state';
import type { Go, ViewContext } from '../context';
import { AreaSums } from './area_sums.svelte';
import { arrangement_state, groups_named, read_arrangement, same_arrangement } from './arrangement';
import type { GapDetails } from './gap_details';
import { Picked, type Neighbour, type Reveal } from './picked.svelte';
import { SliceSearch } from './search.svelte';
import { StepPath } from './step_path.svelte';
import { Tour } from './tour.svelte';

function same_range(a: TimeRange | undefined, b: TimeRange | undefined): boolean {
  return a?.t0 === b?.t0 && a?.t1 === b?.t1;
}

const kWriteMs = 250;
/** Figures that change faster than this cannot be read. */
const kFiguresMs = 120;

export class TraceSession {
  view: Viewport = $state.raw({ start_ns: 0, end_ns: 1, width_px: 1 });
  layout: Layout = $state.raw({ bands: [], by_group: new Map(), height: 0 });
  scroll_px = $state(0);
  arrangement: Arrangement = $state.raw(kUntouched);
  /** More tracks are on their way. */
  listing = $state(false);
  area: Area | undefined = $state.raw();
  readonly sums: AreaSums;
  readonly search: SliceSearch;
  readonly picked: Picked;
  readonly path: StepPath;
  readonly tour: Tour;
  mode: Mode = $state('select');
  help = $state(false);
  table = $state(false);
  problem: Problem | undefined = $state.raw();
  stale = $state(false);
  /** Colour families that the trace has, by index. */
  hues: ReadonlySet<number> = $state.raw(new Set());
  /** Counts pictures, a few a second, for the figures beside the tracks. */
  pictures = $state(0);

  /** Counts arrivals of names. */
  named = $state(0);

  readonly names: NameTable;
  timeline: Timeline | undefined = $state.raw();
  input: Input | undefined;
  focus_search: () => void = () => undefined;

  private readonly abort = new AbortController();
  private readonly more_groups: GroupSource;
  private filtering: AbortController | undefined;
  private writing: ReturnType<typeof setTimeout> | undefined;
  private figuring: ReturnType<typeof setTimeout> | undefined;
  /** The address as this view wrote or read it last. */
  private known: Pick<UrlState, 't' | 'sel' | 'area' | 'q' | 'path'> = {
    t: undefined,
    sel: undefined,
    area: undefined,
    q: '',
    path: false,
  };

  constructor(readonly ctx: ViewContext) {
    this.names = new NameTable(
      ctx.api,
      ctx.meta.id,
      ctx.meta.name_count,
      () => {
        this.timeline?.names_came();
        this.named++;
      },
      (cause) => this.fail(cause),
    );
    this.more_groups = new GroupSource(ctx.api, ctx.meta);
    this.table = ctx.state.table;
    this.sums = new AreaSums(ctx, (cause) => this.fail(cause));
    this.search = new SliceSearch(ctx, {
      on_found: () => this.show_hits(),
      on_cleared: () => this.timeline?.set_search(undefined, undefined),
      on_hit: (hit) => this.follow(hit),
      on_error: (cause) => this.fail(cause),
    });
    this.picked = new Picked(ctx, () => this.timeline, this.names.of, {
      on_picked: (id) => this.picked_now(id),
      on_group: (id) => this.know_groups([id]),
      on_error: (cause) => this.fail(cause),
    });
    this.path = new StepPath(ctx, {
      on_pieces: (pieces) => this.timeline?.set_path(pieces),
      on_error: (cause) => this.fail(cause),
    });
    this.tour = new Tour(ctx, {
      on_events: (ids) => this.timeline?.set_marked(ids),
      on_go: (id) => void this.select_event(id, { reveal: true, frame: true }),
      on_error: (cause) => this.fail(cause),
    });
  }

  get selection(): Selection | undefined {
    return this.picked.selection;
  }
  get event(): TraceEvent | undefined {
    return this.picked.event;
  }
  get gap(): GapDetails | undefined {
    return this.picked.gap;
  }
  get run_count(): number {
    return this.picked.run_count;
  }
  get origin(): number {
    return this.ctx.meta.range.start_ns;
  }
  get groups(): readonly GroupInfo[] {
    return this.timeline?.groups ?? [];
  }
  group_of(id: number): GroupInfo | undefined {
    return this.timeline?.group(id);
  }

  start(stage: Stage, targets: InputTargets): void {
    const { api, meta } = this.ctx;
    const timeline = new Timeline(
      stage,
      trace_info(meta, this.step_selected()),
      {
        tiles: tile_source(api, meta),
        counters: counter_source(api, meta),
        busy: busy_source(api, meta),
        name_of: this.names.of,
      },
      {
        on_view: (view) => {
          this.view = view;
          this.write_later();
        },
        on_layout: (layout) => {
          this.layout = layout;
          if (this.timeline !== undefined) this.arrangement = this.timeline.arrangement;
        },
        on_frame: (scroll_px) => {
          if (this.hues.size === 0) this.hues = timeline.hues();
          this.scroll_px = scroll_px;
          this.figures_later();
        },
        on_stale: () => (this.stale = true),
        on_error: (error) => (this.problem = problem_from(error)),
      },
    );
    this.timeline = timeline;
    this.layout = timeline.layout;
    timeline.arrange(read_arrangement(this.ctx.state, timeline.initial_arrangement));
    this.arrangement = timeline.arrangement;
    void this.list_arranged();
    this.input = new Input(timeline, targets, {
      on_click: (hit) => this.picked.click(hit),
      on_double_click: (hit) => {
        this.picked.click(hit);
        if (hit?.type === 'slice' && hit.count === 1) {
          timeline.set_view(fit_to(timeline.view, hit.start_ns, hit.end_ns, 0.15, timeline.limits), true);
        } else this.fit_selection();
      },
      on_area: (area) => this.set_area(area),
    });
    this.restore();
  }

  stop(): void {
    clearTimeout(this.writing);
    clearTimeout(this.figuring);
    this.abort.abort();
    this.filtering?.abort();
    this.names.stop();
    this.picked.stop();
    this.path.stop();
    this.tour.stop();
    this.sums.stop();
    this.search.stop();
    this.input?.destroy();
    this.timeline?.destroy();
  }

  /** An effect: Back, Forward and links change the address; the view follows. */
  follow_address(): void {
    const { t, sel, area, q, path, verdict } = this.ctx.state;
    void [t, sel, area, q, path, verdict];
    untrack(() => this.restore());
  }

  private figures_later(): void {
    this.figuring ??= setTimeout(() => {
      this.figuring = undefined;
      this.pictures++;
    }, kFiguresMs);
  }

  /** Writes to the address what is then no news to `restore`. */
  private write(patch: Partial<UrlState>, how: Go = {}): void {
    this.known = { ...this.known, ...patch };
    this.ctx.go(patch, how);
  }

  /** The view's range goes into the address when the movement pauses. */
  private write_later(): void {
    this.writing ??= setTimeout(() => {
      this.writing = undefined;
      this.write({ t: this.range_text(this.view) });
      this.path.follow(this.view);
    }, kWriteMs);
  }

  restore(): void {
    const { timeline } = this;
    const { t, sel, area, q, path, verdict } = this.ctx.state;
    if (timeline === undefined) return;
    const { known } = this;
    this.known = { t, sel, area, q, path };
    void this.tour.follow(verdict);
    // Only what differs from what this view wrote, or read, last is news.
    if (!same_range(t, known.t)) {
      timeline.set_view(
        t === undefined
          ? fit_all(timeline.limits, timeline.view.width_px)
          : fit_to(timeline.view, t.t0, t.t1, 0, timeline.limits), // an address may say anything
      );
    }
    if (sel !== known.sel) {
      if (sel === undefined) this.clear_selection();
      else {
        // Outside of the trace nothing is shown but a slice that claims to be there.
        const sought = t === undefined || !sees({ start_ns: t.t0, end_ns: t.t1 }, timeline.limits);
        void this.select_event(sel, { reveal: sought, frame: sought && verdict !== undefined });
      }
    }
    if (!same_range(area, known.area)) {
      const groups = timeline.all_ids;
      this.set_area(area === undefined ? undefined : { start_ns: area.t0, end_ns: area.t1, groups });
    }
    if (q !== known.q) {
      if (this.search.typing) this.write({ q: this.search.query });
      else if (this.ctx.is_report !== true) void this.find(q);
    }
    if (path !== known.path) this.path.set(path, timeline.view);
  }

  follow_steps(): void {
    const steps = this.step_selected();
    this.timeline?.set_steps(step_infos(this.ctx.meta, steps));
    untrack(() => {
      this.path.follow(this.view);
      void this.tour.follow(this.ctx.state.verdict);
    });
  }

  show_path(on: boolean): void {
    this.write({ path: on });
    this.path.set(on, this.view);
  }

  set_mode(mode: Mode): void {
    this.mode = mode;
    if (this.input !== undefined) this.input.gestures.mode = mode;
  }

  show_table(on: boolean): void {
    this.table = on;
    this.ctx.go({ table: on });
    if (!on) this.timeline?.redraw();
  }

  arrange(arrangement: Arrangement): void {
    const { timeline } = this;
    if (timeline === undefined) return;
    const filtered = arrangement.filter !== timeline.arrangement.filter;
    timeline.arrange(arrangement);
    this.write(arrangement_state(timeline.arrangement, timeline.initial_arrangement));
    if (filtered) void this.list_matching(arrangement.filter);
  }

  /** The tracks as one finds them. */
  reset_tracks(): void {
    if (this.timeline !== undefined) this.arrange(this.timeline.initial_arrangement);
  }

  get rearranged(): boolean {
    return (
      this.timeline !== undefined && !same_arrangement(this.arrangement, this.timeline.initial_arrangement)
    );
  }

  /** Lists the next of many tracks. */
  async list_more(): Promise<void> {
    if (this.listing) return;
    this.listing = true;
    try {
      this.timeline?.add_groups(await this.more_groups.more(this.abort.signal));
    } catch (cause) {
      this.fail(cause);
    }
    this.listing = false;
  }

  /** Of many tracks those that a filter lets through are listed. */
  private async list_matching(filter: string): Promise<void> {
    this.filtering?.abort();
    const { timeline } = this;
    if (filter === '' || timeline === undefined || !this.unlisted) return;
    const abort = new AbortController();
    this.filtering = abort;
    try {
      const found = await this.more_groups.matching(filter, abort.signal);
      if (!abort.signal.aborted) timeline.add_groups(found);
    } catch (cause) {
      this.fail(cause);
    }
  }

  /** Tracks that are spoken of are listed, whether they are among the busiest or not. */
  private async know_groups(ids: readonly number[]): Promise<void> {
    const { timeline, ctx } = this;
    const wanted = ids.filter((id) => id < ctx.meta.group_count && timeline?.group(id) === undefined);
    if (wanted.length > 0) timeline?.add_groups(await this.more_groups.by_id(wanted, this.abort.signal));
  }

  private async list_arranged(): Promise<void> {
    const { timeline } = this;
    if (timeline === undefined || !this.unlisted) return;
    try {
      const named = groups_named(timeline.arrangement, timeline.initial_arrangement);
      if (named.length > 0) {
        await this.know_groups(named);
        // What was unlisted is folded when it comes; the address has the last word.
        timeline.arrange(read_arrangement(this.ctx.state, timeline.initial_arrangement));
      }
      await this.list_matching(timeline.arrangement.filter);
    } catch (cause) {
      this.fail(cause);
    }
  }

  private get unlisted(): boolean {
    return this.groups.length < this.ctx.meta.group_count;
  }

  show_range(start_ns: number, end_ns: number): void {
    const { timeline } = this;
    timeline?.set_view(fit_to(timeline.view, start_ns, end_ns, 0.02, timeline.limits), true);
  }

  fit_selection(): void {
    const { timeline } = this;
    const target = this.selection ?? this.area;
    if (timeline === undefined || target === undefined) return;
    const pad = this.selection === undefined ? 0.05 : 0.25;
    timeline.set_view(fit_to(timeline.view, target.start_ns, target.end_ns, pad, timeline.limits), true);
  }

  select_event(id: number, how: Reveal): Promise<void> {
    return this.picked.event_by_id(id, how);
  }

  follow(ref: { readonly id: number }): void {
    this.picked.run_count = 1;
    void this.select_event(ref.id, { reveal: true });
  }

  clear_selection(): void {
    this.picked.clear();
  }

  private picked_now(id: number | undefined): void {
    if (id !== undefined) this.tour.selected(id);
    if (this.known.sel !== id) this.write({ sel: id }, { push: true });
  }

  set_area(area: Area | undefined): void {
    this.area = area;
    this.timeline?.set_area(area);
    this.write({ area: area === undefined ? undefined : { t0: area.start_ns, t1: area.end_ns } });
    void this.sums.sum(area);
  }

  async find(query: string): Promise<void> {
    this.write({ q: query });
    await this.search.find(query);
  }

  /** Goes to the hit after, or before, the selection. */
  async step(dir: 'next' | 'prev'): Promise<void> {
    await this.search.step(dir, this.selection?.type === 'event' ? this.selection.id : undefined);
  }

  private show_hits(): void {
    const { result } = this.search;
    this.timeline?.set_search(new Set(result?.names), result?.bins);
  }

  /** Down: into the selection, or to the track below. */
  go_below(): void {
    const hit = this.picked.below();
    if (hit !== undefined) this.follow(hit);
  }

  async go_neighbour(dir: Neighbour): Promise<void> {
    const event = await this.picked.neighbour(dir);
    if (event !== undefined) this.follow(event);
  }

  mark(): void {
    const { selection, timeline } = this;
    if (selection === undefined || timeline === undefined) return;
    const groups = timeline.all_ids;
    this.set_area({ start_ns: selection.start_ns, end_ns: selection.end_ns, groups });
  }

  escape(): void {
    if (this.help) this.help = false;
    else if (this.area !== undefined) this.set_area(undefined);
    else this.clear_selection();
  }

  private step_selected(): (position: number) => boolean {
    const { range } = this.ctx.choice;
    return (position) => position >= range.first && position <= range.last;
  }

  /** What the address says of a view; nothing for the whole trace, which is what one starts with. */
  private range_text(view: Viewport): TimeRange | undefined {
    const whole = fit_all(this.timeline?.limits ?? view, view.width_px);
    if (view.start_ns <= whole.start_ns && view.end_ns >= whole.end_ns) return undefined;
    return { t0: Math.round(view.start_ns), t1: Math.round(view.end_ns) };
  }

  private fail(cause: unknown): void {
    if (!is_abort(cause)) this.problem = problem_from(cause);
  }
}
