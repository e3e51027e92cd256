import { render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import type { CriticalPathRanks } from '../../api/types';
import PathRanks from './PathRanks.svelte';
import type { TraceSession } from './session.svelte';

const found: CriticalPathRanks = {
  ranks: 2,
  collectives: 3,
  sentence: 'In 1 of 3 collectives on this path the rank waits for another, 6.00 ms altogether.',
  waits: [
    {
      event: 12,
      name: 'ncclDevKernel_AllReduce',
      ranks: 2,
      wait_ns: 6_000_000,
      late: {
        rank: 1,
        worker: 'host-b',
        id: '0123456789abcdef',
        ns: 6_000_000,
        show: { start_ns: 5, end_ns: 9 },
      },
      longer: [{ category: 'data_loading', own_ns: 0, late_ns: 6_000_000 }],
      sentence: 'Rank 1 comes 6.00 ms later: 6.00 ms of its way are data loading.',
    },
  ],
};

function shown(answer: CriticalPathRanks) {
  const get = vi.fn(() => Promise.resolve(answer));
  const href = vi.fn(() => '#there');
  const session = {
    ctx: { api: { get }, meta: { id: 'abc', generation: 'g' }, steps: '0-2', href },
    select_event: vi.fn(() => Promise.resolve()),
  };
  const props = { session: session as unknown, step: 1 } as { session: TraceSession; step: number };
  render(PathRanks, props);
  return { session, get, href };
}

it('names the rank that was waited for, why it came late, and where that is seen', async () => {
  const { session, get, href } = shown(found);
  await screen.findByText(/Rank 1 comes 6.00 ms later: 6.00 ms of its way are data loading./);
  screen.getByText(found.sentence);
  expect(get).toHaveBeenCalledWith(
    '/api/traces/{id}/critical-path/ranks',
    expect.objectContaining({ path: { id: 'abc' }, query: { steps: '0-2', step: 1 } }),
  );
  screen.getByRole('button', { name: /^6/ }).click();
  expect(session.select_event).toHaveBeenCalledWith(12, { reveal: true });
  expect(screen.getByRole('link', { name: 'Show rank 1' }).getAttribute('href')).toBe('#there');
  expect(href).toHaveBeenCalledWith({ worker: 'host-b', steps: undefined, t: { t0: 5, t1: 9 } });
});

it('says nothing where there is one rank', async () => {
  const { get } = shown({ ...found, ranks: 1, collectives: 0, waits: [], sentence: 'No other rank.' });
  await vi.waitFor(() => expect(get).toHaveBeenCalled());
  expect(screen.queryByText('No other rank.')).toBeNull();
});
