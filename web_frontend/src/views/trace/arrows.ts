// Arrows of the selected event only: its launch, the work it launched, its flows.
import type { EventRef, TraceEvent } from '../../api/types';
import type { Arrow } from '../../timeline/scene';
import { queued } from './details';

/** More arrows than this are a tangle, not an answer. */
const kMostArrows = 24;

/** `origin_ns`: the trace's start, from which the timeline counts. */
export function arrows_of(event: TraceEvent, origin_ns: number): Arrow[] {
  const arrows: Arrow[] = [];
  const drawn = new Set<string>();
  const add = (from: EventRef, to: EventRef, text: string): void => {
    const key = `${from.id} ${to.id}`;
    if (from.id === to.id || drawn.has(key) || arrows.length >= kMostArrows) return;
    drawn.add(key);
    const middle = from.start_ns - origin_ns + from.dur_ns / 2;
    arrows.push({
      from: { group: from.group, row: from.row, ns: middle },
      to: { group: to.group, row: to.row, ns: to.start_ns - origin_ns },
      text,
    });
  };
  if (event.launch !== undefined) add(event.launch, event, queued(event.launch, event));
  if (event.kind === 'runtime') {
    const single = event.launched.length === 1;
    for (const work of event.launched) add(event, work, single ? queued(event, work) : '');
  }
  for (const flow of event.flows) {
    const text = flow.type === 'launch' ? '' : flow.type;
    if (flow.direction === 'in') add(flow.event, event, text);
    else add(event, flow.event, text);
  }
  return arrows;
}
