import { expect, it, vi } from 'vitest';
import type { Verdict } from '../../api/types';
import type { ViewContext } from '../context';
import { Tour } from './tour.svelte';

const verdict = (id: Verdict['id'], severity: Verdict['severity'], events: number[]): Verdict => ({
  id,
  severity,
  sentence: '',
  evidence: [],
  advice: '',
  suggestions: [],
  events,
  trust: 'A',
});

function made(sel?: number) {
  const verdicts = [
    verdict('data_loading', 'high', [5, 9, 7]),
    verdict('memory', 'low', []),
    verdict('communication', 'ok', [1]),
  ];
  const get = vi.fn(() => Promise.resolve({ verdicts }));
  const events = { on_events: vi.fn(), on_go: vi.fn(), on_error: vi.fn() };
  const ctx = { api: { get }, meta: { id: 'x' }, steps: undefined, state: { sel } } as unknown as ViewContext;
  return { tour: new Tour(ctx, events), get, ...events };
}

it('goes through the events of a verdict, round and round', async () => {
  const { tour, on_events, on_go } = made(9);
  await tour.follow('data_loading');
  expect([tour.rank, tour.at]).toEqual([1, 1]);
  expect(on_events).toHaveBeenLastCalledWith(new Set([5, 9, 7]));
  tour.go(1);
  tour.go(1);
  tour.go(-1);
  expect(on_go.mock.calls.flat()).toEqual([7, 5, 7]);
  tour.selected(9);
  expect(tour.at).toBe(1);
  tour.selected(1234);
  expect(tour.at).toBe(1);
});

it('asks once, and ends when the address names no verdict', async () => {
  const { tour, get, on_events } = made();
  await tour.follow('memory');
  await tour.follow('memory');
  expect(get).toHaveBeenCalledOnce();
  tour.go(1);
  await tour.follow(undefined);
  expect(tour.verdict).toBeUndefined();
  expect(on_events).toHaveBeenLastCalledWith(new Set());
});

it('asks again after an error', async () => {
  const { tour, get, on_error } = made();
  get.mockImplementationOnce(() => Promise.reject(new Error('lost')));
  await tour.follow('memory');
  expect(on_error).toHaveBeenCalledOnce();
  await tour.follow('memory');
  expect(tour.verdict?.id).toBe('memory');
});

it('has no rank for what does not fire, and nothing for what is unknown', async () => {
  const { tour, on_error } = made();
  await tour.follow('communication');
  expect(tour.rank).toBe(0);
  await tour.follow('thermal');
  expect(tour.verdict).toBeUndefined();
  expect(on_error).not.toHaveBeenCalled();
});
