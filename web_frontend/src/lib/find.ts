// Ranks names for the find box: an exact name first, then a beginning (also of the part after `::`), then anywhere; ties stay
// in the order given, which is by time.

export interface Found<T> {
  readonly item: T;
  readonly rank: number;
}

export function find_names<T>(
  items: readonly T[],
  name: (item: T) => string,
  query: string,
  most: number,
): T[] {
  const needle = query.trim().toLowerCase();
  if (needle === '') return [];
  const found: Found<T>[] = [];
  for (const item of items) {
    const text = name(item).toLowerCase();
    const at = text.indexOf(needle);
    if (at < 0) continue;
    const starts = at === 0 || /[:\s<_]$/.test(text.slice(0, at));
    found.push({ item, rank: text === needle || text.endsWith(`::${needle}`) ? 0 : starts ? 1 : 2 });
  }
  return found
    .sort((a, b) => a.rank - b.rank)
    .slice(0, most)
    .map(({ item }) => item);
}
