import { describe, expect, it } from 'vitest';
import { group_blocks, life_of, median } from './lives';

const range = { t0: 100, t1: 200 };

describe('blocks', () => {
  it('live within the range', () => {
    expect(life_of({ bytes: 1, operator: 'a', allocated_ns: 120, freed_ns: 150 }, range)).toEqual({
      from: 120,
      to: 150,
    });
    expect(life_of({ bytes: 1, operator: 'a', allocated_ns: 50, freed_ns: 500 }, range)).toEqual({
      from: 100,
      to: 200,
    });
    expect(life_of({ bytes: 1, operator: 'a' }, range)).toEqual({ from: 100, to: 200 });
    expect(life_of({ bytes: 1, operator: 'a', allocated_ns: 300, freed_ns: 400 }, range)).toEqual({
      from: 200,
      to: 200,
    });
  });

  it('group by owner and size', () => {
    const groups = group_blocks(
      [
        { bytes: 8, operator: 'a', allocated_ns: 110, freed_ns: 120 },
        { bytes: 8, operator: 'a', allocated_ns: 130, freed_ns: 160 },
        { bytes: 8, operator: 'b', freed_ns: 160 },
        { bytes: 4, operator: 'a', allocated_ns: 110 },
      ],
      range,
    );
    expect(
      groups.map(({ operator, bytes, blocks, total_bytes, median_life_ns, before }) => [
        operator,
        bytes,
        blocks,
        total_bytes,
        median_life_ns,
        before,
      ]),
    ).toEqual([
      ['a', 8, 2, 16, 10, 0],
      ['b', 8, 1, 8, undefined, 1],
      ['a', 4, 1, 4, undefined, 0],
    ]);
  });
});

it('median is a value that is there', () => {
  expect(median([])).toBeUndefined();
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1])).toBe(1);
});
