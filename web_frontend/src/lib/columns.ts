// Columns of durations, counts and bytes for any table: text by the column's own scale, full precision on hover and in CSV.
import { column as scale_of, exact, kNone, type Family } from './format';
import type { Column } from './table';

const kExact: Readonly<Record<Family, string>> = {
  time: 'ns',
  bytes: 'bytes',
  count: '',
  percent: '%',
  plain: '',
};

export interface Measure<Row> {
  readonly id: string;
  readonly title: string;
  readonly family: Family;
  readonly value: (row: Row) => number | undefined;
  readonly width?: number;
  readonly grow?: number;
  readonly rank: number;
  readonly extra?: boolean;
  readonly bar?: { readonly kind: (row: Row) => string };
  readonly help?: string;
}

/** `rows`: all that the scale must hold; not only those that a filter left, so that typing does not change the unit. */
export function measure<Row>(rows: readonly Row[], spec: Measure<Row>): Column<Row> {
  const { family, value, bar } = spec;
  const scale = scale_of(
    rows.map((row) => value(row)),
    family,
  );
  const unit = kExact[family];
  const most = rows.reduce((max, row) => Math.max(max, value(row) ?? 0), 0);
  return {
    id: spec.id,
    title: spec.title,
    unit: scale.unit,
    kind: 'number',
    width: spec.width ?? 96,
    ...(spec.grow === undefined ? {} : { grow: spec.grow }),
    rank: spec.rank,
    ...(spec.extra === undefined ? {} : { extra: spec.extra }),
    ...(spec.help === undefined ? {} : { help: spec.help }),
    value,
    text: (row) => scale(value(row)),
    hover: (row) => {
      const exactly = value(row);
      return exactly === undefined || family === 'percent' ? undefined : exact(exactly, unit);
    },
    csv: unit === '' ? spec.title : `${spec.title} (${unit})`,
    ...(bar === undefined
      ? {}
      : { bar: (row: Row) => ({ share: most === 0 ? 0 : (value(row) ?? 0) / most, kind: bar.kind(row) }) }),
  };
}

/** The column beside a measure: what share of `total` a row has. */
export function share<Row>(
  value: (row: Row) => number,
  total: number,
  words: { readonly csv: string; readonly help?: string },
): Column<Row> {
  return {
    id: 'share',
    title: '%',
    kind: 'number',
    width: 56,
    rank: 2,
    value: (row) => (total === 0 ? undefined : (value(row) / total) * 100),
    text: (row) => (total === 0 ? kNone : ((value(row) / total) * 100).toFixed(1)),
    ...words,
  };
}
