import { fireEvent, render, screen, within } from '@testing-library/svelte';
import { createRawSnippet } from 'svelte';
import { describe, expect, it, vi } from 'vitest';
import type { Column } from '../lib/table';
import DataTable from './DataTable.svelte';

interface Row {
  name: string;
  total: number;
}
const columns: Column<Row>[] = [
  {
    id: 'name',
    title: 'Kernel',
    kind: 'text',
    width: 200,
    rank: 1,
    value: (row) => row.name,
    hover: (row) => row.name,
  },
  { id: 'total', title: 'Total', unit: 'ms', kind: 'number', width: 90, rank: 2, value: (row) => row.total },
];
const rows: Row[] = [
  { name: '<img src=x onerror=alert(1)>', total: 3 },
  { name: 'b', total: 2 },
  { name: 'c', total: 1 },
];
const detail = createRawSnippet(() => ({ render: () => '<p>the detail</p>' }));
const props = (more: object = {}) => ({
  label: 'Kernels',
  columns,
  rows,
  key: (row: Row) => row.name,
  sort: '-total',
  on_sort: vi.fn(),
  on_open: vi.fn(),
  none: 'nothing',
  detail,
  ...more,
});
const data_rows = (): HTMLElement[] =>
  screen.getAllByRole('row').filter((row) => row.dataset['row'] !== undefined);

describe('DataTable', () => {
  it('shows names as text, whatever they hold', () => {
    const { container } = render(DataTable<Row>, props());
    expect(screen.getByText('<img src=x onerror=alert(1)>')).toBeTruthy();
    expect(container.querySelector('img')).toBeNull();
  });

  it('says how it is sorted, and asks to be sorted otherwise', async () => {
    const given = props();
    render(DataTable<Row>, given);
    const head = screen.getByRole('columnheader', { name: /Total/ });
    expect(head.getAttribute('aria-sort')).toBe('descending');
    await fireEvent.click(within(head).getByRole('button'));
    expect(given.on_sort).toHaveBeenCalledWith('total');
    await fireEvent.click(screen.getByRole('button', { name: 'Kernel' }));
    expect(given.on_sort).toHaveBeenCalledWith('name');
  });

  it('goes through rows by keyboard, one tab stop', async () => {
    const given = props();
    render(DataTable<Row>, given);
    const [first, second, third] = data_rows() as [HTMLElement, HTMLElement, HTMLElement];
    expect(data_rows().map((row) => row.tabIndex)).toEqual([0, -1, -1]);
    first.focus();
    await fireEvent.keyDown(first, { key: 'ArrowDown' });
    await vi.waitFor(() => expect(document.activeElement).toBe(second));
    await fireEvent.keyDown(second, { key: 'End' });
    await vi.waitFor(() => expect(document.activeElement).toBe(third));
    await fireEvent.keyDown(third, { key: 'Enter' });
    expect(given.on_open).toHaveBeenCalledWith('c');
  });

  it('opens a row below itself, and closes it', async () => {
    const given = props({ open: 'b' });
    render(DataTable<Row>, given);
    expect(screen.getByText('the detail')).toBeTruthy();
    const opened = data_rows()[1]!;
    expect(opened.getAttribute('aria-expanded')).toBe('true');
    await fireEvent.click(opened);
    expect(given.on_open).toHaveBeenCalledWith(undefined);
    await fireEvent.keyDown(data_rows()[0]!, { key: 'ArrowRight' });
    expect(given.on_open).toHaveBeenCalledWith('<img src=x onerror=alert(1)>');
  });

  it('says that there is nothing', () => {
    render(DataTable<Row>, props({ rows: [] }));
    expect(screen.getByText('nothing')).toBeTruthy();
  });
});
