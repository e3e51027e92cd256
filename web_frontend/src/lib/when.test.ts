import { describe, expect, test } from 'vitest';
import { exactly, when } from './when';

const kNow = Date.UTC(2026, 10, 30, 12, 0, 0);

describe('when', () => {
  test.each([
    [kNow, 'just now'],
    [kNow + 5000, 'just now'], // a clock that is a little behind
    [kNow - 59_999, 'just now'],
    [kNow - 60_000, '1 min ago'],
    [kNow - 3_599_999, '59 min ago'],
    [kNow - 3_600_000, '1 h ago'],
    [kNow - 86_400_000, '2026-11-29'],
  ])('%d', (at, words) => expect(when(at, kNow)).toBe(words));
  test('exactly', () => expect(exactly(kNow)).toBe('2026-11-30 12:00:00 UTC'));
});
