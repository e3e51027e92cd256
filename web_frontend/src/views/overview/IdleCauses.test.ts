import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { Idle } from '../../api/types';
import IdleCauses from './IdleCauses.svelte';

const device = (id: number, loading: number, unknown: number): Idle['devices'][number] => ({
  type: 'cuda',
  id,
  name: '',
  idle_ns: loading + unknown,
  causes: [
    { cause: 'data_loading', ns: loading },
    { cause: 'unknown', ns: unknown },
  ],
  gap_count: 0,
  gaps: [],
});
const shown = (...devices: Idle['devices']) =>
  render(IdleCauses, { idle: { steps: 2, range: { start_ns: 0, end_ns: 1 }, devices }, stepped: true });
const plain = (text: string | null): string => (text ?? '').replace(/\s+/g, ' ').trim();

it('says a step’s idle time by cause, in a table too', () => {
  shown(device(0, 60_000_000, 8_000_000));
  const cells = screen.getAllByRole('cell').map((cell) => plain(cell.textContent));
  expect(cells).toEqual(['30.0 ms', '4.00 ms', '34.0 ms']);
  expect(plain(document.body.textContent)).toContain('data loading 30.00');
});

it('has a row for each device that was idle, and nothing without one', () => {
  const { unmount } = shown(device(0, 10, 20), device(1, 4, 0), device(2, 0, 0));
  expect(screen.getAllByRole('rowheader').map((cell) => cell.textContent)).toEqual(['cuda 0', 'cuda 1']);
  unmount();
  shown(device(2, 0, 0));
  expect(screen.queryByRole('table')).toBeNull();
});
