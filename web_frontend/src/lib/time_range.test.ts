import { expect, it } from 'vitest';
import { format_range, parse_range } from './time_range';

it('takes the shortest exact unit', () => {
  expect(format_range({ t0: 0, t1: 1_500_000_000 })).toBe('0s..1.5s');
  expect(format_range({ t0: -250, t1: 18_912_345 })).toBe('-250ns..18912345ns');
});

it('reads back to the nanosecond, whatever the size', () => {
  let seed = 7;
  for (let i = 0; i < 500; i++) {
    seed = (seed * 48271) % 2147483647;
    const t0 = seed * (i % 5 === 0 ? 1000 : 1);
    const range = { t0, t1: t0 + (seed % 1_000_003) };
    expect(parse_range(format_range(range))).toEqual(range);
  }
});

it('refuses what is no range', () => {
  for (const text of ['', '1ms', '5ms..1ms', '1..2', '1ms..2h', 'xms..2ms', '1e9s..2e9s', '1ms..2ms..3ms']) {
    expect(parse_range(text)).toBeUndefined();
  }
});
