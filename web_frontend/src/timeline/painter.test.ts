import { describe, expect, it } from 'vitest';
import { LabelCache, TextMeasure } from './labels';
import { kUntouched, toggled, type Arrangement } from './arrangement';
import { layout, type GroupInfo } from './layout';
import { TrackPainter, type Frame } from './painter';
import { kTestPalette, RecordingContext } from './recording_context';
import { tile_bytes, type TestTile } from './tile_bytes';
import { decode_tiles, kTileBuckets, type Tile } from './tile_decoder';
import { ticks_for } from './ticks';
import type { Cover } from './tile_cache';
import type { Viewport } from './viewport';

const host: GroupInfo = {
  id: 1,
  section: 'host:1',
  section_label: 'python 1',
  type: 'host',
  label: 'Main',
  sublabel: '',
  rows: 2,
  step_rows: 0,
  events: 9,
};
const kNames = [
  '',
  'aten::conv2d',
  'void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >(int)',
];
const measure = new TextMeasure((text) => text.length * 6);

/** One tile of 1 ns buckets over 1024 px, so that 256 units are a pixel. */
const view: Viewport = { start_ns: 0, end_ns: kTileBuckets, width_px: kTileBuckets };

function cache_of(tiles: readonly Tile[]): {
  cover(k: number, first: number, last: number, group: number): Cover[];
} {
  return {
    cover: (k, first, last, group) => {
      const width = kTileBuckets * 2 ** k;
      const out: Cover[] = [];
      for (let i = first; i <= last; i++) {
        const tile = tiles.find((t) => t.k === k && t.i === i && t.group === group);
        out.push({ tile, start_ns: i * width, end_ns: (i + 1) * width });
      }
      return out;
    },
  };
}

function paint(
  tiles: readonly TestTile[],
  more: Partial<Frame> = {},
  folding: Arrangement = kUntouched,
): RecordingContext {
  const ctx = new RecordingContext();
  const frame: Frame = {
    viewport: view,
    layout: layout({ groups: [host], counters: [] }, folding),
    scroll_px: 0,
    height_px: 400,
    pixel: 1,
    k: 0,
    tiles: [0, 0],
    cache: cache_of(decode_tiles(tile_bytes(tiles))),
    labels: new LabelCache((id) => kNames[id], measure),
    counters: new Map(),
    palette: kTestPalette,
    ticks: ticks_for(view),
    ...more,
  };
  new TrackPainter().paint(ctx, frame);
  return ctx;
}
const px = (n: number): number => n * 256;
const one = (slices: TestTile['slices']): TestTile[] => [{ k: 0, i: 0, group: 1, rows: 2, slices }];

describe('exact slices', () => {
  it('are rectangles at their time, with a pixel between neighbours', () => {
    const ctx = paint(
      one([
        { start: px(10), end: px(110), kind: 0 },
        { start: px(110), end: px(200), kind: 3 },
      ]),
    );
    expect(ctx.of_colour('op')).toMatchObject([{ x: 10, w: 99 }]);
    expect(ctx.of_colour('kernel')).toMatchObject([{ x: 110, w: 89 }]);
  });
  it('are never thinner than a pixel, and what hides under one is not drawn', () => {
    const slices = Array.from({ length: 50 }, (_, n) => ({ start: px(10) + n * 2, end: px(10) + n * 4 + 2 }));
    expect(paint(one(slices)).of_colour('op')).toMatchObject([{ x: 10, w: 1 }]);
  });
  it('draws communication and data loading in their own colours', () => {
    const ctx = paint(
      one([
        { start: 0, end: px(9), kind: 3 + 16 },
        { start: px(20), end: px(30), kind: 1 + 32 },
      ]),
    );
    expect(ctx.of_colour('comm')).toHaveLength(1);
    expect(ctx.of_colour('loader')).toHaveLength(1);
  });
  it('that cannot be true are only an edge and a pale body', () => {
    const ctx = paint(one([{ start: 0, end: px(100), flags: 32 }]));
    expect(ctx.of_colour('op tint')).toMatchObject([{ x: 0, w: 99 }]);
    expect(ctx.of_colour('op')).toMatchObject([{ x: 0, w: 2 }]);
  });
  it('fade at their end when the recording stopped first', () => {
    const ctx = paint(one([{ start: 0, end: px(100), flags: 8 }]));
    expect(ctx.of_colour('op tint')).toMatchObject([{ x: 0, w: 99 }]);
    expect(ctx.of_colour('op')).toMatchObject([{ x: 0, w: 94 }]);
  });
});

describe('folded runs', () => {
  it('are a tint with a bar as high as their busy share', () => {
    const ctx = paint(one([{ start: px(10), end: px(12), count: 5, busy: 128, kind: 3 }]));
    const [tint] = ctx.of_colour('kernel tint');
    const [bar] = ctx.of_colour('kernel');
    expect(tint).toMatchObject({ x: 10, w: 2, h: 18 });
    expect(bar).toMatchObject({ x: 10, w: 2, h: 9 });
    expect(bar!.y + bar!.h).toBe(tint!.y + tint!.h);
  });
  it('join while they touch and look alike, and leave what is idle white', () => {
    const run = (x: number, busy: number): { start: number; end: number; count: number; busy: number } => ({
      start: px(x),
      end: px(x + 2),
      count: 3,
      busy,
    });
    const ctx = paint(one([run(0, 255), run(2, 255), run(4, 100), run(20, 100)]));
    expect(ctx.of_colour('op tint')).toMatchObject([
      { x: 0, w: 6 },
      { x: 20, w: 2 },
    ]);
    expect(ctx.of_colour('op')).toMatchObject([
      { x: 0, w: 4 },
      { x: 4, w: 2 },
      { x: 20, w: 2 },
    ]);
  });
  it('conserve covered time in what is painted', () => {
    let expected = 0;
    const slices = Array.from({ length: 200 }, (_, n) => {
      const busy = (n * 37) % 256;
      expected += (2 * busy) / 255;
      return { start: px(n * 4), end: px(n * 4 + 2), count: 2, busy };
    });
    const ctx = paint(one(slices), { pixel: 0.01 });
    const painted = ctx.of_colour('op').reduce((sum, r) => sum + r.w * (r.h / 18), 0);
    expect(painted / expected).toBeGreaterThan(0.98);
    expect(painted / expected).toBeLessThan(1.05); // the least bar is a pixel high
  });
});

describe('labels', () => {
  it('write the longest spelling that fits', () => {
    const text = (w: number, name: number): string[] =>
      paint(one([{ start: 0, end: px(w), name }])).texts.map((t) => t.text);
    expect(text(100, 1)).toEqual(['aten::conv2d']);
    expect(text(60, 1)).toEqual(['conv2d']);
    expect(text(36, 1)).toEqual(['con…']);
    expect(text(30, 1)).toEqual([]);
    expect(text(1000, 2)[0]).toContain('vectorized_elementwise_kernel<4');
    expect(text(300, 2)).toEqual(['vectorized_elementwise_kernel<… Add …>']);
    expect(text(40, 2)).toEqual(['Add']);
  });
  it('start at the left edge of the view when the slice starts before it', () => {
    const later: Viewport = { start_ns: 100, end_ns: 612, width_px: 512 };
    const ctx = paint(one([{ start: 0, end: px(900), name: 1 }]), { viewport: later });
    expect(ctx.texts).toMatchObject([{ text: 'aten::conv2d', x: 4 }]);
  });
  it('write a slice over two tiles once, in the room of both parts', () => {
    const tiles: TestTile[] = [
      {
        k: 0,
        i: 0,
        group: 1,
        rows: 2,
        slices: [{ start: px(1004), end: px(1024), id: 5, name: 1, flags: 2 }],
      },
      { k: 0, i: 1, group: 1, rows: 2, slices: [{ start: 0, end: px(100), id: 5, name: 1, flags: 1 }] },
    ];
    const wide: Viewport = { start_ns: 0, end_ns: 2048, width_px: 2048 };
    const ctx = paint(tiles, { viewport: wide, tiles: [0, 1] });
    expect(ctx.texts).toMatchObject([{ text: 'aten::conv2d', x: 1008 }]);
    expect(ctx.of_colour('op')).toMatchObject([
      { x: 1004, w: 20 },
      { x: 1024, w: 99 },
    ]);
  });
});

describe('the picture', () => {
  it('has a place for what is still loading', () => {
    const ctx = paint([]);
    expect(ctx.of_colour('sunk').filter((r) => r.w === 1024 && r.h === 18)).toHaveLength(2);
  });
  it('shows a collapsed group as a thin line and without text', () => {
    const ctx = paint(one([{ start: 0, end: px(500), name: 1 }]), {
      layout: layout({ groups: [host], counters: [] }, toggled(kUntouched, 'groups', 1)),
    });
    expect(ctx.of_colour('op')[0]!.h).toBeLessThan(10);
    expect(ctx.texts).toEqual([]);
  });
  it('does not draw rows outside of the window', () => {
    const slices = [
      { start: 0, end: px(9) },
      { row: 1, start: 0, end: px(9) },
    ];
    expect(paint(one(slices), { scroll_px: 300, height_px: 50 }).of_colour('op')).toEqual([]);
  });
  it('changes the fill style per colour, not per rectangle', () => {
    const slices = Array.from({ length: 400 }, (_, n) => ({
      start: px(n * 2),
      end: px(n * 2 + 1),
      kind: n % 4,
    }));
    expect(paint(one(slices)).style_changes).toBeLessThan(20);
  });
});
