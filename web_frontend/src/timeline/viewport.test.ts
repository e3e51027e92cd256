import { describe, expect, it } from 'vitest';
import {
  fit_all,
  fit_to,
  kMinSpanNs,
  level_for,
  level_of_whole,
  ns_of_x,
  ns_per_px,
  pan_by,
  reach_of,
  reveal,
  sees,
  span_ns,
  tiles_in_view,
  x_of_ns,
  zoom_at,
  type Limits,
  type Viewport,
} from './viewport';

/** A small generator of its own: the same numbers in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const limits: Limits = { start_ns: 0, end_ns: 3.2e12 };

function some_views(count: number): { view: Viewport; next: () => number }[] {
  return Array.from({ length: count }, (_, seed) => {
    const next = random(seed + 1);
    const span = 10 ** (2 + next() * 10);
    const start_ns = next() * (limits.end_ns - span);
    return { view: { start_ns, end_ns: start_ns + span, width_px: 200 + Math.floor(next() * 3000) }, next };
  });
}

const inside = (v: Viewport): boolean => {
  const margin = 0.01 * (limits.end_ns - limits.start_ns) + 1;
  return v.start_ns >= limits.start_ns - margin && v.end_ns <= limits.end_ns + margin;
};

describe('laws of every gesture', () => {
  const views = some_views(200);

  it('x and time are inverse', () => {
    for (const { view, next } of views) {
      const x = next() * view.width_px;
      expect(x_of_ns(view, ns_of_x(view, x))).toBeCloseTo(x, 3);
    }
  });

  it('zooming in keeps the time under the pointer where it is', () => {
    for (const { view, next } of views) {
      const x = next() * view.width_px;
      const before = ns_of_x(view, x);
      const after = zoom_at(view, x, 0.3 + next() * 0.7, limits);
      expect(Math.abs(ns_of_x(after, x) - before)).toBeLessThan(ns_per_px(after) * 0.01);
    }
  });

  it('out and in again comes back, where no edge is met', () => {
    for (const { view, next } of views) {
      const x = next() * view.width_px;
      const out = zoom_at(view, x, 1.5, limits);
      if (!inside({ ...out, start_ns: out.start_ns - 1, end_ns: out.end_ns + 1 })) continue;
      const back = zoom_at(out, x, 1 / 1.5, limits);
      expect(Math.abs(back.start_ns - view.start_ns)).toBeLessThan(ns_per_px(view));
    }
  });

  it('nothing leaves the trace, becomes empty, or changes the width', () => {
    for (const { view, next } of views) {
      const results = [
        zoom_at(view, next() * view.width_px, 10 ** (next() * 24 - 12), limits),
        pan_by(view, (next() - 0.5) * 1e9, limits),
        fit_to(view, next() * limits.end_ns, next() * limits.end_ns, 0.1, limits),
        reveal(view, next() * limits.end_ns, limits.end_ns, limits),
      ];
      for (const v of results) {
        expect(inside(v)).toBe(true);
        expect(span_ns(v)).toBeGreaterThanOrEqual(kMinSpanNs * 0.999);
        expect(v.width_px).toBe(view.width_px);
      }
    }
  });

  it('a range of no length, or beyond the trace, is shown as one that can be', () => {
    for (const { view } of views) {
      for (const at of [0, limits.end_ns / 2, limits.end_ns * 1000, -limits.end_ns * 1000]) {
        const v = fit_to(view, at, at, 0, limits);
        expect(inside(v)).toBe(true);
        expect(span_ns(v)).toBeGreaterThanOrEqual(kMinSpanNs * 0.999);
      }
      const exact = fit_to(view, 1000, 3000, 0, limits);
      expect([exact.start_ns, exact.end_ns]).toEqual([1000, 3000]);
    }
  });

  it('panning does not zoom', () => {
    for (const { view, next } of views) {
      const moved = pan_by(view, (next() - 0.5) * 5000, limits);
      expect(span_ns(moved) / span_ns(view)).toBeCloseTo(1, 6);
    }
  });

  it('fitting shows the whole of what was asked for', () => {
    for (const { view, next } of views) {
      const a = next() * limits.end_ns * 0.5;
      const b = a + next() * limits.end_ns * 0.4 + 100;
      const v = fit_to(view, a, b, 0.1, limits);
      expect(v.start_ns).toBeLessThanOrEqual(a);
      expect(v.end_ns).toBeGreaterThanOrEqual(b);
    }
  });
});

describe('revealing', () => {
  const view: Viewport = { start_ns: 1000, end_ns: 2000, width_px: 100 };
  it('leaves a view alone that shows it already', () => expect(reveal(view, 1100, 1200, limits)).toBe(view));
  it('moves without zooming', () => {
    const v = reveal(view, 5000, 5100, limits);
    expect(span_ns(v)).toBe(1000);
    expect(v.start_ns).toBe(4550);
  });
  it('zooms in on a speck, once', () => {
    const v = reveal(view, 1500, 1530, limits);
    expect(span_ns(v)).toBeCloseTo(750, 6);
    expect(reveal(v, 1500, 1530, limits)).toBe(v);
  });
  it('goes to a slice outside of the trace, as near as numbers tell times apart there', () => {
    for (const [start, end] of [
      [-1.7e18, -1.7e18 + 5000],
      [-9e5, -9e5],
      [3.3e12, 3.3e12 + 20],
    ] as const) {
      const reach = reach_of(limits, start, end);
      const v = reveal(view, start, end, reach);
      expect(v.start_ns).toBeLessThanOrEqual(start);
      expect(v.end_ns).toBeGreaterThanOrEqual(end);
      expect(sees(v, limits)).toBe(false);
      const near = zoom_at(v, 50, 1e-12, reach);
      expect(span_ns(near)).toBeGreaterThanOrEqual(kMinSpanNs * 0.999);
      expect(near.start_ns + span_ns(near) / 2).not.toBe(near.start_ns);
      expect(sees(zoom_at(v, 50, 1e15, reach), limits)).toBe(true);
    }
  });
  it('zooms out for what is longer than the view', () =>
    expect(span_ns(reveal(view, 5000, 9000, limits))).toBeGreaterThan(4000));
});

describe('level of detail', () => {
  it('buckets are 1 to 2 px wide', () => {
    for (const { view } of some_views(200)) {
      const px = 2 ** level_for(view) / ns_per_px(view);
      if (ns_per_px(view) < 0.5) continue; // finer than 1 ns there is nothing
      expect(px).toBeGreaterThan(1 - 1e-9);
      expect(px).toBeLessThanOrEqual(2);
    }
  });
  it('does not flicker at the edge of a level', () => {
    const at = (per_px: number): Viewport => ({ start_ns: 0, end_ns: per_px * 1000, width_px: 1000 });
    expect(level_for(at(512))).toBe(10);
    expect(level_for(at(511), 10)).toBe(10);
    expect(level_for(at(400), 10)).toBe(9);
    expect(level_for(at(1030), 10)).toBe(10);
    expect(level_for(at(1300), 10)).toBe(11);
  });
  it('one tile holds the whole trace, and the level below does not', () => {
    for (const ns of [1, 1000, 1024, 1025, 929_700_000, 3.2e12]) {
      const k = level_of_whole(ns);
      expect(1024 * 2 ** k).toBeGreaterThanOrEqual(ns);
      if (k > 0) expect(1024 * 2 ** (k - 1)).toBeLessThan(ns);
    }
  });
  it('asks for no tiles beyond the trace', () => {
    const all = fit_all({ start_ns: 0, end_ns: 5000 }, 800);
    expect(all.start_ns).toBeLessThan(0);
    expect(tiles_in_view(all, 0, { start_ns: 0, end_ns: 5000 })).toEqual([0, 4]);
    expect(tiles_in_view(all, 20, { start_ns: 0, end_ns: 5000 })).toEqual([0, 0]);
  });
});
