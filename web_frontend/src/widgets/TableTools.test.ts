import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import type { Column } from '../lib/table';
import TableTools from './TableTools.svelte';

const columns: Column<number>[] = [
  { id: 'n', title: 'Number', kind: 'number', width: 90, rank: 1, value: (row) => row },
  { id: 'square', title: 'Square', kind: 'number', width: 90, rank: 2, value: (row) => row * row },
];
const props = (more: object = {}) => ({
  filter: '',
  on_filter: vi.fn(),
  error: undefined,
  columns,
  shown: columns,
  on_columns: vi.fn(),
  rows: [1, 2],
  total: 5,
  file: 'numbers',
  announce: vi.fn(),
  ...more,
});

it('filters as one types, and says what is wrong', async () => {
  const given = props();
  const { rerender } = render(TableTools<number>, given);
  expect(screen.getByText('2 of 5 rows')).toBeTruthy();
  await fireEvent.input(screen.getByRole('searchbox'), { target: { value: '/x/' } });
  expect(given.on_filter).toHaveBeenCalledWith('/x/');
  await rerender(props({ error: 'no regular expression' }));
  expect(screen.getByRole('searchbox').getAttribute('aria-invalid')).toBe('true');
  expect(screen.getByText('no regular expression')).toBeTruthy();
});

it('copies what is shown', async () => {
  const write = vi.fn(() => Promise.resolve());
  vi.stubGlobal('navigator', { clipboard: { writeText: write } });
  const given = props({ shown: [columns[1]!] });
  render(TableTools<number>, given);
  await fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
  expect(write).toHaveBeenCalledWith('Square\r\n1\r\n4\r\n');
  await vi.waitFor(() => expect(given.announce).toHaveBeenCalledWith('2 rows copied as CSV'));
  vi.unstubAllGlobals();
});

it('chooses columns, never none', async () => {
  const given = props({ shown: [columns[0]!] });
  render(TableTools<number>, given);
  await fireEvent.click(screen.getByRole('button', { name: 'Columns 1 of 2' }));
  await fireEvent.click(screen.getByRole('checkbox', { name: /Square/ }));
  expect(given.on_columns).toHaveBeenCalledWith(['n', 'square']);
  given.on_columns.mockClear();
  await fireEvent.click(screen.getByRole('checkbox', { name: /Number/ }));
  expect(given.on_columns).not.toHaveBeenCalled();
});
