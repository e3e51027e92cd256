import { expect, it } from 'vitest';
import { shapes_text } from './shapes';

it.each([
  ['[[16, 16, 559, 64], [1, 1, 559, 64], [], []]', '16×16×559×64, 1×1×559×64'],
  ['[[1024],[],[16]]', '1024, ·, 16'],
  ['[[], []]', ''],
  ['[[[2, 3], [4, 5]], []]', '(2×3, 4×5)'],
  ['["", [2]]', '·, 2'],
  ['not json', 'not json'],
  ['7', '7'],
  ['', ''],
  [undefined, ''],
])('%s', (json, expected) => {
  expect(shapes_text(json)).toBe(expected);
});
