// The logic of a table, without its looks: which columns fit, the order of rows, and the CSV of exactly what is shown.
import { to_csv, type Cell } from './csv';

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  readonly unit?: string;
  readonly kind: 'text' | 'number';
  /** Least width in px. */
  readonly width: number;
  /** Share of the room that is left; absent: the column keeps its width. */
  readonly grow?: number;
  /** 1 stays longest when room is short. */
  readonly rank: number;
  /** Not shown unless chosen. */
  readonly extra?: boolean;
  /** What is sorted by and what CSV gets: full precision. undefined: does not apply, sorts last. */
  readonly value: (row: Row) => number | string | undefined;
  /** What the cell shows, if not the value. */
  readonly text?: (row: Row) => string;
  readonly hover?: (row: Row) => string | undefined;
  readonly mono?: boolean;
  /** Head of the CSV column, with its unit. */
  readonly csv?: string;
  /** Share and kind of a bar that fills the rest of the cell. */
  readonly bar?: (row: Row) => { readonly share: number; readonly kind: string };
  /** Drawn by the table's owner. */
  readonly custom?: boolean;
  /** Explanation of the head. */
  readonly help?: string;
}

/** What a table must know of rows that are a tree. */
export interface TreeRows<Row> {
  /** From 1. */
  readonly level: (row: Row) => number;
  /** Whether its children are shown; undefined: it has none. */
  readonly open: (row: Row) => boolean | undefined;
  readonly toggle: (row: Row) => void;
}

/** `-total` is descending, `total` ascending. */
export interface Sort {
  readonly id: string;
  readonly descending: boolean;
}

export const parse_sort = (text: string): Sort =>
  text.startsWith('-') ? { id: text.slice(1), descending: true } : { id: text, descending: false };

/** A click on a head: numbers start with the largest, words with the first; a second click turns round. */
export function next_sort<Row>(column: Column<Row>, now: Sort): string {
  const descending = now.id === column.id ? !now.descending : column.kind === 'number';
  return `${descending ? '-' : ''}${column.id}`;
}

/** Sorted copy; equal rows keep their order, and what does not apply stays at the end either way. */
export function sort_rows<Row>(
  rows: readonly Row[],
  column: Column<Row> | undefined,
  descending: boolean,
): Row[] {
  if (column === undefined) return [...rows];
  const sign = descending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: column.value(row) }));
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined)
      return Number(a.key === undefined) - Number(b.key === undefined);
    if (typeof a.key === 'number' && typeof b.key === 'number') return sign * (a.key - b.key);
    return sign * String(a.key).localeCompare(String(b.key), undefined, { numeric: true });
  });
  return keyed.map(({ row }) => row);
}

/** The rows that a filter leaves, in the order that `sort` asks for. */
export function arranged<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: string,
  matches: (row: Row) => boolean,
): readonly Row[] {
  const order = parse_sort(sort);
  const column = columns.find(({ id }) => id === order.id);
  return sort_rows(rows.filter(matches), column, order.descending);
}

/** The columns to show: those chosen, in the table's order; else the usual ones, the least important left out where they do not fit. */
export function fitting<Row>(
  columns: readonly Column<Row>[],
  chosen: readonly string[] | undefined,
  room: number,
): readonly Column<Row>[] {
  if (chosen !== undefined) {
    const picked = columns.filter(({ id }) => chosen.includes(id));
    if (picked.length > 0) return picked;
  }
  let shown = columns.filter(({ extra }) => extra !== true);
  const width = (): number => shown.reduce((sum, column) => sum + column.width, 0);
  while (room > 0 && shown.length > 2 && width() > room) {
    const last = shown.reduce((worst, column) => (column.rank >= worst.rank ? column : worst));
    shown = shown.filter((column) => column !== last);
  }
  return shown;
}

export const grid_template = <Row>(columns: readonly Column<Row>[]): string =>
  columns
    .map(({ width, grow }) => (grow === undefined ? `${width}px` : `minmax(${width}px, ${grow}fr)`))
    .join(' ');

export function table_csv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = (row: Row): Cell[] => columns.map((column) => column.value(row));
  return to_csv(
    columns.map((column) => column.csv ?? column.title),
    rows.map(cells),
  );
}
