import { describe, expect, it } from 'vitest';
import { slice_after, slice_before, type LoadTile } from './gap';
import { hit_test, place_of, type HitScene } from './hit_test';
import { kUntouched, toggled } from './arrangement';
import { layout, row_top, type GroupBand, type GroupInfo } from './layout';
import { tile_bytes, type TestSlice } from './tile_bytes';
import { decode_tiles, kTileBuckets } from './tile_decoder';

const stream: GroupInfo = {
  id: 3,
  section: 'device:0',
  section_label: 'GPU 0',
  type: 'device',
  label: 'Stream 7',
  sublabel: '',
  rows: 1,
  step_rows: 0,
  events: 4,
};
const thread: GroupInfo = { ...stream, id: 1, section: 'host:1', type: 'host', rows: 2 };
const px = (n: number): number => n * 256;

function scene(slices: readonly TestSlice[], group = stream): HitScene {
  const [tile] = decode_tiles(tile_bytes([{ k: 0, i: 0, group: group.id, rows: group.rows, slices }]));
  return {
    viewport: { start_ns: 0, end_ns: kTileBuckets, width_px: kTileBuckets },
    layout: layout({ groups: [group], counters: [] }, kUntouched),
    k: 0,
    tiles: [0, 0],
    cache: { cover: () => [{ tile, start_ns: 0, end_ns: kTileBuckets }] },
    counters: new Map(),
  };
}
const band = (s: HitScene): GroupBand => s.layout.bands.find((b): b is GroupBand => b.type === 'group')!;
const y_of = (s: HitScene, row = 0): number => row_top(band(s), row)! + 3;

describe('pointing', () => {
  const s = scene([
    { start: px(100), end: px(200), id: 11 },
    { start: px(300), end: px(301), id: 12 },
    { start: px(400), end: px(500), id: 13, count: 7, busy: 99 },
  ]);
  it('finds the slice below the pointer', () => {
    expect(hit_test(s, 150, y_of(s))).toMatchObject({ type: 'slice', id: 11, start_ns: 100, end_ns: 200 });
    expect(hit_test(s, 450, y_of(s))).toMatchObject({ type: 'slice', id: 13, count: 7, busy: 99 });
  });
  it('reaches thin slices from two pixels away, the nearest first', () => {
    expect(hit_test(s, 302.5, y_of(s))).toMatchObject({ id: 12 });
    expect(hit_test(s, 298.5, y_of(s))).toMatchObject({ id: 12 });
  });
  it('finds the gap between two slices of a device row', () => {
    expect(hit_test(s, 250, y_of(s))).toMatchObject({ type: 'gap', start_ns: 200, end_ns: 300 });
    expect(hit_test(s, 50, y_of(s))).toMatchObject({ type: 'gap', start_ns: undefined, end_ns: 100 });
  });
  it('knows nothing outside of rows', () => {
    expect(hit_test(s, 150, 2)).toBeUndefined();
    expect(hit_test(s, 150, 9999)).toBeUndefined();
  });
  it('tells rows apart, and a thread has no gaps', () => {
    const t = scene(
      [
        { start: 0, end: px(50), id: 1 },
        { row: 1, start: 0, end: px(20), id: 2 },
      ],
      thread,
    );
    expect(hit_test(t, 10, y_of(t, 0))).toMatchObject({ id: 1, row: 0 });
    expect(hit_test(t, 10, y_of(t, 1))).toMatchObject({ id: 2, row: 1 });
    expect(hit_test(t, 40, y_of(t, 1))).toBeUndefined();
  });
});

describe('a slice over several tiles', () => {
  const parts = (last_flags: number): HitScene => {
    const tiles = decode_tiles(
      tile_bytes([
        { k: 0, i: 0, group: 3, rows: 1, slices: [{ start: px(1000), end: px(1024), id: 5, flags: 2 }] },
        { k: 0, i: 1, group: 3, rows: 1, slices: [{ start: 0, end: px(1024), id: 5, flags: 3 }] },
        { k: 0, i: 2, group: 3, rows: 1, slices: [{ start: 0, end: px(10), id: 5, flags: last_flags }] },
      ]),
    );
    return {
      ...scene([]),
      viewport: { start_ns: 0, end_ns: 3 * kTileBuckets, width_px: 3 * kTileBuckets },
      tiles: [0, 2],
      cache: {
        cover: () =>
          tiles.map((tile) => ({ tile, start_ns: tile.left_ns, end_ns: tile.left_ns + kTileBuckets })),
      },
    };
  };
  it('is one', () => {
    const s = parts(1);
    expect(hit_test(s, 1500, y_of(s))).toMatchObject({ id: 5, start_ns: 1000, end_ns: 2058, clipped: false });
  });
  it('and says when it goes on beyond what is loaded', () => {
    const s = parts(3);
    expect(hit_test(s, 1010, y_of(s))).toMatchObject({ end_ns: 2058, clipped: true });
  });
});

describe('where a slice is drawn', () => {
  it('its row, else the thin line, else the header that hides it', () => {
    const open = layout({ groups: [thread], counters: [] }, kUntouched);
    expect(place_of(open, 1, 1)).toMatchObject({ exact: true });
    const thin = layout({ groups: [thread], counters: [] }, toggled(kUntouched, 'groups', 1));
    expect(place_of(thin, 1, 1)).toMatchObject({ exact: false });
    const hidden = layout({ groups: [thread], counters: [] }, toggled(kUntouched, 'sections', 'host:1'));
    expect(place_of(hidden, 1, 1)).toMatchObject({ exact: false });
    expect(place_of(open, 99, 0)).toBeUndefined();
  });
});

describe('the exact edges of a gap', () => {
  // Kernels [a, b) in ns; tiles fold them by the rule of TILE_FORMAT.md, as the server does.
  const kernels = [
    [1_000, 1_400],
    [1_500, 1_900],
    [700_000, 700_010],
    [700_020, 700_030],
    [5_000_000, 9_000_000],
  ] as const;
  const loads: number[] = [];
  const load: LoadTile = (k, i) => {
    loads.push(k);
    const w = 2 ** k;
    const left = i * kTileBuckets * w;
    const right = left + kTileBuckets * w;
    const slices: { start: number; end: number; id: number; count: number; bucket: number }[] = [];
    kernels.forEach(([a, b], id) => {
      if (b <= left || a >= right) return;
      const start = ((Math.max(a, left) - left) / w) * 256;
      const end = ((Math.min(b, right) - left) / w) * 256;
      const bucket = b - a >= w ? -1 - id : Math.floor(a / w);
      const before = slices.at(-1);
      if (before?.bucket === bucket) Object.assign(before, { end, count: before.count + 1 });
      else slices.push({ start, end, id, count: 1, bucket });
    });
    const bytes = tile_bytes([{ k, i, group: 3, rows: 1, slices }]);
    return Promise.resolve(decode_tiles(bytes)[0]);
  };
  const limits = { start_ns: 0, end_ns: 10_000_000 };
  const edges = async (at: number): Promise<unknown[]> => {
    const before = await slice_before(load, 0, at, 14, limits);
    const after = await slice_after(load, 0, at, 14, limits);
    return [before?.id, before?.edge_ns, after?.id, after?.edge_ns];
  };
  it.each([
    [300_000, [1, 1_900, 2, 700_000]],
    [1_450, [0, 1_400, 1, 1_500]],
    [2_000_000, [3, 700_030, 4, 5_000_000]],
    [700_015, [2, 700_010, 3, 700_020]],
    [500, [undefined, undefined, 0, 1_000]],
    [9_500_000, [4, 9_000_000, undefined, undefined]],
  ])('at %d', async (at, wanted) => expect(await edges(at)).toEqual(wanted));
  it('takes few tiles', async () => {
    loads.length = 0;
    await edges(700_015);
    expect(loads.length).toBeLessThan(9);
  });
});
