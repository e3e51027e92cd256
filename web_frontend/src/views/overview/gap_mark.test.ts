import { expect, it } from 'vitest';
import type { Idle } from '../../api/types';
import { gap_mark } from './gap_mark';
import { verdict } from './verdict_fixture';

const gap = (start_ns: number, end_ns: number, cause: Idle['devices'][number]['gaps'][number]['cause']) => ({
  start_ns,
  end_ns,
  cause,
  blame_name: '',
});
const idle: Idle = {
  steps: 1,
  range: { start_ns: 0, end_ns: 100 },
  devices: [
    {
      type: 'cuda',
      id: 0,
      name: '',
      idle_ns: 60,
      causes: [],
      gap_count: 3,
      gaps: [gap(0, 10, 'data_loading'), gap(10, 40, 'launch'), gap(60, 80, 'unknown')],
    },
    {
      type: 'cuda',
      id: 1,
      name: '',
      idle_ns: 40,
      causes: [],
      gap_count: 1,
      gaps: [gap(0, 40, 'data_loading')],
    },
  ],
};

it('is the number of the verdict that explains most of a gap', () => {
  const mark = gap_mark(idle, [verdict('data_loading'), verdict('small_kernels')]);
  expect(mark({ start_ns: 0, end_ns: 40 }, 'device:0')).toBe('2');
  expect(mark({ start_ns: 0, end_ns: 10 }, 'device:0')).toBe('1');
});

it('is nothing where the cause is not known, its verdict does not fire, or nothing is', () => {
  const mark = gap_mark(idle, [verdict('data_loading')]);
  expect(mark({ start_ns: 60, end_ns: 80 }, 'device:0')).toBe('');
  expect(mark({ start_ns: 10, end_ns: 40 }, 'device:0')).toBe('');
  expect(mark({ start_ns: 90, end_ns: 95 }, 'device:0')).toBe('');
  expect(gap_mark(undefined, [])({ start_ns: 0, end_ns: 10 }, 'device:0')).toBe('');
});

it('is of the device that is shown alone', () => {
  const mark = gap_mark(idle, [verdict('data_loading'), verdict('small_kernels')]);
  expect(mark({ start_ns: 0, end_ns: 40 }, 'device:1')).toBe('1');
  expect(mark({ start_ns: 60, end_ns: 80 }, 'device:1')).toBe('');
  expect(mark({ start_ns: 0, end_ns: 40 }, 'device:2')).toBe('');
});
