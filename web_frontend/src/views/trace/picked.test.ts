import { expect, it, vi } from 'vitest';
import type { ViewContext } from '../context';
import { Picked } from './picked.svelte';

const event = { id: 4, name: 'op', kind: 'op', group: 0, row: 0, start_ns: 5, dur_ns: 1, flows: [] };

function made(answer: unknown) {
  const get = vi.fn((_path: string, _options: { readonly signal?: AbortSignal }) => Promise.resolve(answer));
  const ctx = { api: { get }, meta: { id: 'x', range: { start_ns: 0 } }, announce: vi.fn() };
  const events = { on_picked: vi.fn(), on_group: () => Promise.resolve(), on_error: vi.fn() };
  const name_of = (): undefined => undefined;
  const picked = new Picked(ctx as unknown as ViewContext, () => undefined, name_of, events);
  return { picked, get, ...events };
}

it('tells nothing once it was stopped: the address is that of another trace', async () => {
  const { picked, get, on_picked, on_error } = made(event);
  const first = picked.event_by_id(4, { reveal: false });
  picked.stop();
  await first;
  await picked.event_by_id(5, { reveal: false });
  expect(get.mock.calls.map(([, { signal }]) => signal?.aborted)).toEqual([true, true]);
  expect(on_picked).not.toHaveBeenCalled();
  expect(on_error).not.toHaveBeenCalled();
});

it('asks for a neighbour until it is stopped', async () => {
  const { picked, get } = made({ event: { id: 5 } });
  picked.selection = { type: 'event', id: 4, name: '', kind: '', group: 0, row: 0, start_ns: 5, end_ns: 6 };
  expect(await picked.neighbour('next')).toEqual({ id: 5 });
  const late = picked.neighbour('next');
  picked.stop();
  expect(await late).toBeUndefined();
  expect(get.mock.calls.map(([, { signal }]) => signal?.aborted)).toEqual([true, true]);
});
