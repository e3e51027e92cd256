// The least and the largest of any number of values: `Math.max(...values)` fails from some ten thousand on.

export const least = (values: readonly number[], start = Infinity): number =>
  values.reduce((low, value) => (value < low ? value : low), start);

export const largest = (values: readonly number[], start = -Infinity): number =>
  values.reduce((high, value) => (value > high ? value : high), start);
