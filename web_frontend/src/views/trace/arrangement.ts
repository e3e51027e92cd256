// How the tracks are arranged, as the address spells it, each key only when it says something: `fold` lists what
// differs from what one starts with (`shost:1` a folded section, `t4` a group turned over, `d7` one shown to its
// depth), `pin` and `hide` list tracks, `move` what was put where (`5.2`: 5 before 2; `5.`: 5 last), `filter` is a
// text. Older links list all folded groups (`g4`, or `-` for none); they are still read.
import type { UrlState } from '../../lib/url_state';
import type { Arrangement, Move } from '../../timeline/arrangement';

type Keys = Pick<UrlState, 'fold' | 'pin' | 'hide' | 'move' | 'filter'>;

export function arrangement_state(arrangement: Arrangement, first: Arrangement): Keys {
  const turned = difference(arrangement.groups, first.groups);
  const fold = [
    ...[...arrangement.sections].sort().map((section) => `s${section}`),
    ...ids('t', turned),
    ...ids('d', arrangement.deep),
  ];
  return {
    fold: some(fold),
    pin: some([...arrangement.pinned].map((id) => `${id}`)),
    hide: some([...arrangement.hidden]),
    move: some(arrangement.moved.map(({ group, before }) => `${group}.${before ?? ''}`)),
    filter: arrangement.filter,
  };
}

export function read_arrangement(state: Keys, first: Arrangement): Arrangement {
  const fold = state.fold ?? [];
  const of = (mark: string): string[] =>
    fold.filter((item) => item.startsWith(mark)).map((item) => item.slice(1));
  const absolute = fold.some((item) => item === '-' || item.startsWith('g'));
  return {
    sections: new Set(of('s')),
    groups: absolute ? new Set(numbers(of('g'))) : difference(first.groups, new Set(numbers(of('t')))),
    deep: new Set(numbers(of('d'))),
    pinned: new Set(numbers(state.pin ?? [])),
    hidden: new Set((state.hide ?? []).filter((item) => /^(g\d{1,9}|c.+)$/.test(item))),
    moved: (state.move ?? []).flatMap(read_move),
    filter: state.filter,
  };
}

/** Groups that a reader of the address must have listed. */
export function groups_named(arrangement: Arrangement, first: Arrangement): number[] {
  const moved = arrangement.moved.flatMap(({ group, before }) =>
    before === undefined ? [group] : [group, before],
  );
  const all = [...arrangement.pinned, ...difference(arrangement.groups, first.groups), ...arrangement.deep];
  return [...new Set([...all, ...moved])].sort((a, b) => a - b);
}

export function same_arrangement(a: Arrangement, b: Arrangement): boolean {
  return JSON.stringify(arrangement_state(a, b)) === JSON.stringify(arrangement_state(b, b));
}

function read_move(item: string): Move[] {
  const found = /^(\d{1,9})\.(\d{1,9})?$/.exec(item);
  if (found === null) return [];
  return [{ group: Number(found[1]), before: found[2] === undefined ? undefined : Number(found[2]) }];
}

/** What is in one of both but not in the other. */
function difference(a: ReadonlySet<number>, b: ReadonlySet<number>): Set<number> {
  const out = new Set<number>();
  for (const id of a) if (!b.has(id)) out.add(id);
  for (const id of b) if (!a.has(id)) out.add(id);
  return out;
}

function ids(mark: string, set: ReadonlySet<number>): string[] {
  return [...set].sort((a, b) => a - b).map((id) => `${mark}${id}`);
}

function some(items: readonly string[]): readonly string[] | undefined {
  return items.length === 0 ? undefined : items;
}

function numbers(items: readonly string[]): number[] {
  return items.filter((item) => /^\d{1,9}$/.test(item)).map(Number);
}
