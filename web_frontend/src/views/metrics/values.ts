// The points of all charts as one table: a row an x, a column a curve. For the table beside the charts and for CSV.
import { to_csv } from '../../lib/csv';
import type { Curve } from './metrics';

export interface ValueRow {
  readonly x: number;
  readonly wall_time: number;
  readonly values: readonly (number | undefined)[];
}

export interface ValueTable {
  /** `tag` or, with several runs, `run: tag`. */
  readonly titles: readonly string[];
  readonly rows: readonly ValueRow[];
}

/** `charts`: the curves of each tag. Points of a restart that are void are left out, as in the sums of the charts. */
export function value_table(charts: readonly { tag: string; curves: readonly Curve[] }[]): ValueTable {
  const several = new Set(charts.flatMap(({ curves }) => curves.map(({ run }) => run))).size > 1;
  const titles: string[] = [];
  const rows = new Map<number, { wall_time: number; values: (number | undefined)[] }>();
  for (const { tag, curves } of charts) {
    for (const { run, series } of curves) {
      const at = titles.push(several ? `${run}: ${tag}` : tag) - 1;
      for (const line of series.lines) {
        if (line.superseded) continue;
        line.x.forEach((x, i) => {
          const row = rows.get(x) ?? { wall_time: line.wall_time[i] ?? 0, values: [] };
          row.values[at] = line.value[i] ?? undefined;
          rows.set(x, row);
        });
      }
    }
  }
  return {
    titles,
    rows: [...rows]
      .map(([x, { wall_time, values }]) => ({
        x,
        wall_time,
        values: titles.map((_, i) => values[i]),
      }))
      .sort((a, b) => a.x - b.x),
  };
}

export function values_csv(table: ValueTable, axis: string): string {
  return to_csv(
    [axis, 'wall_time', ...table.titles],
    table.rows.map((row) => [row.x, row.wall_time, ...row.values]),
  );
}
