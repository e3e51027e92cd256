import { describe, expect, it } from 'vitest';
import type { GroupInfo } from './layout';
import { longest_gap, strip_lanes } from './step_strip';
import { tile_bytes } from './tile_bytes';
import { decode_tiles } from './tile_decoder';

const group = (id: number, type: GroupInfo['type'], events: number, section = 'host:1'): GroupInfo => ({
  id,
  section,
  section_label: section === 'device:0' ? 'GPU 0 · H100' : section,
  type,
  label: `g${id}`,
  sublabel: '',
  rows: 1,
  step_rows: 0,
  events,
});

describe('lanes of the strip', () => {
  it('are two threads in their order, and one device with all of its streams', () => {
    const groups = [
      group(1, 'host', 50),
      group(2, 'host', 3),
      group(3, 'host', 90),
      group(4, 'python', 999),
      group(5, 'device', 10, 'device:0'),
      group(6, 'device', 40, 'device:0'),
      group(7, 'device', 5, 'device:1'),
    ];
    expect(strip_lanes(groups).map((l) => [l.label, l.groups.map((g) => g.id)])).toEqual([
      ['g1', [1]],
      ['g3', [3]],
      ['GPU 0', [5, 6]],
    ]);
  });
  it('a trace without a device has no device lane', () =>
    expect(strip_lanes([group(1, 'host', 1)]).map((l) => l.device)).toEqual([false]));
});

describe('the longest gap', () => {
  const px = (n: number): number => n * 256;
  const tiles = decode_tiles(
    tile_bytes([
      {
        k: 0,
        i: 0,
        group: 5,
        rows: 1,
        slices: [
          { start: px(100), end: px(200) },
          { start: px(800), end: px(900) },
        ],
      },
      { k: 0, i: 0, group: 6, rows: 1, slices: [{ start: px(300), end: px(500) }] },
    ]),
  );
  it('is what no stream fills', () =>
    expect(longest_gap(tiles, { start_ns: 0, end_ns: 950 })).toEqual({ start_ns: 500, end_ns: 800 }));
  it('may lie at an end of the range', () =>
    expect(longest_gap(tiles, { start_ns: 0, end_ns: 1000_000 })).toEqual({
      start_ns: 900,
      end_ns: 1000_000,
    }));
  it('is all of an empty range', () =>
    expect(longest_gap([], { start_ns: 5, end_ns: 9 })).toEqual({ start_ns: 5, end_ns: 9 }));
});
