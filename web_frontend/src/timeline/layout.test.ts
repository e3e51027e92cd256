import { describe, expect, it } from 'vitest';
import {
  band_of_group,
  groups_between,
  hidden_levels,
  initial_folding,
  kMaxLevels,
  kNothingFolded,
  layout,
  row_top,
  toggled,
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
  events: 10,
  ...more,
});
const device = (id: number, rows = 1): GroupInfo =>
  group(id, { section: 'device:0', section_label: 'GPU 0', type: 'device', rows });
const queue: CounterInfo = { id: 'queue:0', section: 'device:0', label: 'Queue', unit: 'kernels' };

describe('layout', () => {
  const l = layout([group(1), group(2), device(3)], [queue], kNothingFolded);

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
    expect(band_of_group(l, 3)!.row_h).toBeGreaterThan(band_of_group(l, 1)!.row_h);
  });

  it('names the groups that a window needs, and no others', () => {
    const first = band_of_group(l, 1)!;
    expect(groups_between(l, first.y + 1, first.y + 2)).toEqual([1]);
    expect(groups_between(l, 0, l.height)).toEqual([1, 2, 3]);
  });
});

describe('folding', () => {
  it('a collapsed section is its header, and still needs its groups for the summary', () => {
    const l = layout([group(1), group(2)], [], toggled(kNothingFolded, 'sections', 'host:1'));
    expect(l.bands).toHaveLength(1);
    expect(groups_between(l, 0, 10)).toEqual([1, 2]);
  });
  it('a collapsed group keeps a thin row, where all of its levels are found', () => {
    const band = band_of_group(layout([group(1)], [], toggled(kNothingFolded, 'groups', 1)), 1)!;
    expect(band.h).toBeLessThan(24);
    expect(row_top(band, 2)).toBe(row_top(band, 0));
  });
  it('deep groups show the first levels until they are unfolded', () => {
    const deep = group(1, { rows: 40 });
    const folded = band_of_group(layout([deep], [], kNothingFolded), 1)!;
    expect(folded.rows).toBe(kMaxLevels);
    expect(hidden_levels(folded)).toBe(40 - kMaxLevels);
    expect(row_top(folded, 30)).toBeUndefined();
    const open = band_of_group(layout([deep], [], toggled(kNothingFolded, 'deep', 1)), 1)!;
    expect(open.rows).toBe(40);
    expect(hidden_levels(open)).toBe(0);
  });
  it('one level more than the limit is not worth a button', () => {
    const l = layout([group(1, { rows: kMaxLevels + 1 })], [], kNothingFolded);
    expect(hidden_levels(band_of_group(l, 1)!)).toBe(0);
  });
  it('rows that the step band shows are left out', () => {
    const band = band_of_group(
      layout([group(1)], [], kNothingFolded, () => 1),
      1,
    )!;
    expect([band.first_row, band.rows]).toEqual([1, 2]);
    expect(row_top(band, 0)).toBeUndefined();
    expect(row_top(band, 1)).toBe(band.row_y);
  });
  it('of many threads the busiest start open', () => {
    const many = Array.from({ length: 20 }, (_, id) => group(id, { events: id }));
    const { groups } = initial_folding(many, 6);
    expect([...groups].sort((a, b) => a - b)).toEqual(Array.from({ length: 14 }, (_, id) => id));
  });
  it('pinned groups stand first, once', () => {
    const l = layout([group(1), group(2), device(3)], [queue], toggled(kNothingFolded, 'pinned', 3));
    expect(
      l.bands.map((b) => (b.type === 'section' ? b.label : b.type === 'group' ? b.group.id : b.counter.id)),
    ).toEqual(['Pinned', 3, 'python 1', 1, 2, 'GPU 0', 'queue:0']);
  });
  it('turning twice comes back', () => {
    const once = toggled(kNothingFolded, 'groups', 4);
    expect(once.groups.has(4)).toBe(true);
    expect(toggled(once, 'groups', 4).groups.size).toBe(0);
  });
});
