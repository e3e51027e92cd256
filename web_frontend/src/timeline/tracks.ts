// Which tracks there are and how they are folded: what the layout is made of. Counters come late, since they are known
// only when their values are; rows that the step band shows already are hidden when their names are known.
import {
  initial_folding,
  layout,
  opened,
  type CounterInfo,
  type Folding,
  type GroupInfo,
  type Layout,
} from './layout';

export class Tracks {
  layout: Layout = { bands: [], height: 0 };
  folding: Folding;
  private counters: readonly CounterInfo[] = [];
  private hidden_rows: ReadonlyMap<number, number> = new Map();

  constructor(
    readonly groups: readonly GroupInfo[],
    private readonly on_layout: (layout: Layout) => void,
  ) {
    this.folding = initial_folding(groups);
  }

  fold(folding: Partial<Folding>): void {
    this.folding = { ...this.folding, ...folding };
    this.relayout();
  }

  /** Unfolds what hides a row of a group. */
  open(group: GroupInfo, row: number): void {
    const folding = opened(this.folding, this.layout, group, row);
    if (folding !== this.folding) this.fold(folding);
  }

  /** Adds those that are new. */
  add_counters(infos: Iterable<CounterInfo>): void {
    const known = new Set(this.counters.map((c) => c.id));
    const fresh = [...infos].filter((c) => !known.has(c.id));
    if (fresh.length === 0) return;
    this.counters = [...this.counters, ...fresh];
    this.relayout();
  }

  hide_rows(of_groups: ReadonlyMap<number, number>): void {
    this.hidden_rows = of_groups;
    this.relayout();
  }

  relayout(): void {
    const hidden = (group: number): number => this.hidden_rows.get(group) ?? 0;
    this.layout = layout(this.groups, this.counters, this.folding, hidden);
    this.on_layout(this.layout);
  }
}
