import { expect, it } from 'vitest';
import { largest_cost, parts_total } from './breakdown';

const none = {
  kernel_ns: 0,
  memcpy_ns: 0,
  memset_ns: 0,
  communication_ns: 0,
  runtime_ns: 0,
  dataloader_ns: 0,
  cpu_ns: 0,
  other_ns: 0,
};

it('adds up, and names the largest part besides kernels', () => {
  const parts = { ...none, kernel_ns: 100, dataloader_ns: 33, cpu_ns: 13 };
  expect(parts_total(parts)).toBe(146);
  expect(largest_cost(parts)?.title).toBe('DataLoader');
  expect(largest_cost(none)).toBeUndefined();
});
