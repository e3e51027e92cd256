// What a person did to the tracks: folded, deepened, pinned, hid, moved, filtered. Plain values; the layout
// reads them, the address keeps them.
import type { CounterInfo, GroupInfo } from './layout';

export interface Arrangement {
  /** Sections that are folded. */
  readonly sections: ReadonlySet<string>;
  /** Groups that are one thin line. */
  readonly groups: ReadonlySet<number>;
  /** Groups that show all of their levels, not only the first kMaxLevels. */
  readonly deep: ReadonlySet<number>;
  /** Groups kept above all others. */
  readonly pinned: ReadonlySet<number>;
  /** Tracks that are not shown, by `track_key`. */
  readonly hidden: ReadonlySet<string>;
  /** Groups that stand right before another one of their section, in the order in which they were moved. */
  readonly moved: readonly Move[];
  /** Only tracks whose names hold this are shown. */
  readonly filter: string;
}

/** A group and what it stands before; undefined: it is the last of its section. */
export interface Move {
  readonly group: number;
  readonly before: number | undefined;
}

export const kUntouched: Arrangement = {
  sections: new Set(),
  groups: new Set(),
  deep: new Set(),
  pinned: new Set(),
  hidden: new Set(),
  moved: [],
  filter: '',
};

/** `g4` for a group, `cqueue:0` for a counter. */
export function track_key(track: GroupInfo | CounterInfo): string {
  return typeof track.id === 'number' ? `g${track.id}` : `c${track.id}`;
}

type Sets = Pick<Arrangement, 'sections' | 'groups' | 'deep' | 'pinned' | 'hidden'>;
type ItemOf<S> = S extends ReadonlySet<infer T> ? T : never;

/** The arrangement with one thing turned over: a section, a group, its depth, a pin, a hidden track. */
export function toggled<K extends keyof Sets>(
  arrangement: Arrangement,
  what: K,
  key: ItemOf<Sets[K]>,
): Arrangement {
  const set = new Set<string | number>(arrangement[what]);
  if (!set.delete(key)) set.add(key);
  return { ...arrangement, [what]: set };
}

/** The arrangement with a group moved; what was said of it before no longer counts. */
export function moved(arrangement: Arrangement, group: number, before: number | undefined): Arrangement {
  if (group === before) return arrangement;
  const others = arrangement.moved.filter((move) => move.group !== group);
  return { ...arrangement, moved: [...others, { group, before }] };
}

/** The tracks of one section in the order that the moves give them. */
export function in_order(groups: readonly GroupInfo[], moves: readonly Move[]): readonly GroupInfo[] {
  if (moves.length === 0) return groups;
  const out = [...groups];
  for (const { group, before } of moves) {
    const from = out.findIndex((g) => g.id === group);
    if (from < 0) continue;
    const to = before === undefined ? out.length : out.findIndex((g) => g.id === before);
    if (to < 0) continue;
    const [taken] = out.splice(from, 1);
    if (taken !== undefined) out.splice(from < to ? to - 1 : to, 0, taken);
  }
  return out;
}

/** Whether a track is shown under a filter: its own names or its section's hold the text, in any case. */
export function passes(filter: string, ...names: readonly string[]): boolean {
  if (filter === '') return true;
  const wanted = filter.toLowerCase();
  return names.some((name) => name.toLowerCase().includes(wanted));
}

/** A group of Python frames with less than this share of the largest one's starts folded. */
const kPythonShare = 0.1;

/** With many threads only the busiest start open; the rest, and what is no work, are one thin line each. */
export function initial_arrangement(groups: readonly GroupInfo[], open_hosts = 6): Arrangement {
  const of_type = (type: GroupInfo['type']): GroupInfo[] =>
    groups.filter((g) => g.type === type).sort((a, b) => b.events - a.events);
  const python = of_type('python');
  const most = python[0]?.events ?? 0;
  const folded = [
    ...of_type('host').slice(open_hosts),
    ...python.filter((g, n) => n > 0 && g.events < kPythonShare * most),
    ...of_type('sync'),
    ...of_type('other'),
  ];
  return { ...kUntouched, groups: new Set(folded.map((g) => g.id)) };
}
