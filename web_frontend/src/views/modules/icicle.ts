// Where the boxes of an icicle stand: time runs along x, depth down; a box is as wide as its total, its children share that
// width in the order in which they were first called, and what is left is its own.
import type { Node, Tree } from '../../lib/tree';

export interface Box<Row> {
  readonly row: Row;
  readonly level: number;
  /** Of the whole width. */
  readonly left: number;
  readonly width: number;
}

export interface Icicle<Row> {
  readonly boxes: readonly Box<Row>[];
  readonly levels: number;
  /** There is more below the last level that is shown. */
  readonly deeper: boolean;
}

/** `tops`: the boxes of the first level. Boxes narrower than `least` of the width and levels from `most` on are left out. */
export function make_icicle<Row extends Node>(
  tree: Tree<Row>,
  tops: readonly Row[],
  total: number,
  value: (row: Row) => number,
  { least, most }: { readonly least: number; readonly most: number },
): Icicle<Row> {
  const boxes: Box<Row>[] = [];
  let levels = 0;
  let deeper = false;
  let open: { readonly rows: readonly Row[]; readonly left: number }[] = [{ rows: tops, left: 0 }];
  for (let level = 0; open.length > 0; ++level) {
    if (level === most) {
      deeper = true;
      break;
    }
    const next: typeof open = [];
    for (const { rows, left } of open) {
      let at = left;
      for (const row of rows) {
        const width = total > 0 ? value(row) / total : 0;
        if (width >= least && width > 0) {
          boxes.push({ row, level, left: at, width });
          levels = level + 1;
          const below = tree.children.get(row.id);
          if (below !== undefined) {
            next.push({ rows: [...below].sort((a, b) => a.id - b.id), left: at });
          }
        }
        at += width;
      }
    }
    open = next;
  }
  return { boxes, levels, deeper };
}

/** The box that an arrow key leads to. */
export function neighbour<Row extends Node>(
  boxes: readonly Box<Row>[],
  from: number,
  key: string,
): number | undefined {
  const at = boxes[from];
  if (at === undefined) return undefined;
  const middle = at.left + at.width / 2;
  const on = (level: number): number[] => boxes.flatMap((box, i) => (box.level === level ? [i] : []));
  const inside = (outer: Box<Row>, inner: Box<Row>): boolean =>
    inner.left >= outer.left - 1e-9 && inner.left + inner.width <= outer.left + outer.width + 1e-9;
  if (key === 'ArrowUp') {
    return on(at.level - 1).find((i) => {
      const box = boxes[i];
      return box !== undefined && box.left <= middle && middle <= box.left + box.width;
    });
  }
  if (key === 'ArrowDown') {
    const below = on(at.level + 1).filter((i) => inside(at, boxes[i] as Box<Row>));
    return below.reduce<number | undefined>(
      (best, i) => (best === undefined || (boxes[i]?.width ?? 0) > (boxes[best]?.width ?? 0) ? i : best),
      undefined,
    );
  }
  const row = on(at.level);
  const place = row.indexOf(from);
  if (key === 'ArrowRight') return row[place + 1];
  if (key === 'ArrowLeft') return row[place - 1];
  return undefined;
}
