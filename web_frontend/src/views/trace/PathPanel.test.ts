import { render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import type { CriticalPath } from '../../api/types';
import PathPanel from './PathPanel.svelte';
import type { TraceSession } from './session.svelte';

const answer: CriticalPath = {
  steps: 2,
  mean_step_ns: 1_000_000,
  parts: [
    { category: 'kernel', ns: 600_000 },
    { category: 'gap', ns: 400_000 },
  ],
  step: { position: 0, name: 'ProfilerStep#4', start_ns: 1000, end_ns: 1_001_000 },
  path: [
    {
      event: 7,
      group: 1,
      row: 0,
      name: 'gemm',
      category: 'kernel',
      lane: 'stream 7',
      start_ns: 1000,
      end_ns: 601_000,
      edge: 'launch',
    },
    { name: '', category: 'gap', lane: '', start_ns: 601_000, end_ns: 1_001_000, edge: 'gap' },
  ],
  what_if: [
    { name: 'gemm', kind: 'kernel', ns_on_path: 600_000, gain_2x_ns: 300_000, event: 7 },
    { name: '', kind: 'gap', ns_on_path: 400_000, gain_2x_ns: 0 },
  ],
};
function shown(path: Partial<TraceSession['path']>) {
  const session = {
    ctx: { meta: { world_size: 1 } },
    path: { on: true, waiting: false, ...path },
    view: { start_ns: 0, end_ns: 700_000, width_px: 100 },
    origin: 1000,
    event: undefined,
    select_event: vi.fn(() => Promise.resolve()),
    show_range: vi.fn(),
  };
  const props = { session: session as unknown } as { session: TraceSession };
  render(PathPanel, props);
  return session;
}
const rows = (): string[] =>
  screen
    .getAllByRole('row')
    .slice(1)
    .map((row) => [...row.children].map((cell) => cell.textContent.replace(/\s+/g, ' ').trim()).join(' '));

it('says what a step is made of, by name with what halving gains, largest first', () => {
  const session = shown({ answer });
  screen.getByRole('heading', { name: /Critical path of step 4/ });
  expect(rows()).toEqual(['gemm 600.0 60.0 % ≤ 300.0', 'no cause known 400.0 40.0 % 0']);
  screen.getByRole('button', { name: 'gemm' }).click();
  expect(session.select_event).toHaveBeenCalledWith(7, { reveal: true });
  screen.getByRole('button', { name: 'Fit step' }).click();
  expect(session.show_range).toHaveBeenCalledWith(0, 1_000_000);
});

it('lists the pieces in view with why each began', async () => {
  shown({ answer });
  screen.getByRole('radio', { name: 'in time' }).click();
  await vi.waitFor(() => screen.getByRole('columnheader', { name: 'Began because of' }));
  expect(rows()).toEqual([
    '0.00000 600 µs gemm stream 7 launched',
    '0.60000 400 µs no cause known  not known',
  ]);
});

it('says that it waits, and that there is nothing', () => {
  shown({ waiting: true });
  screen.getByText(/Walking the step back/);
});

it('says that a range has nothing to walk along', () => {
  const none: CriticalPath = { ...answer, path: [], parts: [], what_if: [] };
  delete none.step;
  shown({ answer: none });
  screen.getByText(/nothing to walk along/);
});
