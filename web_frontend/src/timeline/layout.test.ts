import { describe, expect, it } from 'vitest';
import { initial_arrangement, kUntouched, moved, toggled } from './arrangement';
import {
  bands_between,
  groups_between,
  hidden_levels,
  kMaxLevels,
  layout,
  row_top,
  type Band,
  type CounterInfo,
  type GroupInfo,
} from './layout';

const group = (id: number, more: Partial<GroupInfo> = {}): GroupInfo => ({
  id,
  section: 'host:1',
  section_label: 'python 1',
  type: 'host',
  label: `thread ${id}`,
  sublabel: '',
  rows: 3,
  step_rows: 0,
  events: 10,
  ...more,
});
const device = (id: number, rows = 1): GroupInfo =>
  group(id, { section: 'device:0', section_label: 'GPU 0', type: 'device', rows });
const queue: CounterInfo = { id: 'queue:0', section: 'device:0', label: 'Queue', unit: 'kernels' };

const name_of = (b: Band): string | number =>
  b.type === 'section'
    ? b.label
    : b.type === 'group'
      ? b.group.id
      : b.type === 'counter'
        ? b.counter.id
        : `${b.tracks} ${b.note}`;

describe('layout', () => {
  const l = layout({ groups: [group(1), group(2), device(3)], counters: [queue] }, kUntouched);

  it('puts sections, groups and counters below each other without gaps or overlaps', () => {
    expect(l.bands.map((b) => b.type)).toEqual(['section', 'group', 'group', 'section', 'group', 'counter']);
    let y = 0;
    for (const b of l.bands) {
      expect(b.y).toBe(y);
      y += b.h;
    }
    expect(l.height).toBe(y);
  });

  it('keeps every row inside its band, apart from the next', () => {
    for (const b of l.bands) {
      if (b.type !== 'group') continue;
      expect(b.pitch).toBeGreaterThan(b.row_h);
      for (let row = 0; row < b.rows; row++) {
        const top = row_top(b, b.first_row + row)!;
        expect(top).toBeGreaterThanOrEqual(b.y);
        expect(top + b.row_h).toBeLessThanOrEqual(b.y + b.h);
      }
    }
  });

  it('gives a stream of one row more height than a thread', () => {
    expect(l.by_group.get(3)!.row_h).toBeGreaterThan(l.by_group.get(1)!.row_h);
  });

  it('names the groups that a window needs, and no others', () => {
    const first = l.by_group.get(1)!;
    expect(groups_between(l, first.y + 1, first.y + 2)).toEqual([1]);
    expect(groups_between(l, 0, l.height)).toEqual([1, 2, 3]);
  });
});

describe('folding', () => {
  it('a collapsed section is its header, and still needs its groups for the summary', () => {
    const l = layout(
      { groups: [group(1), group(2)], counters: [] },
      toggled(kUntouched, 'sections', 'host:1'),
    );
    expect(l.bands).toHaveLength(1);
    expect(groups_between(l, 0, 10)).toEqual([1, 2]);
  });
  it('a collapsed group keeps a thin row, where all of its levels are found', () => {
    const band = layout({ groups: [group(1)], counters: [] }, toggled(kUntouched, 'groups', 1)).by_group.get(
      1,
    )!;
    expect(band.h).toBeLessThan(24);
    expect(row_top(band, 2)).toBe(row_top(band, 0));
  });
  it('deep groups show the first levels until they are unfolded', () => {
    const deep = group(1, { rows: 40 });
    const folded = layout({ groups: [deep], counters: [] }, kUntouched).by_group.get(1)!;
    expect(folded.rows).toBe(kMaxLevels);
    expect(hidden_levels(folded)).toBe(40 - kMaxLevels);
    expect(row_top(folded, 30)).toBeUndefined();
    const open = layout({ groups: [deep], counters: [] }, toggled(kUntouched, 'deep', 1)).by_group.get(1)!;
    expect(open.rows).toBe(40);
    expect(hidden_levels(open)).toBe(0);
  });
  it('one level more than the limit is not worth a button', () => {
    const l = layout({ groups: [group(1, { rows: kMaxLevels + 1 })], counters: [] }, kUntouched);
    expect(hidden_levels(l.by_group.get(1)!)).toBe(0);
  });
  it('rows that the step band shows are left out', () => {
    const band = layout({ groups: [group(1, { step_rows: 1 })], counters: [] }, kUntouched).by_group.get(1)!;
    expect([band.first_row, band.rows]).toEqual([1, 2]);
    expect(row_top(band, 0)).toBeUndefined();
    expect(row_top(band, 1)).toBe(band.row_y);
  });
  it('of many threads the busiest start open', () => {
    const many = Array.from({ length: 20 }, (_, id) => group(id, { events: id }));
    const { groups } = initial_arrangement(many, 6);
    expect([...groups].sort((a, b) => a - b)).toEqual(Array.from({ length: 14 }, (_, id) => id));
  });
  it('pinned groups stand first, once', () => {
    const l = layout(
      { groups: [group(1), group(2), device(3)], counters: [queue] },
      toggled(kUntouched, 'pinned', 3),
    );
    expect(l.bands.map(name_of)).toEqual(['Pinned', 3, 'python 1', 1, 2, 'GPU 0', 'queue:0']);
  });
  it('turning twice comes back', () => {
    const once = toggled(kUntouched, 'groups', 4);
    expect(once.groups.has(4)).toBe(true);
    expect(toggled(once, 'groups', 4).groups.size).toBe(0);
  });
  it('hidden tracks are not there, but counted', () => {
    const tracks = { groups: [group(1), group(2), device(3)], counters: [queue] };
    const hidden = toggled(toggled(kUntouched, 'hidden', 'g2'), 'hidden', 'cqueue:0');
    expect(layout(tracks, hidden).bands.map(name_of)).toEqual(['python 1', 1, 'GPU 0', 3, '2 hidden']);
  });
  it('a filter looks at the names of tracks and of their sections', () => {
    const tracks = { groups: [group(1), group(2), device(3)], counters: [queue], unlisted: 0 };
    const shown = (filter: string): (string | number)[] =>
      layout(tracks, { ...kUntouched, filter }).bands.map(name_of);
    expect(shown('THREAD 2')).toEqual(['python 1', 2]);
    expect(shown('gpu')).toEqual(['GPU 0', 3]);
    expect(shown('queue')).toEqual(['GPU 0', 'queue:0']);
    expect(shown('nothing')).toEqual(['0 none']);
  });
  it('moves put a track before another one of its section', () => {
    const tracks = { groups: [group(1), group(2), group(4), device(3)], counters: [] };
    const order = (a: typeof kUntouched): (string | number)[] => layout(tracks, a).bands.map(name_of);
    const once = moved(kUntouched, 4, 1);
    expect(order(once)).toEqual(['python 1', 4, 1, 2, 'GPU 0', 3]);
    const twice = moved(once, 1, undefined);
    expect(order(twice)).toEqual(['python 1', 4, 2, 1, 'GPU 0', 3]);
    expect(order(moved(twice, 4, 3))).toEqual(['python 1', 2, 4, 1, 'GPU 0', 3]); // another section's: nothing
  });
  it('tracks that are not listed are counted at the end', () => {
    const l = layout({ groups: [group(1)], counters: [], unlisted: 99 }, kUntouched);
    expect(l.bands.map(name_of)).toEqual(['python 1', 1, '99 more']);
  });
  it('of ten thousand tracks those in a window are found at once', () => {
    const groups = Array.from({ length: 10_000 }, (_, id) => group(id, { section: `host:${id % 500}` }));
    const began = performance.now();
    const l = layout({ groups, counters: [] }, kUntouched);
    expect(performance.now() - began).toBeLessThan(500);
    const seen = bands_between(l, 100_000, 100_500);
    expect(seen).toEqual(l.bands.filter((b) => b.y < 100_500 && b.y + b.h > 100_000));
  });
});
