import { expect, it } from 'vitest';
import { largest, least } from './extent';

it('takes as many values as there are', () => {
  const values = Array.from({ length: 1_000_000 }, (_, i) => i - 7);
  expect([least(values), largest(values)]).toEqual([-7, 999_992]);
  expect([least([], 3), largest([], 3)]).toEqual([3, 3]);
});
