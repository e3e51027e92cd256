import { expect, it } from 'vitest';
import type { KernelRow } from '../../api/types';
import { figures_of } from './figures';
import { colour_of, kernel_columns } from './kernel_columns';

const row = (name: string, total_ns: number, more: Partial<KernelRow> = {}): KernelRow => ({
  name,
  calls: 2,
  total_ns,
  mean_ns: total_ns / 2,
  min_ns: 1,
  max_ns: total_ns,
  ...more,
});
const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ');

it('weighs the figures by time', () => {
  const rows = [
    row('a', 3_000_000, { tensor_cores: 'yes', occupancy_pct: 20 }),
    row('b', 1_000_000, { tensor_cores: 'unknown', occupancy_pct: 60 }),
  ];
  const figures = figures_of(rows, 4_000_000, 2, true).map(({ value, unit, text }) =>
    plain(`${value} ${unit} ${text}`),
  );
  expect(figures).toEqual([
    '2.00 ms of kernels a step',
    '75.0 %  on tensor cores, unknown for 25.0 %',
    '30.0 %  mean occupancy',
    '75.0 %  of time below 30 % occupancy',
  ]);
});

it('says nothing of occupancy where the file has none', () => {
  expect(figures_of([row('a', 1000, { tensor_cores: 'no' })], 1000, 1, false)).toHaveLength(2);
  expect(figures_of([], 0, 1, false)[0]?.value).toBe('0');
});

it('colours by kind', () => {
  expect(colour_of(row('ncclDevKernel_AllReduce', 1), 'kernels')).toBe('comm');
  expect(colour_of(row('volta_sgemm', 1), 'kernels')).toBe('kernel');
  expect(colour_of(row('Memset (Device)', 1), 'copies')).toBe('memset');
  expect(colour_of(row('Memcpy HtoD (Pageable -> Device)', 1), 'copies')).toBe('memcpy');
});

it('has launch columns only by launch', () => {
  const options = { kind: 'kernels', group: 'launch', fold: (one: KernelRow) => one.name, axis: '' } as const;
  const ids = kernel_columns([row('a', 1)], options).map(({ id }) => id);
  expect(ids).toContain('grid');
  expect(kernel_columns([row('a', 1)], { ...options, group: 'name' }).map(({ id }) => id)).not.toContain(
    'grid',
  );
});
