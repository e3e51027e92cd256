// What is selected in the trace view: a slice or a gap, shown at once as the tile has it and then exactly, as the API does.
import type { TraceEvent } from '../../api/types';
import type { Hit } from '../../timeline/hit_test';
import type { GroupInfo } from '../../timeline/layout';
import type { Selection } from '../../timeline/scene';
import { format_duration } from '../../timeline/ticks';
import type { Timeline } from '../../timeline/timeline';
import { fit_to } from '../../timeline/viewport';
import type { ViewContext } from '../context';
import { arrows_of } from './arrows';
import { spoken } from './details';
import { find_gap, type GapDetails } from './gap_details';

export interface PickedEvents {
  /** Another slice is selected, or none. */
  on_picked(id: number | undefined): void;
  /** A group is about to be spoken of. */
  on_group(id: number): Promise<void>;
  on_error(cause: unknown): void;
}

/** Of a row, of a name, along the calls, along an arrow. */
export type Neighbour = 'next' | 'prev' | 'next_same' | 'prev_same' | 'parent' | 'flow_in' | 'flow_out';

export interface Reveal {
  /** Brings it into sight. */
  readonly reveal: boolean;
  /** And as large as can be looked at with what stands around it. */
  readonly frame?: boolean;
}

/** Of the view that frames a slice: its length, and at least this share of the step or this much. */
const kFrame = 2.5;
const kFrameShare = 0.05;
const kFrameNs = 2e6;

export class Picked {
  selection: Selection | undefined = $state.raw();
  event: TraceEvent | undefined = $state.raw();
  gap: GapDetails | undefined = $state.raw();
  /** A folded run was clicked: how many slices it stands for. */
  run_count = $state(1);
  private asking: AbortController | undefined;
  private stopped = false;

  constructor(
    private readonly ctx: ViewContext,
    private readonly timeline: () => Timeline | undefined,
    private readonly name_of: (id: number) => string | undefined,
    private readonly events: PickedEvents,
  ) {}

  /** Nothing is asked or told after this: the address is that of another trace. */
  stop(): void {
    this.stopped = true;
    this.asking?.abort();
  }

  /** An event by its id, from anywhere: a link, the address, a table. */
  async event_by_id(id: number, how: Reveal): Promise<void> {
    const abort = this.begin();
    try {
      const event = await this.ctx.api.get('/api/traces/{id}/events/{event}', {
        path: { id: this.ctx.meta.id, event: id },
        signal: abort.signal,
      });
      await this.events.on_group(event.group);
      if (abort.signal.aborted) return;
      this.show(event);
      this.events.on_picked(id);
      if (how.reveal && this.selection !== undefined) this.timeline()?.reveal(this.selection);
      if (how.frame === true) this.frame();
      this.ctx.announce(spoken(event));
    } catch (cause) {
      if (!abort.signal.aborted) this.events.on_error(cause);
    }
  }

  clear(): void {
    this.asking?.abort();
    this.selection = undefined;
    this.event = undefined;
    this.gap = undefined;
    this.timeline()?.select(undefined);
    this.events.on_picked(undefined);
  }

  click(hit: Hit | undefined): void {
    if (hit?.type === 'counter') return;
    if (hit === undefined) {
      this.clear();
      return;
    }
    if (hit.type === 'gap') {
      void this.gap_at(hit.group, hit.row, hit.at_ns);
      return;
    }
    this.run_count = hit.count;
    // Shown at once from the tile; the exact event follows.
    this.gap = undefined;
    this.selection = {
      type: 'event',
      id: hit.id,
      name: this.name_of(hit.name) ?? '',
      kind: '',
      group: hit.group.id,
      row: hit.row,
      start_ns: hit.start_ns,
      end_ns: hit.end_ns,
    };
    this.timeline()?.select(this.selection);
    void this.event_by_id(hit.id, { reveal: false });
  }

  /** Down: into the selection, or to the track below; without one, where to start. */
  below(): { readonly id: number } | undefined {
    const timeline = this.timeline();
    return this.selection === undefined ? timeline?.first() : timeline?.below(this.selection);
  }

  async neighbour(dir: Neighbour): Promise<{ readonly id: number } | undefined> {
    if (this.selection?.type !== 'event') return this.timeline()?.first();
    const abort = this.begin();
    try {
      const { event } = await this.ctx.api.get('/api/traces/{id}/events/{event}/neighbour', {
        path: { id: this.ctx.meta.id, event: this.selection.id },
        query: { dir },
        signal: abort.signal,
      });
      if (abort.signal.aborted) return undefined;
      if (event !== null) return event;
      this.ctx.announce('nothing there');
    } catch (cause) {
      if (!abort.signal.aborted) this.events.on_error(cause);
    }
    return undefined;
  }

  private begin(): AbortController {
    this.asking?.abort();
    const abort = new AbortController();
    if (this.stopped) abort.abort();
    this.asking = abort;
    return abort;
  }

  private show(event: TraceEvent): void {
    const origin = this.ctx.meta.range.start_ns;
    const start_ns = event.start_ns - origin;
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
    this.timeline()?.select(this.selection, arrows_of(event, origin));
  }

  private frame(): void {
    const timeline = this.timeline();
    const { selection: s } = this;
    if (timeline === undefined || s === undefined) return;
    const step = timeline.steps.find((one) => s.start_ns < one.end_ns && s.end_ns > one.start_ns);
    const length = step === undefined ? kFrameNs : step.end_ns - step.start_ns;
    const span = Math.max(kFrame * (s.end_ns - s.start_ns), Math.min(kFrameShare * length, kFrameNs));
    const middle = (s.start_ns + s.end_ns) / 2;
    timeline.set_view(fit_to(timeline.view, middle - span / 2, middle + span / 2, 0, timeline.limits), true);
  }

  private async gap_at(group: GroupInfo, row: number, at_ns: number): Promise<void> {
    const timeline = this.timeline();
    if (timeline === undefined) return;
    const abort = this.begin();
    try {
      const gap = await find_gap(this.ctx, timeline, group, row, at_ns, abort.signal);
      if (abort.signal.aborted) return;
      this.event = undefined;
      this.gap = gap;
      this.selection = { type: 'gap', group: group.id, row, start_ns: gap.start_ns, end_ns: gap.end_ns };
      timeline.select(this.selection);
      this.events.on_picked(undefined);
      this.ctx.announce(`${group.label} idle for ${format_duration(gap.end_ns - gap.start_ns)}`);
    } catch (cause) {
      if (!abort.signal.aborted) this.events.on_error(cause);
    }
  }
}
