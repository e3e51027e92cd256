import { describe, expect, it } from 'vitest';
import type { Roofline, RooflineRow } from '../../api/types';
import { decades, plotted, radius_of, rate_text, roof_line, scales_of, used_roofs } from './chart';

const row = (more: Partial<RooflineRow>): RooflineRow => ({
  name: 'aten::mm',
  precision: 'fp32',
  calls: 1,
  ns: 1000,
  bound: 'compute',
  ...more,
});
const rows = [
  row({ flops_per_byte: 100, flops_per_s: 5e12 }),
  row({ name: 'aten::copy_', precision: 'vector fp32' }),
];
const roofline: Roofline = {
  host_time: false,
  device: 'x',
  memory_bytes_per_s: 1e12,
  roofs: [
    { precision: 'fp32', flops_per_s: 1e13 },
    { precision: 'fp8', flops_per_s: 1e15 },
  ],
  steps: 1,
  total_ns: 0,
  known_ns: 0,
  roofed_ns: 0,
  far_below_ns: 0,
  far_below_pct: 20,
  left_out: 0,
  rows,
};

describe('the picture of a roofline', () => {
  it('holds the rows whose operations and bytes are known', () => {
    expect(plotted(rows)).toHaveLength(1);
  });

  it('spans whole decades around points and the roofs in use', () => {
    expect(used_roofs(rows, roofline).map(({ precision }) => precision)).toEqual(['fp32']);
    expect(scales_of(plotted(rows), roofline)).toEqual({ x: [0, 3], y: [12, 14] });
    expect(decades([0, 3])).toEqual([0, 1, 2, 3]);
    expect(scales_of([], { ...roofline, roofs: [] }).x).toEqual([-1, 3]);
  });

  it('draws a slope and a ceiling', () => {
    expect(roof_line(1e13, 1e12, { x: [0, 3], y: [12, 14] })).toEqual([
      [0, 12],
      [1, 13],
      [3, 13],
    ]);
    expect(roof_line(1e13, 1e12, { x: [2, 3], y: [12, 14] })).toEqual([
      [2, 13],
      [3, 13],
    ]);
  });

  it('sizes points by time and writes rates', () => {
    expect(radius_of(100, 100)).toBe(16);
    expect(radius_of(0, 0)).toBe(2.5);
    expect(rate_text(62.5e12, 'FLOP/s')).toBe('62.5\u00a0TFLOP/s');
    expect(rate_text(0.25, 'B/s')).toBe('0.25\u00a0B/s');
  });
});
