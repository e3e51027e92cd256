import { describe, expect, it } from 'vitest';
import { Flight } from './flight';
import { TextMeasure } from './labels';
import { kUntouched } from './arrangement';
import { layout, type GroupInfo } from './layout';
import { groups_in, paint_overlay, type OverlayFrame } from './overlay';
import { kTestPalette, RecordingContext } from './recording_context';
import { brush_extent } from './minimap';
import { tile_bytes } from './tile_bytes';
import { decode_tiles, kTileBuckets } from './tile_decoder';
import { ns_of_x } from './viewport';

const measure = new TextMeasure((text) => text.length * 6);
const thread: GroupInfo = {
  id: 1,
  section: 'host:1',
  section_label: 'python',
  type: 'host',
  label: 'Main',
  sublabel: '',
  rows: 1,
  step_rows: 0,
  events: 1,
};
const stream: GroupInfo = { ...thread, id: 2, section: 'device:0', type: 'device' };
const px = (n: number): number => n * 256;
const [tile] = decode_tiles(
  tile_bytes([
    {
      k: 0,
      i: 0,
      group: 1,
      rows: 1,
      slices: [
        { start: px(10), end: px(60), name: 4 },
        { start: px(100), end: px(160), name: 4 },
        { start: px(200), end: px(260), name: 5 },
      ],
    },
  ]),
);

function paint(more: Partial<OverlayFrame>): RecordingContext {
  const ctx = new RecordingContext();
  paint_overlay(ctx, {
    viewport: { start_ns: 0, end_ns: kTileBuckets, width_px: kTileBuckets },
    layout: layout({ groups: [thread, stream], counters: [] }, kUntouched),
    k: 0,
    tiles: [0, 0],
    cache: {
      cover: (_, __, ___, group) => [
        { tile: group === 1 ? tile : undefined, start_ns: 0, end_ns: kTileBuckets },
      ],
    },
    counters: new Map(),
    scroll_px: 0,
    height_px: 400,
    palette: kTestPalette,
    measure,
    name_of: (id) => `name ${id}`,
    pointer: undefined,
    hover: undefined,
    selection: undefined,
    area: undefined,
    arrows: [],
    found: undefined,
    marked: new Set(),
    path: undefined,
    ...more,
  });
  return ctx;
}

describe('the overlay', () => {
  it('frames the events that are pointed out, and no others', () => {
    const { outlines } = paint({ marked: new Set([tile?.id[1] ?? 0]) });
    expect(outlines.map(({ colour, x }) => [colour, x])).toEqual([
      ['panel', 99],
      ['accent', 99],
    ]);
  });

  it('draws nothing without a reason', () => {
    const ctx = paint({});
    expect([ctx.rects, ctx.outlines, ctx.texts, ctx.curves]).toEqual([[], [], [], []]);
  });
  it('underlines what the search finds', () => {
    const found = paint({ found: new Set([4]) }).of_colour('accent');
    expect(found.map((r) => [r.x, r.w, r.h])).toEqual([
      [10, 49, 2],
      [100, 59, 2],
    ]);
  });
  it('outlines the selection so that it is seen on every colour', () => {
    const ctx = paint({
      selection: { type: 'event', id: 0, name: 'x', kind: 'op', group: 1, row: 0, start_ns: 10, end_ns: 60 },
    });
    expect(ctx.outlines.map((o) => o.colour)).toEqual(['panel', 'text']);
  });
  it('writes how long a gap is', () => {
    const ctx = paint({ selection: { type: 'gap', group: 2, row: 0, start_ns: 100, end_ns: 400 } });
    expect(ctx.texts.map((t) => t.text)).toEqual(['300\u2009ns']);
  });
  it('draws an arrow from slice to slice, also when its ends are far outside', () => {
    const arrow = (from: number, to: number): RecordingContext =>
      paint({
        arrows: [
          { from: { group: 1, row: 0, ns: from }, to: { group: 2, row: 0, ns: to }, text: 'queued 1 µs' },
        ],
      });
    expect(arrow(50, 300).curves).toHaveLength(2); // ground and line
    expect(arrow(50, 300).texts.map((t) => t.text)).toEqual(['queued 1 µs']);
    const far = arrow(-1e12, 1e12);
    expect(far.curves.flat().every((x) => Math.abs(x) < 5000)).toBe(true);
    expect(arrow(-1e12, -1e11).curves).toEqual([]);
  });
  it('names what the pointer is on, and where', () => {
    const hover = {
      type: 'slice' as const,
      group: thread,
      row: 0,
      id: 0,
      name: 4,
      count: 1,
      kind: 0,
      busy: 255,
      start_ns: 10,
      end_ns: 60,
      clipped: false,
    };
    const texts = paint({ pointer: { x: 30, y: 70 }, hover }).texts.map((t) => t.text);
    expect(texts).toEqual(['0.000030 ms', 'name 4', '50\u2009ns from 0.000 ms']);
  });
  it('washes only the tracks of the area, and says how long it is', () => {
    const ctx = paint({ area: { start_ns: 100, end_ns: 300, groups: [2] } });
    expect(ctx.texts.map((t) => t.text)).toEqual(['200\u2009ns selected']);
    expect(ctx.rects.filter((r) => r.w === 200)).toHaveLength(2); // its section and its track
  });
  it('takes the tracks that a drag touches', () => {
    const l = layout({ groups: [thread, stream], counters: [] }, kUntouched);
    expect(groups_in(l, 30, 35)).toEqual([1]);
    expect(groups_in(l, l.height - 5, 30)).toEqual([1, 2]);
  });
});

describe('a flight between two views', () => {
  const from = { start_ns: 0, end_ns: 1_000_000, width_px: 1000 };
  const to = { start_ns: 400_000, end_ns: 401_000, width_px: 1000 };
  it('starts and ends where it should, and only narrows on the way in', () => {
    const flight = new Flight(from, to);
    expect(flight.at(0).view.start_ns).toBe(0);
    let span = Infinity;
    for (let ms = 0; ms <= 170; ms += 10) {
      const { view, done } = flight.at(ms);
      expect(done).toBe(false);
      expect(view.end_ns - view.start_ns).toBeLessThan(span);
      span = view.end_ns - view.start_ns + 1e-6;
    }
    expect(flight.at(500)).toEqual({ view: to, done: true });
  });
  it('keeps the point still that both views see at one place', () => {
    const flight = new Flight(from, to);
    flight.at(0);
    const share = 400_000 / 999_000; // where it lies in both
    for (const ms of [20, 60, 120]) {
      expect(ns_of_x(flight.at(ms).view, share * 1000)).toBeCloseTo(400_000 + share * 1000, 3);
    }
  });
});

it('the brush of a tiny view can still be seen and held', () => {
  const limits = { start_ns: 0, end_ns: 1e9 };
  const at = (ns: number): readonly [number, number] =>
    brush_extent({ start_ns: ns, end_ns: ns + 20, width_px: 1000 }, limits, 1000);
  for (const [x0, x1] of [at(0), at(5e8), at(1e9 - 20)]) {
    expect(x1 - x0).toBeGreaterThanOrEqual(6);
    expect(x0).toBeGreaterThanOrEqual(0);
    expect(x1).toBeLessThanOrEqual(1000);
  }
});
