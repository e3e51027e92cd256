// The trace view's state and what its acts do: it joins the timeline (which draws) with the API (which
// knows) and the address (which remembers). Components read its fields and call its methods.
import { is_abort, problem_from } from '../../api/client';
import type { Problem, TraceEvent } from '../../api/types';
import { untrack } from 'svelte';
import type { TimeRange } from '../../lib/time_range';
import { counter_source, NameTable, step_infos, tile_source, trace_info } from '../../timeline/api_source';
import type { Mode } from '../../timeline/gestures';
import type { Hit } from '../../timeline/hit_test';
import { Input, type InputTargets } from '../../timeline/input';
import { kNothingFolded, type Folding, type GroupInfo, type Layout } from '../../timeline/layout';
import type { Area, Selection } from '../../timeline/scene';
import { format_duration } from '../../timeline/ticks';
import { Timeline, type Stage } from '../../timeline/timeline';
import { fit_all, fit_to, sees, type Viewport } from '../../timeline/viewport';
import type { UrlState } from '../../lib/url_state';
import type { Go, ViewContext } from '../context';
import { AreaSums } from './area_sums.svelte';
import { folding_state, read_folding } from './folding';
import { arrows_of } from './arrows';
import { spoken } from './details';
import { SliceSearch } from './search.svelte';
import { find_gap, type GapDetails } from './gap_details';

function same_range(a: TimeRange | undefined, b: TimeRange | undefined): boolean {
  return a?.t0 === b?.t0 && a?.t1 === b?.t1;
}

const kWriteMs = 250;
/** Figures that change faster than this cannot be read. */
const kFiguresMs = 120;

export class TraceSession {
  view: Viewport = $state.raw({ start_ns: 0, end_ns: 1, width_px: 1 });
  layout: Layout = $state.raw({ bands: [], height: 0 });
  scroll_px = $state(0);
  folding: Folding = $state.raw(kNothingFolded);
  selection: Selection | undefined = $state.raw();
  event: TraceEvent | undefined = $state.raw();
  gap: GapDetails | undefined = $state.raw();
  /** A folded run was clicked: how many slices it stands for. */
  run_count = $state(1);
  area: Area | undefined = $state.raw();
  readonly sums: AreaSums;
  readonly search: SliceSearch;
  mode: Mode = $state('select');
  help = $state(false);
  table = $state(false);
  problem: Problem | undefined = $state.raw();
  stale = $state(false);
  /** Colour families that the trace has, by index. */
  hues: ReadonlySet<number> = $state.raw(new Set());
  /** Counts pictures, a few a second, for the figures beside the tracks. */
  pictures = $state(0);

  readonly names: NameTable;
  timeline: Timeline | undefined = $state.raw();
  input: Input | undefined;
  focus_search: () => void = () => undefined;

  private readonly abort = new AbortController();
  private first_folding: Folding = kNothingFolded;
  private writing: ReturnType<typeof setTimeout> | undefined;
  private figuring: ReturnType<typeof setTimeout> | undefined;
  /** The address as this view wrote or read it last. */
  private known: Pick<UrlState, 't' | 'sel' | 'area' | 'q'> = {
    t: undefined,
    sel: undefined,
    area: undefined,
    q: '',
  };
  private selecting: AbortController | undefined;

  constructor(readonly ctx: ViewContext) {
    this.names = new NameTable(ctx.api, ctx.meta.id);
    this.table = ctx.state.table;
    this.sums = new AreaSums(ctx, (cause) => this.fail(cause));
    this.search = new SliceSearch(ctx, {
      on_found: () => this.show_hits(),
      on_cleared: () => this.timeline?.set_search(undefined, undefined),
      on_hit: (hit) => this.follow(hit),
      on_error: (cause) => this.fail(cause),
    });
  }

  get origin(): number {
    return this.ctx.meta.range.start_ns;
  }
  get groups(): readonly GroupInfo[] {
    return this.timeline?.groups ?? [];
  }
  group_of(id: number): GroupInfo | undefined {
    return this.groups.find((g) => g.id === id);
  }

  start(stage: Stage, targets: InputTargets): void {
    const { api, meta } = this.ctx;
    const timeline = new Timeline(
      stage,
      trace_info(meta, this.step_selected()),
      { tiles: tile_source(api, meta), counters: counter_source(api, meta), name_of: this.names.of },
      {
        on_view: (view) => {
          this.view = view;
          this.write_later();
        },
        on_layout: (layout) => {
          this.layout = layout;
          if (this.timeline !== undefined) this.folding = this.timeline.folds;
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
    this.first_folding = timeline.folds;
    const folding = read_folding(this.ctx.state, timeline.folds);
    if (folding !== timeline.folds) timeline.fold(folding);
    this.folding = timeline.folds;
    this.input = new Input(timeline, targets, {
      on_click: (hit) => this.click(hit),
      on_double_click: (hit) => {
        this.click(hit);
        if (hit?.type === 'slice' && hit.count === 1) {
          timeline.set_view(fit_to(timeline.view, hit.start_ns, hit.end_ns, 0.15, timeline.limits), true);
        } else this.fit_selection();
      },
      on_area: (area) => this.set_area(area),
    });
    this.names.load(this.abort.signal).then(
      () => {
        timeline.names_came();
        if (this.search.query !== '') this.show_hits();
      },
      (cause: unknown) => this.fail(cause),
    );
    this.restore();
  }

  stop(): void {
    clearTimeout(this.writing);
    clearTimeout(this.figuring);
    this.abort.abort();
    this.selecting?.abort();
    this.sums.stop();
    this.search.stop();
    this.input?.destroy();
    this.timeline?.destroy();
  }

  /** An effect: Back, Forward and links change the address; the view follows. */
  follow_address(): void {
    const { t, sel, area, q } = this.ctx.state;
    void [t, sel, area, q];
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
    }, kWriteMs);
  }

  restore(): void {
    const { timeline } = this;
    const { t, sel, area, q } = this.ctx.state;
    if (timeline === undefined) return;
    const { known } = this;
    this.known = { t, sel, area, q };
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
        void this.select_event(sel, { reveal: sought });
      }
    }
    if (!same_range(area, known.area)) {
      const groups = timeline.groups.map((g) => g.id);
      this.set_area(area === undefined ? undefined : { start_ns: area.t0, end_ns: area.t1, groups });
    }
    if (q !== known.q) void this.find(q);
  }

  follow_steps(): void {
    const steps = this.step_selected();
    this.timeline?.set_steps(step_infos(this.ctx.meta, steps));
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

  fold(folding: Folding): void {
    this.timeline?.fold(folding);
    this.write(folding_state(folding, this.first_folding));
  }

  fit_selection(): void {
    const { timeline } = this;
    const target = this.selection ?? this.area;
    if (timeline === undefined || target === undefined) return;
    const pad = this.selection === undefined ? 0.05 : 0.25;
    timeline.set_view(fit_to(timeline.view, target.start_ns, target.end_ns, pad, timeline.limits), true);
  }

  /** An event by its id, from anywhere: a link, the address, a table. */
  async select_event(id: number, how: { reveal: boolean }): Promise<void> {
    this.selecting?.abort();
    const abort = new AbortController();
    this.selecting = abort;
    try {
      const event = await this.ctx.api.get('/api/traces/{id}/events/{event}', {
        path: { id: this.ctx.meta.id, event: id },
        signal: abort.signal,
      });
      if (abort.signal.aborted) return;
      this.show_event(event);
      if (this.known.sel !== id) this.write({ sel: id }, { push: true });
      if (how.reveal && this.selection !== undefined) this.timeline?.reveal(this.selection);
      this.ctx.announce(spoken(event));
    } catch (cause) {
      this.fail(cause);
    }
  }

  follow(ref: { readonly id: number }): void {
    this.run_count = 1;
    void this.select_event(ref.id, { reveal: true });
  }

  clear_selection(): void {
    this.selecting?.abort();
    this.selection = undefined;
    this.event = undefined;
    this.gap = undefined;
    this.timeline?.select(undefined);
    if (this.known.sel !== undefined) this.write({ sel: undefined }, { push: true });
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
    this.timeline?.set_search(this.names.matching(this.search.query), this.search.result?.bins);
  }

  private click(hit: Hit | undefined): void {
    if (hit?.type === 'counter') return;
    if (hit === undefined) {
      this.clear_selection();
      return;
    }
    if (hit.type === 'gap') {
      void this.select_gap(hit.group, hit.row, hit.at_ns);
      return;
    }
    this.run_count = hit.count;
    // Shown at once from the tile; the exact event follows.
    this.gap = undefined;
    this.selection = {
      type: 'event',
      id: hit.id,
      name: this.names.of(hit.name) ?? '',
      kind: '',
      group: hit.group.id,
      row: hit.row,
      start_ns: hit.start_ns,
      end_ns: hit.end_ns,
    };
    this.timeline?.select(this.selection);
    void this.select_event(hit.id, { reveal: false });
  }

  private show_event(event: TraceEvent): void {
    const start_ns = event.start_ns - this.origin;
    this.selection = {
      type: 'event',
      id: event.id,
      name: event.name,
      kind: event.kind,
      group: event.group,
      row: event.row,
      start_ns,
      end_ns: start_ns + event.dur_ns,
    };
    this.event = event;
    this.gap = undefined;
    this.timeline?.select(this.selection, arrows_of(event, this.origin));
  }

  private async select_gap(group: GroupInfo, row: number, at_ns: number): Promise<void> {
    const { timeline } = this;
    if (timeline === undefined) return;
    this.selecting?.abort();
    const abort = new AbortController();
    this.selecting = abort;
    try {
      const gap = await find_gap(this.ctx, timeline, group, row, at_ns, abort.signal);
      if (abort.signal.aborted) return;
      this.event = undefined;
      this.gap = gap;
      this.selection = { type: 'gap', group: group.id, row, start_ns: gap.start_ns, end_ns: gap.end_ns };
      timeline.select(this.selection);
      if (this.known.sel !== undefined) this.write({ sel: undefined }, { push: true });
      this.ctx.announce(`${group.label} idle for ${format_duration(gap.end_ns - gap.start_ns)}`);
    } catch (cause) {
      this.fail(cause);
    }
  }

  /** Down: into the selection, or to the track below. */
  go_below(): void {
    const hit = this.selection === undefined ? this.timeline?.first() : this.timeline?.below(this.selection);
    if (hit !== undefined) this.follow(hit);
  }

  async go_neighbour(dir: 'next' | 'prev' | 'parent' | 'flow_in' | 'flow_out'): Promise<void> {
    if (this.selection?.type !== 'event') {
      const hit = this.timeline?.first();
      if (hit !== undefined) this.follow(hit);
      return;
    }
    try {
      const { event } = await this.ctx.api.get('/api/traces/{id}/events/{event}/neighbour', {
        path: { id: this.ctx.meta.id, event: this.selection.id },
        query: { dir },
        signal: this.abort.signal,
      });
      if (event === null) this.ctx.announce('nothing there');
      else this.follow(event);
    } catch (cause) {
      this.fail(cause);
    }
  }

  mark(): void {
    const { selection, timeline } = this;
    if (selection === undefined || timeline === undefined) return;
    const groups = timeline.groups.map((g) => g.id);
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
