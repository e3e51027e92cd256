import { expect, it } from 'vitest';
import type { ComparedBlock, ComparedRow, Run } from '../../api/types';
import { time_axis } from './axis';
import { levels } from './dots';
import { block_columns, by_size, percent_text, row_columns, state_text } from './row_columns';
import { all_sides, halves, usual_opponent } from './sides';

const span = (id: string, index: number): Run['workers'][number]['spans'][number] => ({
  span: `${index}`,
  index,
  id,
  file: `${id}.json`,
  bytes: 1,
  modified_unix_ms: 1,
  state: 'new',
});
const run = (name: string, ...workers: [string, string[]][]): Run => ({
  name,
  workers: workers.map(([worker, ids]) => ({
    name: worker,
    spans: ids.map((id, i) => span(id, i + 1)),
  })),
});
const plain = (text: string | undefined): string => (text ?? '').replace(/[\u00a0\u202f]/g, ' ');

it('compares with the span before, else the next, else another worker, else another run', () => {
  const sides = all_sides([run('x', ['w0', ['a', 'b', 'c']], ['w1', ['d']]), run('y', ['w0', ['e']])]);
  expect(usual_opponent(sides, 'c')?.id).toBe('b');
  expect(usual_opponent(sides, 'a')?.id).toBe('b');
  expect(usual_opponent(sides, 'd')?.id).toBe('a');
  expect(usual_opponent(sides, 'e')?.id).toBe('a');
  expect(usual_opponent(all_sides([run('x', ['w', ['a']])]), 'a')).toBeUndefined();
  expect(usual_opponent(sides, 'gone')?.id).toBe('a');
});

it('names a trace by what tells it apart', () => {
  const texts = (...runs: Run[]): string[] => all_sides(runs).map(({ text }) => text);
  expect(texts(run('x', ['w', ['a', 'b']]))).toEqual(['span 1', 'span 2']);
  expect(texts(run('x', ['w', ['a']]))).toEqual(['w']);
  expect(texts(run('x', ['w', ['a']]), run('.', ['w', ['b']]))).toEqual(['x', '(log directory)']);
  expect(texts(run('x', ['w0', ['a', 'b']], ['w1', ['c']]))).toEqual(['w0 · span 1', 'w0 · span 2', 'w1']);
});

it('halves a run without its first step, and not a single step', () => {
  expect(halves(0, 6)).toEqual([
    { first: 0, last: 2 },
    { first: 3, last: 5 },
  ]);
  expect(halves(1, 6)).toEqual([
    { first: 1, last: 2 },
    { first: 4, last: 5 },
  ]);
  expect(halves(0, 1)).toBeUndefined();
  expect(halves(0, 0)).toBeUndefined();
});

const row = (name: string, a_ns: number, b_ns: number, more: Partial<ComparedRow> = {}): ComparedRow => ({
  name,
  measure: 'host_self',
  category: 'cpu',
  calls_a: 1,
  calls_b: 1,
  a_ns,
  b_ns,
  delta_ns: b_ns - a_ns,
  ...(a_ns === 0 ? {} : { delta_pct: (100 * (b_ns - a_ns)) / a_ns }),
  event_a: 1,
  event_b: 2,
  ...more,
});

it('never divides by nothing', () => {
  const fresh = row('n', 0, 5);
  delete fresh.event_a;
  const gone = row('g', 5, 0);
  delete gone.event_b;
  expect([fresh, gone, row('z', 0, 5), row('b', 4e6, 3e6), row('c', 3e6, 4e6)].map(percent_text)).toEqual([
    'new',
    'vanished',
    '–',
    '−25.0',
    '+33.3',
  ]);
});

it('writes differences with their sign, in one unit, and orders by size', () => {
  const rows = [row('a', 4e6, 3e6), row('b', 1e6, 9e6, { calls_a: 2.5 }), row('c', 1e6, 1e6)];
  const columns = row_columns(rows, (name) => name);
  const delta = columns.find(({ id }) => id === 'delta');
  expect(rows.map((one) => plain(delta?.text?.(one)))).toEqual(['−1.000', '+8.000', '0']);
  expect(plain(delta?.hover?.(rows[1] ?? row('', 0, 0)))).toBe('+8 000 000 ns');
  expect(columns.find(({ id }) => id === 'calls_a')?.text?.(rows[1] ?? row('', 0, 0))).toBe('2.5');
  expect(by_size(rows, ({ delta_ns }) => delta_ns, true).map(({ name }) => name)).toEqual(['b', 'a', 'c']);
});

it('says what became of a block', () => {
  const block = (more: Partial<ComparedBlock>): ComparedBlock => ({
    state: 'matched',
    name: 'n',
    path: ['layer2'],
    count: 1,
    occurrence: 0,
    host_a_ns: 1,
    host_b_ns: 2,
    host_delta_ns: 1,
    device_a_ns: 0,
    device_b_ns: 0,
    device_delta_ns: 0,
    ...more,
  });
  expect(state_text(block({}))).toBe('');
  expect(state_text(block({ state: 'inserted', count: 12 }))).toBe('inserted × 12');
  expect(state_text(block({ occurrence: 3 }))).toBe('the 3. call');
  const where = block_columns([block({})], (name) => name)[0];
  expect(where?.value(block({}))).toBe('layer2 › n');
});

it('ticks in round numbers of one unit', () => {
  const axis = time_axis(0, 175e6, 7);
  expect(axis.unit).toBe('ms');
  expect(axis.ticks.map(({ text }) => text)).toEqual(['0', '50', '100', '150']);
  expect(time_axis(0.99e6, 1.01e6, 4).ticks.map(({ text }) => text)).toEqual([
    '0.990',
    '0.995',
    '1.000',
    '1.005',
    '1.010',
  ]);
  expect(time_axis(0, 0, 4).ticks.length).toBeLessThan(20);
});

it('stacks dots that would cover each other', () => {
  expect(levels([0, 1, 10], 5)).toEqual([0, 1, 0]);
  expect(levels([1, 1, 1, 1], 5)).toEqual([0, 1, -1, 2]);
});
