import { describe, expect, it } from 'vitest';
import { first_open, in_sight, make_tree, path_to, with_ancestors } from './tree';

const rows = [
  { id: 0 },
  { id: 1, parent: 0 },
  { id: 2, parent: 1 },
  { id: 3, parent: 0 },
  { id: 4, parent: 99 },
];
const tree = make_tree(rows);
const ids = (list: readonly { id: number }[]): number[] => list.map(({ id }) => id);
const as_is = <T>(list: readonly T[]): readonly T[] => list;

describe('a tree of flat rows', () => {
  it('shows what is open, depth first', () => {
    expect(ids(in_sight(tree, () => true, as_is))).toEqual([0, 1, 2, 3, 4]);
    expect(ids(in_sight(tree, ({ id }) => id === 0, as_is))).toEqual([0, 1, 3, 4]);
    expect(
      ids(
        in_sight(
          tree,
          () => true,
          (list) => [...list].reverse(),
        ),
      ),
    ).toEqual([4, 0, 3, 1, 2]);
  });

  it('opens the largest while there is room', () => {
    const size = ({ id }: { id: number }): number => 10 - id;
    expect([...first_open(tree, 10, size)]).toEqual([0, 1]);
    expect([...first_open(tree, 4, size)]).toEqual([0]);
    expect([...first_open(tree, 3, size)]).toEqual([]);
  });

  it('knows what is around a row', () => {
    expect([...with_ancestors(tree, [2])]).toEqual([2, 1, 0]);
    expect(ids(path_to(tree, 2))).toEqual([0, 1, 2]);
    expect(path_to(tree, 77)).toEqual([]);
  });

  it('holds any depth', () => {
    const deep = make_tree(
      Array.from({ length: 50000 }, (_, id) => (id === 0 ? { id } : { id, parent: id - 1 })),
    );
    expect(in_sight(deep, () => true, as_is)).toHaveLength(50000);
    expect(path_to(deep, 49999)).toHaveLength(50000);
  });
});
