// Flat rows with parents as a tree: which of them are in sight, in what order. No recursion: trees may be thousands of levels deep.

export interface Node {
  readonly id: number;
  readonly parent?: number | undefined;
}

export interface Tree<Row extends Node> {
  readonly rows: ReadonlyMap<number, Row>;
  /** By parent's id; of the roots by undefined. */
  readonly children: ReadonlyMap<number | undefined, readonly Row[]>;
}

/** A row whose parent is not among the rows is a root. */
export function make_tree<Row extends Node>(rows: readonly Row[]): Tree<Row> {
  const by_id = new Map(rows.map((row) => [row.id, row]));
  const children = new Map<number | undefined, Row[]>();
  for (const row of rows) {
    const parent = row.parent !== undefined && by_id.has(row.parent) ? row.parent : undefined;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [row]);
    else siblings.push(row);
  }
  return { rows: by_id, children };
}

/** Rows in depth-first order: the children of a row when it is `open`, siblings as `arrange` puts them. */
export function in_sight<Row extends Node>(
  tree: Tree<Row>,
  open: (row: Row) => boolean,
  arrange: (siblings: readonly Row[]) => readonly Row[],
): Row[] {
  const out: Row[] = [];
  const rest = [...arrange(tree.children.get(undefined) ?? [])].reverse();
  for (let row = rest.pop(); row !== undefined; row = rest.pop()) {
    out.push(row);
    const below = tree.children.get(row.id);
    if (below === undefined || !open(row)) continue;
    const arranged = arrange(below);
    for (let i = arranged.length - 1; i >= 0; --i) rest.push(arranged[i] as Row);
  }
  return out;
}

/** Ids of rows to open at first: the largest ones in sight, again and again, while no more than `most` rows come into sight. */
export function first_open<Row extends Node>(
  tree: Tree<Row>,
  most: number,
  value: (row: Row) => number,
): Set<number> {
  const open = new Set<number>();
  const parents = (rows: readonly Row[]): Row[] => rows.filter(({ id }) => tree.children.has(id));
  const roots = tree.children.get(undefined) ?? [];
  let closed = parents(roots);
  let shown = roots.length;
  while (closed.length > 0) {
    const row = closed.reduce((best, one) => (value(one) > value(best) ? one : best));
    const below = tree.children.get(row.id) ?? [];
    closed = closed.filter((one) => one !== row);
    if (shown + below.length > most) continue;
    open.add(row.id);
    shown += below.length;
    closed.push(...parents(below));
  }
  return open;
}

/** `ids` and all that is around them. */
export function with_ancestors<Row extends Node>(tree: Tree<Row>, ids: Iterable<number>): Set<number> {
  const out = new Set<number>();
  for (const id of ids) {
    for (let at: number | undefined = id; at !== undefined && !out.has(at); at = tree.rows.get(at)?.parent) {
      if (!tree.rows.has(at)) break;
      out.add(at);
    }
  }
  return out;
}

/** From the outermost to `id`. */
export function path_to<Row extends Node>(tree: Tree<Row>, id: number): Row[] {
  const path: Row[] = [];
  for (
    let at = tree.rows.get(id);
    at !== undefined;
    at = at.parent === undefined ? undefined : tree.rows.get(at.parent)
  )
    path.push(at);
  return path.reverse();
}
