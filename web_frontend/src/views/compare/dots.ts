// Where the dots of a row stand: at their value, above and below the line where they would cover each other.

/** Level of each value: 0, 1, -1, 2, … in the order given. `reach`: least distance of neighbours of one level. */
export function levels(values: readonly number[], reach: number): readonly number[] {
  const order = values.map((_, i) => i).sort((i, j) => (values[i] ?? 0) - (values[j] ?? 0));
  const ends = new Map<number, number>();
  const out = values.map(() => 0);
  for (const i of order) {
    const value = values[i] ?? 0;
    let level = 0;
    while ((ends.get(level) ?? -Infinity) > value - reach && Math.abs(level) < 3) {
      level = level > 0 ? -level : 1 - level;
    }
    ends.set(level, value);
    out[i] = level;
  }
  return out;
}
