import { describe, expect, it } from 'vitest';
import { choose_steps, spread, steps_label } from './steps';

const steps = (...ms: number[]) =>
  ms.map((length, i) => ({
    name: `ProfilerStep#${i + 16}`,
    index: i + 16,
    synthetic: false,
    extended: { start_ns: 0, end_ns: length * 1e6 },
  }));

describe('choose_steps', () => {
  it('sets an odd first step aside, and says that it did', () => {
    const six = steps(171.8, 149.6, 149.8, 149.5, 154.3, 154.5);
    expect(choose_steps(six, undefined)).toEqual({
      range: { first: 1, last: 5 },
      all: false,
      set_aside: true,
    });
  });

  it('keeps an ordinary one, and all of a few', () => {
    expect(choose_steps(steps(150, 149, 151, 150), undefined).all).toBe(true);
    expect(choose_steps(steps(900, 149, 151), undefined).all).toBe(true);
    expect(choose_steps([], undefined).range).toEqual({ first: 0, last: 0 });
  });

  it('does what the user asks, as far as the steps go', () => {
    const four = steps(300, 149, 151, 150);
    expect(choose_steps(four, { first: 0, last: 3 })).toEqual({
      range: { first: 0, last: 3 },
      all: true,
      set_aside: false,
    });
    expect(choose_steps(four, { first: 2, last: 99 }).range).toEqual({ first: 2, last: 3 });
    expect(choose_steps(four, { first: 9, last: 9 }).set_aside).toBe(true);
  });
});

it('labels by the step numbers of the program', () => {
  const six = steps(1, 1, 1, 1, 1, 1);
  expect(steps_label(six, { first: 1, last: 5 })).toBe('steps 17–21');
  expect(steps_label(six, { first: 0, last: 0 })).toBe('step 16');
  expect(steps_label([{ ...six[0]!, synthetic: true }], { first: 0, last: 0 })).toBe('whole recording');
});

it('knows mean and spread', () => {
  expect(spread([2, 4])).toEqual({ mean: 3, sigma: 1 });
  expect(spread([])).toEqual({ mean: 0, sigma: 0 });
});
