import { describe, expect, it } from 'vitest';
import { bars_of, common_axis, ticks_of } from './durations';

describe('a log axis of durations', () => {
  it('holds all rows', () => {
    expect(
      common_axis([{ min_exp: 10, counts: [1] }, undefined, { min_exp: 12, counts: [1, 0, 0, 1] }]),
    ).toEqual({ low: 10, high: 13 });
  });

  it('gives a single value room', () => {
    expect(common_axis([{ min_exp: 10, counts: [5] }])).toEqual({ low: 9, high: 11.25 });
    expect(common_axis([])).toEqual({ low: 10, high: 20 });
  });

  it('is not stretched by an odd duration of nothing', () => {
    const axis = common_axis([
      { min_exp: 0, counts: [500] },
      { min_exp: 12, counts: [2, 0, 0, 0, 0, 0, 0, 9] },
    ]);
    expect(axis).toEqual({ low: 12, high: 14 });
    expect(bars_of({ min_exp: 0, counts: [1] }, axis)[0]?.at).toBe(0);
  });

  it('places buckets', () => {
    const [first, second, ...rest] = bars_of({ min_exp: 11, counts: [2, 0, 4] }, { low: 10, high: 14 });
    expect(first).toEqual({
      at: 0.25,
      width: 0.0625,
      height: 0.5,
      count: 2,
      from_ns: 2048,
      to_ns: 2 ** 11.25,
    });
    expect(second?.at).toBe(0.375);
    expect(rest).toHaveLength(0);
  });

  it('ticks decades, and finer where there are few', () => {
    expect(ticks_of({ low: Math.log2(900), high: Math.log2(2e6) }).map(({ ns }) => ns)).toEqual([
      1e3, 1e4, 1e5, 1e6,
    ]);
    expect(ticks_of({ low: Math.log2(900), high: Math.log2(6000) }).map(({ ns }) => ns)).toEqual([
      1000, 2000, 5000,
    ]);
  });
});
