// What each command of the keyboard does.
import type { Command } from '../../timeline/commands';
import { fit_all } from '../../timeline/viewport';
import type { TraceSession } from './session.svelte';

/** Share of the window that Page Up and Page Down scroll by. */
const kPage = 0.8;

const kActs: Record<Command, (s: TraceSession) => unknown> = {
  fit_selection: (s) => s.fit_selection(),
  show_all: (s) => {
    const t = s.timeline;
    if (t !== undefined) t.set_view(fit_all(t.limits, t.view.width_px), true);
  },
  mark: (s) => s.mark(),
  next: (s) => s.go_neighbour('next'),
  previous: (s) => s.go_neighbour('prev'),
  next_same: (s) => s.go_neighbour('next_same'),
  previous_same: (s) => s.go_neighbour('prev_same'),
  flow_in: (s) => s.go_neighbour('flow_in'),
  flow_out: (s) => s.go_neighbour('flow_out'),
  parent: (s) => s.go_neighbour('parent'),
  below: (s) => s.go_below(),
  search: (s) => s.focus_search(),
  help: (s) => (s.help = !s.help),
  escape: (s) => s.escape(),
  mode_select: (s) => s.set_mode('select'),
  mode_pan: (s) => s.set_mode('pan'),
  mode_zoom: (s) => s.set_mode('zoom'),
  mode_measure: (s) => s.set_mode('measure'),
  page_up: (s) => s.timeline?.scroll_by(-kPage * s.timeline.stage.scroller.clientHeight),
  page_down: (s) => s.timeline?.scroll_by(kPage * s.timeline.stage.scroller.clientHeight),
  table: (s) => s.show_table(!s.table),
  path: (s) => s.show_path(!s.path.on),
  event_next: (s) => s.tour.go(1),
  event_previous: (s) => s.tour.go(-1),
};

export function act(session: TraceSession, command: Command): void {
  kActs[command](session);
}
