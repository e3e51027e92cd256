import { describe, expect, it, vi } from 'vitest';
import { CounterCache, range_for, serves } from './counter_cache';
import { counter_floor, counter_scale, type CounterData } from './counter_painter';
import { busy_lane, host_lane_rows } from './minimap';
import { tile_bytes } from './tile_bytes';
import { decode_tiles } from './tile_decoder';
import type { Viewport } from './viewport';

const view = (start_ns: number, end_ns: number): Viewport => ({ start_ns, end_ns, width_px: 600 });
const data = (at_ns: number[], last: number[], min = last, max = last): CounterData => ({
  info: { id: 'c', section: 's', label: 'c', unit: '' },
  at_ns,
  min,
  max,
  last,
  hue: 'other',
});

describe('the scale of a counter', () => {
  it('covers what is in view, and the value that holds at its left edge', () => {
    const c = data([0, 100, 200, 900], [7, 3, 4, 99], [7, 1, 4, 99], [7, 3, 6, 99]);
    expect(counter_scale(view(50, 300), c)).toEqual({ low: 1, high: 7 });
    expect(counter_scale(view(250, 300), c)).toEqual({ low: 4, high: 4 });
  });
  it('is unknown before the first value', () =>
    expect(counter_scale(view(0, 10), data([100], [1]))).toBeUndefined());
  it('starts at 0 unless the values are far from it', () => {
    expect(counter_floor({ low: 1, high: 9 })).toBe(0);
    expect(counter_floor({ low: 1388, high: 1709 })).toBe(1388);
    expect(counter_floor({ low: -3, high: 9 })).toBe(-3);
  });
});

describe('which counters are asked for', () => {
  it('three views, and a range that serves its own view and near ones', () => {
    const r = range_for(view(1000, 2000));
    expect([r.start_ns, r.end_ns]).toEqual([0, 3000]);
    expect(serves(r, view(1000, 2000))).toBe(true);
    expect(serves(r, view(1900, 2900))).toBe(true);
    expect(serves(r, view(2100, 3100))).toBe(false);
    expect(serves(r, view(1400, 1600))).toBe(false);
  });
  it('one request at a time; the last wish wins', async () => {
    const answers: ((d: ReadonlyMap<string, CounterData>) => void)[] = [];
    const fetch = vi.fn(
      (_: unknown, signal: AbortSignal) =>
        new Promise<ReadonlyMap<string, CounterData>>((resolve, reject) => {
          answers.push(resolve);
          signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
        }),
    );
    const on_data = vi.fn();
    const on_error = vi.fn();
    const cache = new CounterCache(fetch, on_data, on_error);
    cache.want(view(0, 1000));
    cache.want(view(0, 1000));
    expect(fetch).toHaveBeenCalledTimes(1);
    cache.want(view(1e6, 1e6 + 1000));
    expect(fetch).toHaveBeenCalledTimes(2);
    answers[1]?.(new Map([['c', data([1], [1])]]));
    for (let n = 0; n < 6; n++) await Promise.resolve();
    expect(cache.data.size).toBe(1);
    expect(cache.busy).toBe(false);
    expect(on_error).not.toHaveBeenCalled();
    cache.want(view(1e6, 1e6 + 1000));
    expect(fetch).toHaveBeenCalledTimes(2);
  });
});

describe('busy share over the trace', () => {
  const limits = { start_ns: 0, end_ns: 1024 };
  const px = (n: number): number => n * 256;
  it('adds exact slices and the covered part of runs, at most to full', () => {
    const [tile] = decode_tiles(
      tile_bytes([
        {
          k: 0,
          i: 0,
          group: 0,
          rows: 2,
          slices: [
            { start: 0, end: px(256) },
            { start: px(512), end: px(768), count: 9, busy: 51, kind: 3 },
            { row: 1, start: 0, end: px(128) },
          ],
        },
      ]),
    );
    const { share, hue } = busy_lane([{ tile: tile!, first_row: 0, rows: 2 }], limits, 4);
    expect([...share].map((s) => Math.round(s * 100) / 100)).toEqual([1, 0, 0.2, 0]);
    expect(hue[2]).toBe(3);
  });
  it('looks into steps, which cover all of their time', () => {
    const [tile] = decode_tiles(
      tile_bytes([
        {
          k: 0,
          i: 0,
          group: 0,
          rows: 2,
          slices: [
            { start: 0, end: px(512), name: 1 },
            { start: px(512), end: px(1024), name: 2 },
            { row: 1, start: px(256), end: px(512), name: 3 },
            { row: 1, start: px(600), end: px(700), name: 3 },
          ],
        },
      ]),
    );
    const rows = host_lane_rows(tile!, (name) => name === 1);
    expect([...busy_lane(rows, limits, 4).share]).toEqual([0, 1, 1, 1]);
  });
});
