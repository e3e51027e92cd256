import { describe, expect, it } from 'vitest';
import { bytes, column, count, exact, fixed, percent, plural, quantity, time } from './format';

/** Spaces of all widths made plain, for reading. */
const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ');

describe('fixed', () => {
  it.each([
    [0, 0, '0'],
    [3090, 0, '3 090'],
    [1234567.86, 1, '1 234 567.9'],
    [999.95, 1, '1 000.0'],
    [-12.5, 1, '\u221212.5'],
    [-0.01, 1, '0.0'],
    [1.005, 2, '1.01'],
    [NaN, 1, 'unknown'],
  ])('%d with %d decimals', (value, decimals, expected) => {
    expect(plain(fixed(value, decimals))).toBe(expected);
  });
});

describe('time and bytes in sentences', () => {
  it.each([
    [0, '0 ns'],
    [87, '87 ns'],
    [1234, '1.23 µs'],
    [999_400, '999 µs'],
    [999_600, '1.00 ms'],
    [151_512_345, '152 ms'],
    [12_345_678_901, '12.3 s'],
    [1_234_567_890_123, '1 235 s'],
    [-1500, '\u22121.50 µs'],
  ])('%d ns', (ns, expected) => {
    expect(plain(time(ns))).toBe(expected);
  });

  it('keeps one more digit when asked', () => {
    expect(plain(time(151_512_345, 4))).toBe('151.5 ms');
  });

  it.each([
    [512, '512 B'],
    [1024, '1.00 KiB'],
    [984_613_888, '939 MiB'],
    [2_093_796_557, '1.95 GiB'],
    [1_073_000_000, '1 023 MiB'],
  ])('%d bytes', (value, expected) => {
    expect(plain(bytes(value))).toBe(expected);
  });

  it('writes counts, percentages and exact values', () => {
    expect(plain(count(8772))).toBe('8 772');
    expect(plain(percent(66.34))).toBe('66.3 %');
    expect(plain(exact(151_512_345, 'ns'))).toBe('151 512 345 ns');
    expect(plain(plural(1, 'step'))).toBe('1 step');
    expect(plain(plural(6, 'step'))).toBe('6 steps');
    expect(quantity(98_500_000, 'time')).toEqual({ value: '98.5', unit: 'ms' });
  });
});

describe('column', () => {
  it('has one unit and fixed decimals, chosen by the largest', () => {
    const scale = column([6_753_000, 587_000, 2000, 0], 'time');
    expect(scale.unit).toBe('ms');
    expect([6_753_000, 587_000, 2000, 0].map(scale)).toEqual(['6.753', '0.587', '0.002', '0']);
  });

  it('never shows a measured value as zero', () => {
    expect(plain(column([80_680_000, 900], 'time')(900))).toBe('< 0.01');
  });

  it('leaves what does not apply as a dash', () => {
    expect(column([1], 'count')(undefined)).toBe('–');
  });

  it('keeps whole bytes and counts whole', () => {
    const scale = column([512, 4], 'bytes');
    expect(scale.unit).toBe('B');
    expect(scale(512)).toBe('512');
    expect(plain(column([3090, 2], 'count')(3090))).toBe('3 090');
  });

  it('stays sane without values', () => {
    expect(column([], 'time')(0)).toBe('0');
    expect(column([undefined], 'percent').unit).toBe('%');
  });
});
