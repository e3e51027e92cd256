// Which tracks there are and how they are arranged: what the layout is made of. Of many tracks only some are listed at
// first; counters come late, since they are known only when their values are.
import { initial_arrangement, type Arrangement } from './arrangement';
import { layout, opened, type CounterInfo, type GroupInfo, type Layout } from './layout';

export class Tracks {
  layout: Layout = { bands: [], by_group: new Map(), height: 0 };
  arrangement: Arrangement;
  /** As one finds it; grows with the groups. */
  initial: Arrangement;
  private counters: readonly CounterInfo[] = [];
  private readonly by_id: Map<number, GroupInfo>;

  constructor(
    public groups: readonly GroupInfo[],
    /** Groups that the trace has, listed or not. */
    readonly group_count: number,
    private readonly on_layout: (layout: Layout) => void,
  ) {
    this.initial = initial_arrangement(groups);
    this.arrangement = this.initial;
    this.by_id = new Map(groups.map((g) => [g.id, g]));
  }

  group(id: number): GroupInfo | undefined {
    return this.by_id.get(id);
  }

  arrange(change: Partial<Arrangement>): void {
    this.arrangement = { ...this.arrangement, ...change };
    this.relayout();
  }

  /** Unfolds what hides a row of a group. */
  open(group: GroupInfo, row: number): void {
    for (;;) {
      const next = opened(this.arrangement, this.layout, group, row);
      if (next === this.arrangement) return;
      this.arrange(next);
    }
  }

  /** Adds groups that are not listed yet, each as one thin line. */
  add_groups(infos: readonly GroupInfo[]): void {
    const fresh = infos.filter((g) => !this.by_id.has(g.id));
    if (fresh.length === 0) return;
    for (const g of fresh) this.by_id.set(g.id, g);
    this.groups = [...this.groups, ...fresh].sort((a, b) => a.id - b.id);
    const fold = (set: ReadonlySet<number>): ReadonlySet<number> =>
      new Set([...set, ...fresh.filter((g) => g.type !== 'device').map((g) => g.id)]);
    this.initial = { ...this.initial, groups: fold(this.initial.groups) };
    this.arrange({ groups: fold(this.arrangement.groups) });
  }

  /** Adds those that are new. */
  add_counters(infos: Iterable<CounterInfo>): void {
    const known = new Set(this.counters.map((c) => c.id));
    const fresh = [...infos].filter((c) => !known.has(c.id));
    if (fresh.length === 0) return;
    this.counters = [...this.counters, ...fresh];
    this.relayout();
  }

  relayout(): void {
    const { groups, counters } = this;
    const unlisted = this.arrangement.filter === '' ? this.group_count - groups.length : 0;
    this.layout = layout({ groups, counters, unlisted }, this.arrangement);
    this.on_layout(this.layout);
  }
}
