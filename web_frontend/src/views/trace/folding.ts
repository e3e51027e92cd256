// Which tracks are folded, unfolded and pinned, as the address spells it: `fold=shost:1,g4,d7` lists what
// is folded (sections, groups) and deep, when that is not what one starts with; `pin=3,8` the pinned.
import type { UrlState } from '../../lib/url_state';
import type { Folding } from '../../timeline/layout';

export function folding_state(folding: Folding, first: Folding): Pick<UrlState, 'fold' | 'pin'> {
  const text = fold_items(folding);
  const same = text.join() === fold_items(first).join();
  const pin = [...folding.pinned].map((id) => id.toString());
  // An empty list would read as "not said"; a lone `-` says that nothing is folded.
  const said = text.length === 0 ? ['-'] : text;
  return { fold: same ? undefined : said, pin: pin.length === 0 ? undefined : pin };
}

export function read_folding(state: Pick<UrlState, 'fold' | 'pin'>, first: Folding): Folding {
  if (state.fold === undefined && state.pin === undefined) return first;
  const pinned = new Set(numbers(state.pin ?? []));
  if (state.fold === undefined) return { ...first, pinned };
  const of = (mark: string): string[] =>
    (state.fold ?? []).filter((item) => item.startsWith(mark)).map((item) => item.slice(1));
  return {
    sections: new Set(of('s')),
    groups: new Set(numbers(of('g'))),
    deep: new Set(numbers(of('d'))),
    pinned,
  };
}

function fold_items(folding: Folding): string[] {
  const ids = (mark: string, set: ReadonlySet<number>): string[] =>
    [...set].sort((a, b) => a - b).map((id) => `${mark}${id}`);
  return [
    ...[...folding.sections].sort().map((section) => `s${section}`),
    ...ids('g', folding.groups),
    ...ids('d', folding.deep),
  ];
}

function numbers(items: readonly string[]): number[] {
  return items.filter((item) => /^\d{1,9}$/.test(item)).map(Number);
}
