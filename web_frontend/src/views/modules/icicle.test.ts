import { expect, it } from 'vitest';
import { make_tree } from '../../lib/tree';
import { make_icicle, neighbour } from './icicle';

const rows = [
  { id: 0, ns: 100 },
  { id: 1, parent: 0, ns: 30 },
  { id: 3, parent: 0, ns: 1 },
  { id: 2, parent: 0, ns: 50 },
  { id: 4, parent: 2, ns: 20 },
];
const tree = make_tree(rows);
const made = (most: number) => make_icicle(tree, [rows[0]!], 100, (row) => row.ns, { least: 0.02, most });

it('boxes stand below their parents, in the order of their calls', () => {
  const { boxes, levels, deeper } = made(8);
  expect(boxes.map(({ row, level, left, width }) => [row.id, level, left, width])).toEqual([
    [0, 0, 0, 1],
    [1, 1, 0, 0.3],
    [2, 1, 0.3, 0.5],
    [4, 2, 0.3, 0.2],
  ]);
  expect([levels, deeper]).toEqual([3, false]);
  expect(made(2).deeper).toBe(true);
});

it('arrow keys lead to neighbours', () => {
  const { boxes } = made(8);
  expect(neighbour(boxes, 0, 'ArrowDown')).toBe(2);
  expect(neighbour(boxes, 2, 'ArrowLeft')).toBe(1);
  expect(neighbour(boxes, 2, 'ArrowDown')).toBe(3);
  expect(neighbour(boxes, 3, 'ArrowUp')).toBe(2);
  expect(neighbour(boxes, 0, 'ArrowUp')).toBeUndefined();
  expect(neighbour(boxes, 2, 'ArrowRight')).toBeUndefined();
});

it('without time there are no boxes', () => {
  expect(make_icicle(tree, [rows[0]!], 0, () => 0, { least: 0, most: 8 }).boxes).toEqual([]);
});
