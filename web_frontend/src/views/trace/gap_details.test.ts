import { expect, it } from 'vitest';
import type { Idle } from '../../api/types';
import { why_idle } from './gap_details';

const piece = (start_ns: number, end_ns: number): Idle['devices'][number]['gaps'][number] => ({
  start_ns,
  end_ns,
  cause: 'data_loading',
  blame_name: 'next',
});
const idle = (gap_count = 3): Idle => ({
  steps: 1,
  range: { start_ns: 100, end_ns: 1000 },
  devices: [
    {
      type: 'cuda',
      id: 0,
      name: '',
      idle_ns: 100,
      causes: [{ cause: 'data_loading', ns: 100 }],
      gap_count,
      gaps: [piece(200, 210), piece(210, 260), piece(600, 640)],
    },
  ],
});

it('finds the pieces of a gap, the longest first', () => {
  expect(why_idle(idle(), 'device:0', 195, 300).pieces.map((one) => one.start_ns)).toEqual([210, 200]);
});

it('says why there are none', () => {
  expect(why_idle(idle(), 'device:1', 195, 300).none).toMatch(/not explained/);
  expect(why_idle(idle(), 'device:0', 0, 100).none).toMatch(/outside/);
  expect(why_idle(idle(), 'device:0', 700, 800).none).toMatch(/another stream/);
  expect(why_idle(idle(900), 'device:0', 700, 800).none).toBe('only the 3 longest of 900 are explained');
});
