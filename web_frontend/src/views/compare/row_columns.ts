// The table by name, and by place in the program: what stands in each cell, and what CSV gets.
import type { ComparedBlock, ComparedRow } from '../../api/types';
import { measure } from '../../lib/columns';
import { exact, fixed, kNone } from '../../lib/format';
import type { Column } from '../../lib/table';

/** Colour family of a category of the breakdown. */
export const kKinds: Readonly<Record<ComparedRow['category'], string>> = {
  kernel: 'kernel',
  memcpy: 'memcpy',
  memset: 'memset',
  communication: 'comm',
  runtime: 'runtime',
  dataloader: 'loader',
  cpu: 'op',
  other: 'other',
};

export const kMeasures: Readonly<Record<ComparedRow['measure'], string>> = {
  host_self: 'host self',
  device_self: 'device self',
  device: 'device',
  module_host: 'host',
  module_device: 'device',
};

const calls = (value: number): string => fixed(value, Number.isInteger(value) ? 0 : 1);

export const signed = (text: string, value: number): string => (value > 0 ? `+${text}` : text);

/** A difference with its sign; `scale` as of the other columns. */
function delta<Row>(
  rows: readonly Row[],
  id: string,
  title: string,
  value: (row: Row) => number,
): Column<Row> {
  const plain = measure(rows, { id, title, family: 'time', rank: 0, value });
  return {
    ...plain,
    text: (row) => signed(plain.text?.(row) ?? '', value(row)),
    hover: (row) => signed(exact(value(row), 'ns'), value(row)),
  };
}

export function row_columns(
  rows: readonly ComparedRow[],
  fold: (name: string) => string,
): Column<ComparedRow>[] {
  const time = (id: 'a_ns' | 'b_ns', title: string): Column<ComparedRow> =>
    measure(rows, { id, title, family: 'time', width: 84, rank: 4, value: (row) => row[id] });
  const count = (id: 'calls_a' | 'calls_b', title: string): Column<ComparedRow> => ({
    id,
    title,
    kind: 'number',
    width: 76,
    rank: 6,
    value: (row) => row[id],
    text: (row) => calls(row[id]),
    help: 'calls a step',
  });
  return [
    {
      id: 'name',
      title: 'Name',
      kind: 'text',
      width: 220,
      grow: 3,
      rank: 0,
      mono: true,
      custom: true,
      value: (row) => row.name,
      text: (row) => fold(row.name),
      hover: (row) => row.name,
    },
    {
      id: 'measure',
      title: 'Measure',
      kind: 'text',
      width: 88,
      rank: 5,
      value: (row) => kMeasures[row.measure],
    },
    count('calls_a', 'Calls A'),
    count('calls_b', 'Calls B'),
    time('a_ns', 'A'),
    time('b_ns', 'B'),
    {
      ...delta(rows, 'delta', 'Δ', (row) => row.delta_ns),
      width: 200,
      grow: 3,
      custom: true,
      help: 'B − A a step; sorted by size',
    },
    {
      id: 'percent',
      title: 'Δ',
      unit: '%',
      kind: 'number',
      width: 84,
      rank: 3,
      value: (row) => row.delta_pct,
      text: percent_text,
      csv: 'Δ (%)',
    },
  ];
}

export function percent_text(row: ComparedRow): string {
  if (row.event_a === undefined) return 'new';
  if (row.event_b === undefined) return 'vanished';
  return row.delta_pct === undefined ? kNone : signed(fixed(row.delta_pct, 1), row.delta_pct);
}

export function state_text(block: ComparedBlock): string {
  const word =
    block.state === 'matched' ? (block.occurrence > 0 ? `the ${block.occurrence}. call` : '') : block.state;
  return [word, block.count > 1 ? `× ${block.count}` : ''].filter(Boolean).join(' ');
}

export function block_columns(
  blocks: readonly ComparedBlock[],
  fold: (name: string) => string,
): Column<ComparedBlock>[] {
  const time = (id: 'host_a_ns' | 'host_b_ns', title: string): Column<ComparedBlock> =>
    measure(blocks, { id, title, family: 'time', width: 84, rank: 5, value: (block) => block[id] });
  return [
    {
      id: 'name',
      title: 'Where in the step',
      kind: 'text',
      width: 260,
      grow: 4,
      rank: 0,
      mono: true,
      custom: true,
      value: (block) => [...block.path, block.name].join(' › '),
      text: (block) => fold(block.name),
      hover: (block) => [...block.path, block.name].join(' › '),
    },
    { id: 'state', title: 'Calls', kind: 'text', width: 112, rank: 2, value: state_text },
    time('host_a_ns', 'A'),
    time('host_b_ns', 'B'),
    {
      ...delta(blocks, 'delta', 'Δ host', (block) => block.host_delta_ns),
      width: 180,
      grow: 3,
      custom: true,
      help: 'B − A a step, with all calls below',
    },
    {
      ...delta(blocks, 'device', 'Δ device', (block) => block.device_delta_ns),
      width: 108,
      rank: 3,
      help: 'device work that was launched there, B − A a step',
    },
  ];
}

export const row_key = (row: ComparedRow): string => `${row.measure} ${row.category} ${row.name}`;
export const block_key = (block: ComparedBlock): string =>
  `${block.state} ${block.occurrence} ${block.event_a ?? ''} ${block.event_b ?? ''} ${block.name}`;

/** By size of the difference, or as any other table. */
export const by_size = <Row>(rows: readonly Row[], size: (row: Row) => number, descending: boolean): Row[] =>
  [...rows].sort((x, y) => (descending ? -1 : 1) * (Math.abs(size(x)) - Math.abs(size(y))));
