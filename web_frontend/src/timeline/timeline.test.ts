import { afterEach, beforeEach, describe, expect, it, vi, type Mock } from 'vitest';
import type { GroupInfo } from './layout';
import { RecordingContext } from './recording_context';
import type { Selection } from './scene';
import { tile_bytes } from './tile_bytes';
import { StaleGenerationError, type FetchTiles, type TileRequest } from './tile_cache';
import { Timeline, type Stage, type TimelineEvents } from './timeline';
import { fit_to, span_ns } from './viewport';

const group = (id: number, more: Partial<GroupInfo> = {}): GroupInfo => ({
  id,
  section: 'host:1',
  section_label: 'python',
  type: 'host',
  label: `thread ${id}`,
  sublabel: '',
  rows: 2,
  step_rows: 0,
  events: 5,
  ...more,
});
const kGroups = [
  group(1),
  group(2, { rows: 30 }),
  group(3, { section: 'device:0', type: 'device', rows: 1 }),
];

let asked: TileRequest[];
let answer: FetchTiles;
let events: { [K in keyof TimelineEvents]: Mock<TimelineEvents[K]> };
let timeline: Timeline;
let drawn: RecordingContext[];

beforeEach(() => {
  drawn = [];
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockImplementation(() => {
    const ctx = Object.assign(new RecordingContext(), {
      measureText: (t: string) => ({ width: t.length * 6 }),
    });
    drawn.push(ctx);
    return ctx as unknown as RenderingContext;
  });
  asked = [];
  answer = (request) => {
    asked.push(request);
    const tiles = request.groups.flatMap((g) =>
      Array.from({ length: request.last - request.first + 1 }, (_, n) => ({
        k: request.k,
        i: request.first + n,
        group: g,
        rows: kGroups.find((one) => one.id === g)?.rows ?? 1,
        slices: [{ start: 0, end: 1024 * 128, name: 1 }],
      })),
    );
    return Promise.resolve(tile_bytes(tiles));
  };
  events = { on_view: vi.fn(), on_layout: vi.fn(), on_frame: vi.fn(), on_stale: vi.fn(), on_error: vi.fn() };
});
afterEach(() => timeline.destroy());

function make(): Timeline {
  const canvas = (): HTMLCanvasElement => document.createElement('canvas');
  const scroller = document.createElement('div');
  const stage: Stage = { base: canvas(), overlay: canvas(), minimap: canvas(), scroller };
  timeline = new Timeline(
    stage,
    { limits: { start_ns: 0, end_ns: 1e9 }, groups: kGroups, group_count: kGroups.length, steps: [] },
    {
      tiles: (request, signal) => answer(request, signal),
      counters: () => Promise.resolve(new Map()),
      busy: () => Promise.resolve({ host: { share: [255], kind: [1] }, device: undefined, kinds: [1, 3] }),
      name_of: (id) => ['', 'aten::add'][id],
    },
    events,
  );
  return timeline;
}

describe('a timeline', () => {
  it('asks for what is on the screen, in one request, and draws it when it has a size', async () => {
    const t = make();
    expect(asked).toEqual([]);
    t.resize(800, 500, 1);
    await t.idle();
    expect(asked[0]).toMatchObject({ first: 0, groups: [1, 2, 3] });
    expect(t.hues().size).toBe(2);
    expect(t.view.width_px).toBe(800);
    expect(t.view.start_ns).toBeLessThan(0);
    expect(events.on_frame).toHaveBeenCalled();
    expect(drawn.some((ctx) => ctx.texts.some((text) => text.text === 'aten::add'))).toBe(true);
    expect(performance.getEntriesByName('first-tiles').length).toBeGreaterThan(0);
  });

  it('ignores the size of a hidden frame', async () => {
    const t = make();
    t.resize(800, 500, 1);
    t.set_view({ start_ns: 1e8, end_ns: 2e8, width_px: 800 });
    await t.idle();
    t.resize(0, 0, 1);
    expect(t.view).toEqual({ start_ns: 1e8, end_ns: 2e8, width_px: 800 });
    t.resize(400, 300, 1);
    expect(t.view).toEqual({ start_ns: 1e8, end_ns: 2e8, width_px: 400 });
  });

  it('draws nothing while it is not seen, and again when it is', async () => {
    const t = make();
    t.resize(800, 500, 1);
    await t.idle();
    t.set_shown(false);
    events.on_frame.mockClear();
    t.redraw();
    await t.idle();
    expect(events.on_frame).not.toHaveBeenCalled();
    t.set_shown(true);
    await t.idle();
    expect(events.on_frame).toHaveBeenCalled();
  });

  it('flies to a view, unless motion is not wanted', async () => {
    const t = make();
    t.resize(800, 500, 1);
    await t.idle();
    const to = fit_to(t.view, 4e8, 4.1e8, 0, t.limits);
    t.set_view(to, true);
    expect(t.target).toEqual(to);
    expect(span_ns(t.view)).toBeGreaterThan(1e8);
    await t.idle();
    expect(t.view).toEqual(to);
    vi.stubGlobal('matchMedia', () => ({ matches: true }));
    t.set_view(fit_to(t.view, 0, 1e6, 0, t.limits), true);
    expect(span_ns(t.view)).toBeCloseTo(1e6, 3);
    vi.unstubAllGlobals();
  });

  it('asks for finer tiles where it looks, of the tracks in sight', async () => {
    const t = make();
    t.resize(800, 500, 1);
    await t.idle();
    asked.length = 0;
    t.set_view({ start_ns: 4e8, end_ns: 4.001e8, width_px: 800 });
    await t.idle();
    const [first] = asked;
    expect(first?.k).toBeLessThan(10);
    expect(first?.groups).toEqual([1, 2, 3]);
    expect(asked.length).toBeLessThanOrEqual(3);
  });

  it('unfolds what hides a selection', async () => {
    const t = make();
    t.resize(800, 500, 1);
    await t.idle();
    const deep: Selection = {
      type: 'event',
      id: 9,
      name: 'x',
      kind: 'op',
      group: 2,
      row: 25,
      start_ns: 0,
      end_ns: 5e8,
    };
    expect(t.layout.by_group.get(2)!.rows).toBeLessThan(26);
    t.reveal(deep);
    expect(t.layout.by_group.get(2)!.rows).toBe(30);
    t.arrange({ sections: new Set(['host:1']) });
    expect(t.layout.by_group.get(2)).toBeUndefined();
    t.reveal(deep);
    expect(t.layout.by_group.get(2)).toBeDefined();
  });

  it('knows what lies under a point, and how busy a track is', async () => {
    const t = make();
    t.resize(800, 500, 1);
    await t.idle();
    const band = t.layout.by_group.get(3)!;
    const y = band.row_y + 40 + 5;
    expect(t.hit(100, y)).toMatchObject({ type: 'slice', group: { id: 3 }, name: 1 });
    expect(t.hit(100, 10)).toBeUndefined(); // the ruler
    expect(t.busy_share(3)).toBeGreaterThan(0.3);
    expect(t.visible(2)).toMatchObject({ more: true, slices: [{ count: 1 }, { count: 1 }] });
  });

  it('says when the server has another trace by now', async () => {
    answer = () => Promise.reject(new StaleGenerationError());
    const t = make();
    t.resize(800, 500, 1);
    await t.idle();
    expect(events.on_stale).toHaveBeenCalledTimes(1);
    expect(events.on_error).not.toHaveBeenCalled();
  });
});
