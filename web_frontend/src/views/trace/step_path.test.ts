import { describe, expect, it, vi } from 'vitest';
import type { CriticalPath, Meta } from '../../api/types';
import type { ViewContext } from '../context';
import { pieces_of, step_in_view, StepPath } from './step_path.svelte';

/** Steps of 100 ns from 1000 on; the second is longer on the device. */
const meta = {
  id: 'x',
  range: { start_ns: 1000, end_ns: 1400 },
  groups: [{ id: 1, section: 'host:1', label: 'Main thread' }],
  steps: [0, 1, 2].map((n) => ({
    name: `ProfilerStep#${n}`,
    index: n,
    synthetic: false,
    incomplete: false,
    host: { start_ns: 1000 + 100 * n, end_ns: 1100 + 100 * n },
    extended: { start_ns: 1000 + 100 * n, end_ns: (n === 1 ? 1150 : 1100) + 100 * n },
  })),
} as unknown as Meta;
const answer = (position: number): CriticalPath => ({
  steps: 3,
  mean_step_ns: 110,
  parts: [{ category: 'op', ns: 110 }],
  step: { position, name: `ProfilerStep#${position}`, start_ns: 1000, end_ns: 1100 },
  path: [
    {
      event: 4,
      group: 1,
      row: 2,
      name: 'a',
      category: 'op',
      lane: 'm',
      start_ns: 1000,
      end_ns: 1060,
      edge: 'host',
    },
    { name: '', category: 'gap', lane: '', start_ns: 1060, end_ns: 1100, edge: 'gap' },
  ],
  what_if: [],
});
const view = (start_ns: number, end_ns: number) => ({ start_ns, end_ns, width_px: 100 });

function made(steps?: string) {
  const get = vi.fn((_: string, ask: { query: { step?: number } }) =>
    Promise.resolve(answer(ask.query.step ?? 1)),
  );
  const on_pieces = vi.fn();
  const on_error = vi.fn();
  const ctx = { api: { get }, meta, steps } as unknown as ViewContext;
  return { path: new StepPath(ctx, { on_pieces, on_error }), get, on_pieces, on_error };
}
const asked = ({ get }: ReturnType<typeof made>): unknown[] => get.mock.calls.map(([, ask]) => ask.query);

describe('the step in view', () => {
  it('is the one in the middle, while no other has as much room', () => {
    expect(step_in_view({ meta }, view(10, 90))).toBe(0);
    expect(step_in_view({ meta }, view(120, 190))).toBe(1);
    expect(step_in_view({ meta }, view(50, 240))).toBe(1);
    expect(step_in_view({ meta }, view(0, 400))).toBeUndefined();
    expect(step_in_view({ meta }, view(380, 390))).toBeUndefined();
  });
});

it('makes pieces from the trace’s start, without a place where no slice is', () => {
  expect(pieces_of(answer(0), { meta })).toEqual([
    { at: { group: 1, row: 2, thread: 'host:1 Main thread' }, start_ns: 0, end_ns: 60 },
    { at: undefined, start_ns: 60, end_ns: 100 },
  ]);
});

describe('a path', () => {
  it('asks for nothing until it is wanted', () => {
    const one = made();
    one.path.follow(view(10, 90));
    expect(one.get).not.toHaveBeenCalled();
  });

  it('of a whole trace is of the step that the server chooses, and is asked for once', async () => {
    const one = made('1-2');
    one.path.set(true, view(0, 400));
    await vi.waitFor(() => expect(one.on_pieces).toHaveBeenCalled());
    one.path.follow(view(0, 390));
    one.path.follow(view(110, 190)); // that very step
    expect(asked(one)).toEqual([{ steps: '1-2' }]);
    expect(one.on_pieces).toHaveBeenCalledTimes(3);
  });

  it('follows to another step, and ends', async () => {
    const one = made();
    one.path.set(true, view(10, 90));
    await vi.waitFor(() => expect(one.path.answer?.step?.position).toBe(0));
    one.path.follow(view(210, 290));
    await vi.waitFor(() => expect(one.path.answer?.step?.position).toBe(2));
    expect(asked(one)).toEqual([{ step: 0 }, { step: 2 }]);
    one.path.set(false, view(210, 290));
    expect(one.on_pieces).toHaveBeenLastCalledWith(undefined);
  });

  it('that failed says so, and is asked for again', async () => {
    const one = made();
    one.get.mockRejectedValueOnce(new Error('no'));
    one.path.set(true, view(10, 90));
    await vi.waitFor(() => expect(one.on_error).toHaveBeenCalledOnce());
    expect(one.path.waiting).toBe(false);
    one.path.follow(view(10, 90));
    await vi.waitFor(() => expect(one.on_pieces).toHaveBeenCalledOnce());
  });
});
