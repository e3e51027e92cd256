import { describe, expect, it } from 'vitest';
import type { DistributedCollective, DistributedRank } from '../../api/types';
import {
  axis_end,
  barred,
  collective_axis,
  collectives_line,
  column_label,
  entered_lines,
  heat,
  kFull,
  step_numbers,
} from './distributed';

const step = (index: number, synthetic = false) => ({
  name: '',
  index,
  synthetic,
  incomplete: false,
  host: { start_ns: 0, end_ns: 1 },
  extended: { start_ns: 0, end_ns: 1 },
});
const rank = (number: number, caused_wait_ns: number): DistributedRank => ({
  rank: number,
  worker: `w${number}`,
  id: '',
  trust: { grade: 'A', sentence: 'nothing lost' },
  clock_ahead_ns: 0,
  tied: true,
  steps: 1,
  starts_ns: number,
  step_ns: 100,
  computation_ns: 0,
  overlap_ns: 0,
  exposed_ns: 0,
  other_ns: 100,
  dataloader_ns: 0,
  collectives: 0,
  wait_ns: 0,
  last: 0,
  caused_wait_ns,
  bytes: 0,
  show: { start_ns: 0, end_ns: 100 },
});
const collective = (over: Partial<DistributedCollective> = {}): DistributedCollective => ({
  number: 1,
  group: '',
  name: 'x',
  op: 'all_to_all',
  group_size: 2,
  ranks: 2,
  transfer_ns: 100,
  wait_ns: 400,
  longest_wait_ns: 400,
  last_rank: 1,
  start_ns: 500,
  end_ns: 1000,
  entered: { row: [0, 1], start_ns: [500, 900], wait_ns: [400, 0] },
  ...over,
});

describe('steps of the run', () => {
  it('goes by number, and says nothing when all are meant', () => {
    const meta = { steps: [step(7), step(8), step(9)] };
    const choice = (first: number, last: number, all = false) => ({
      range: { first, last },
      all,
      set_aside: false,
    });
    expect(step_numbers(meta, choice(1, 2))).toBe('8-9');
    expect(step_numbers(meta, choice(1, 1))).toBe('8');
    expect(step_numbers(meta, choice(0, 2, true))).toBeUndefined();
    expect(step_numbers({ steps: [step(0, true)] }, choice(0, 0))).toBeUndefined();
    expect(step_numbers({ steps: [] }, choice(0, 0))).toBeUndefined();
  });
});

describe('bars', () => {
  it('of many ranks show those that cost the others most', () => {
    const many = Array.from({ length: 40 }, (_, i) => rank(i, i === 33 ? 900 : i < 15 ? 10 : 0));
    const shown = barred(many).map((one) => one.rank);
    expect(shown).toHaveLength(16);
    expect(shown).toContain(33);
    expect(shown).toEqual([...shown].sort((a, b) => a - b));
    expect(barred(many.slice(0, 3))).toHaveLength(3);
    expect(axis_end(many)).toBe(139);
    expect(axis_end([])).toBe(1);
  });
});

describe('heat map', () => {
  const bands = [
    { first: 0, last: 0, label: '1' },
    { first: 1, last: 4, label: '2–5' },
  ];
  it('names its columns', () => {
    const data = {
      heat: { by: 'collective' as const, rows: [], columns: bands, wait_ns: [], last: [] },
      collectives: [collective()],
    };
    expect(column_label(data, 0)).toBe('1 a2a');
    expect(column_label(data, 1)).toBe('2–5');
    expect(column_label(data, 2)).toBe('');
  });
  it('fills by the longest wait', () => {
    expect(heat(0, 10)).toBe(0);
    expect(heat(10, 10)).toBe(1);
    expect(heat(-1, 10)).toBe(0);
    const shares = Array.from({ length: 1001 }, (_, i) => heat(i, 1000));
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.filter((share) => share > 0.66 && share < kFull)).toEqual([]);
    expect(heat(5, 0)).toBe(0);
  });
});

describe('when each rank entered', () => {
  it('is a line a rank on the common axis', () => {
    const row = collective();
    const axis = collective_axis([row]);
    expect(axis).toEqual({ start: 0, end: 1000 });
    const lines = entered_lines(row, axis);
    expect(lines.wait).toBe('M500.0 0.15H900.0V0.85H500.0Z');
    expect(lines.transfer).toBe('M900.0 0.15H1000.0V0.85H900.0ZM900.0 1.15H1000.0V1.85H900.0Z');
  });
  it('survives nothing', () => expect(collective_axis([])).toEqual({ start: 0, end: 1 }));
});

describe('the line beside the collectives', () => {
  const data = { collectives: [collective()], matched: 1, matched_by: 'order' as const, unmatched: 0 };
  it('says how many, over how many, matched how', () => {
    const ranks = [rank(0, 0), rank(1, 0)];
    expect(collectives_line({ ...data, ranks })).toBe('1 matched over 2 ranks by order in their group');
    expect(collectives_line({ ...data, ranks, matched: 900, matched_by: 'sequence' })).toBe(
      'the 1 with the longest wait of 900 matched over 2 ranks by sequence number',
    );
  });
  it('says what a rank alone cannot tell', () => {
    const alone = { ...data, ranks: [rank(34, 0)], matched: 0, matched_by: 'nothing' as const, unmatched: 1 };
    expect(collectives_line(alone)).toMatch(/^1 of rank 34; without the other ranks/);
  });
});
