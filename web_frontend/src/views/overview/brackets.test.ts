import { describe, expect, it } from 'vitest';
import type { Part } from '../../lib/breakdown';
import { place_brackets, type Ceiling } from './brackets';

const kOrder: readonly Part['key'][] = ['kernel_ns', 'dataloader_ns', 'cpu_ns', 'other_ns'];
const parts = {
  kernel_ns: 60,
  dataloader_ns: 20,
  cpu_ns: 10,
  other_ns: 10,
  memcpy_ns: 0,
  memset_ns: 0,
  communication_ns: 0,
  runtime_ns: 0,
};
const ceiling = (id: string, ns: number, over: Part['key'][], words_px = 10): Ceiling => ({
  id,
  ns,
  over,
  words_px,
});
const place = (...all: Ceiling[]) => place_brackets(kOrder, parts, all, 1000);

describe('over what it would take away', () => {
  it('from the start of what the host does', () => {
    expect(place(ceiling('loading', 15, ['dataloader_ns']))).toEqual([
      { id: 'loading', from: 0.6, to: 0.75, lane: 0, words_at: 600 },
    ]);
  });
  it('to the end of what the device does', () => {
    expect(place(ceiling('slow', 20, ['kernel_ns']))[0]).toMatchObject({
      from: expect.closeTo(0.4),
      to: expect.closeTo(0.6),
    });
  });
  it('over its neighbours where it is longer, and never beyond the bar', () => {
    expect(place(ceiling('small', 30, ['cpu_ns']))[0]).toMatchObject({ from: 0.7, to: 1 });
    expect(place(ceiling('all', 400, ['other_ns']))[0]).toMatchObject({ from: 0, to: 1 });
  });
  it('at the end, if the step has nothing of the kind', () => {
    expect(place(ceiling('copies', 10, ['memcpy_ns']))[0]?.from).toBeCloseTo(0.9);
    expect(place_brackets(['kernel_ns'], parts, [ceiling('x', 6, ['cpu_ns'])], 100)[0]?.from).toBeCloseTo(
      0.9,
    );
  });
});

it('stacks what would cover each other, words included', () => {
  const lanes = place(
    ceiling('a', 20, ['dataloader_ns']),
    ceiling('b', 10, ['dataloader_ns']),
    ceiling('c', 10, ['cpu_ns']),
    ceiling('d', 5, ['kernel_ns'], 300),
  ).map(({ id, lane }) => `${id}${lane}`);
  expect(lanes).toEqual(['a0', 'b1', 'c0', 'd2']);
});

it('keeps words inside the bar, and shows nothing of nothing', () => {
  expect(place(ceiling('z', 5, ['other_ns'], 400))[0]?.words_at).toBe(600);
  expect(place(ceiling('none', 0, ['cpu_ns']))).toEqual([]);
  expect(place_brackets(kOrder, parts, [ceiling('z', 5, ['other_ns'])], 0)).toEqual([]);
});
