import { expect, test } from 'vitest';
import { area_place } from './note_places';

test('a range counts from the base, its label from the start of the trace', () => {
  expect(area_place(1_000_000, { start_ns: 500_000.4, end_ns: 2_000_000 })).toEqual({
    place: { kind: 'range', start_ns: 1_500_000, end_ns: 3_000_000 },
    label: '0.500 – 2.000 ms',
  });
});
