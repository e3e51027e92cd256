import { expect, it } from 'vitest';
import { find_names } from './find';

it('ranks exact, then beginnings, then the rest, each in the order given', () => {
  const names = ['aten::addmm', 'aten::mm', 'volta_sgemm', 'mm_kernel', 'aten::bmm'];
  expect(find_names(names, (name) => name, 'MM', 9)).toEqual([
    'aten::mm',
    'mm_kernel',
    'aten::addmm',
    'volta_sgemm',
    'aten::bmm',
  ]);
  expect(find_names(names, (name) => name, 'mm', 2)).toHaveLength(2);
  expect(find_names(names, (name) => name, '  ', 9)).toEqual([]);
});
