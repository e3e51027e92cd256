import { describe, expect, it } from 'vitest';
import { fitting, grid_template, next_sort, parse_sort, sort_rows, table_csv, type Column } from './table';

interface Row {
  name: string;
  total: number | undefined;
}
const name: Column<Row> = {
  id: 'name',
  title: 'Kernel',
  kind: 'text',
  width: 200,
  grow: 2,
  rank: 1,
  value: (row) => row.name,
};
const total: Column<Row> = {
  id: 'total',
  title: 'Total',
  kind: 'number',
  width: 100,
  rank: 2,
  csv: 'Total (ns)',
  value: (row) => row.total,
};
const mean: Column<Row> = { ...total, id: 'mean', rank: 3 };
const spare: Column<Row> = { ...total, id: 'spare', rank: 4, extra: true };
const rows: Row[] = [
  { name: 'b', total: 1 },
  { name: 'a10', total: undefined },
  { name: 'a9', total: 3 },
  { name: 'c', total: 1 },
];
const names = (sorted: Row[]): string[] => sorted.map((row) => row.name);

describe('sorting', () => {
  it('keeps ties in order and what does not apply at the end', () => {
    expect(names(sort_rows(rows, total, true))).toEqual(['a9', 'b', 'c', 'a10']);
    expect(names(sort_rows(rows, total, false))).toEqual(['b', 'c', 'a9', 'a10']);
    expect(names(sort_rows(rows, name, false))).toEqual(['a9', 'a10', 'b', 'c']);
    expect(names(sort_rows(rows, undefined, true))).toEqual(names(rows));
  });

  it('turns round on a second click', () => {
    expect(parse_sort('-total')).toEqual({ id: 'total', descending: true });
    expect(next_sort(total, parse_sort('name'))).toBe('-total');
    expect(next_sort(total, parse_sort('-total'))).toBe('total');
    expect(next_sort(name, parse_sort('-total'))).toBe('name');
  });
});

describe('columns', () => {
  const all = [name, total, mean, spare];
  const ids = (columns: readonly Column<Row>[]): string[] => columns.map(({ id }) => id);

  it('drops the least important where room is short', () => {
    expect(ids(fitting(all, undefined, 1000))).toEqual(['name', 'total', 'mean']);
    expect(ids(fitting(all, undefined, 350))).toEqual(['name', 'total']);
    expect(ids(fitting(all, undefined, 10))).toEqual(['name', 'total']);
  });

  it('shows what was chosen, in the order of the table', () => {
    expect(ids(fitting(all, ['spare', 'name'], 10))).toEqual(['name', 'spare']);
    expect(ids(fitting(all, ['gone'], 1000))).toEqual(['name', 'total', 'mean']);
  });

  it('makes a grid of them', () => {
    expect(grid_template([name, total])).toBe('minmax(200px, 2fr) 100px');
  });
});

it('exports exactly the columns and rows shown', () => {
  expect(table_csv([name, total], sort_rows(rows, total, true))).toBe(
    'Kernel,Total (ns)\r\na9,3\r\nb,1\r\nc,1\r\na10,\r\n',
  );
});
