// The columns of kernels, and of copies and sets: what stands in each cell, and what CSV gets.
import type { KernelRow } from '../../api/types';
import { measure, share } from '../../lib/columns';
import { fixed, kNone } from '../../lib/format';
import { kernel_kind } from '../../lib/kinds';
import { dimensions } from '../../lib/names';
import type { Column } from '../../lib/table';

export type KernelKind = 'kernels' | 'copies';

/** Kind of data, for its colour. */
export function colour_of(row: KernelRow, kind: KernelKind): string {
  if (kind === 'kernels') return kernel_kind(row.name);
  return /memset/i.test(row.name) ? 'memset' : 'memcpy';
}

export interface KernelColumns {
  readonly kind: KernelKind;
  readonly group: 'name' | 'launch';
  /** A kernel's name as people say it. */
  readonly fold: (row: KernelRow) => string;
  /** Both ends of the durations' axis, for its head. */
  readonly axis: string;
}

export function kernel_columns(
  rows: readonly KernelRow[],
  { kind, group, fold, axis }: KernelColumns,
): Column<KernelRow>[] {
  const total = rows.reduce((sum, row) => sum + row.total_ns, 0);
  const text = (
    id: string,
    title: string,
    value: (row: KernelRow) => string | undefined,
    width: number,
  ): Column<KernelRow> => ({
    id,
    title,
    kind: 'text',
    width,
    rank: 4,
    value,
    text: (row) => value(row) ?? kNone,
    hover: value,
    mono: true,
  });
  const by_launch: Column<KernelRow>[] =
    group === 'launch' && kind === 'kernels'
      ? [
          { ...text('operator', 'Operator', (row) => row.operator, 150), grow: 2 },
          text('grid', 'Grid', (row) => dimensions(row.grid), 112),
          text('block', 'Block', (row) => dimensions(row.block), 96),
          measure<KernelRow>(rows, {
            id: 'registers',
            title: 'Registers',
            family: 'count',
            rank: 11,
            width: 80,
            value: (row) => row.registers_per_thread,
          }),
          measure<KernelRow>(rows, {
            id: 'shared',
            title: 'Shared',
            family: 'bytes',
            rank: 12,
            width: 88,
            value: (row) => row.shared_memory_bytes,
          }),
        ]
      : [];
  return [
    {
      id: 'name',
      title: kind === 'kernels' ? 'Kernel' : 'Copy or set',
      kind: 'text',
      width: 240,
      grow: 3,
      rank: 0,
      value: (row) => row.name,
      text: fold,
      hover: (row) => row.name,
      mono: true,
    },
    ...by_launch,
    measure<KernelRow>(rows, {
      id: 'total',
      title: 'Total',
      family: 'time',
      rank: 1,
      width: 170,
      grow: 2,
      value: (row) => row.total_ns,
      bar: { kind: (row) => colour_of(row, kind) },
      help: 'Sum over its launches; streams overlap',
    }),
    share<KernelRow>((row) => row.total_ns, total, { csv: 'Share (%)' }),
    measure<KernelRow>(rows, {
      id: 'calls',
      title: 'Calls',
      family: 'count',
      rank: 3,
      width: 72,
      value: (row) => row.calls,
    }),
    measure<KernelRow>(rows, {
      id: 'mean',
      title: 'Mean',
      family: 'time',
      rank: 5,
      width: 84,
      value: (row) => row.mean_ns,
    }),
    measure<KernelRow>(rows, {
      id: 'min',
      title: 'Min',
      family: 'time',
      rank: 13,
      width: 84,
      extra: true,
      value: (row) => row.min_ns,
    }),
    measure<KernelRow>(rows, {
      id: 'max',
      title: 'Max',
      family: 'time',
      rank: 13,
      width: 84,
      extra: true,
      value: (row) => row.max_ns,
    }),
    {
      id: 'durations',
      title: 'Durations',
      unit: axis,
      kind: 'text',
      width: 156,
      rank: 6,
      custom: true,
      value: (row) => row.max_ns / Math.max(1, row.min_ns),
      csv: 'Longest ÷ shortest',
      help: 'Log axis, the same for every row; sorted by longest ÷ shortest',
    },
    ...(kind === 'copies'
      ? []
      : [
          {
            ...measure<KernelRow>(rows, {
              id: 'blocks',
              title: 'Blocks/SM',
              family: 'plain',
              rank: 8,
              width: 84,
              value: (row) => row.blocks_per_sm,
            }),
            text: (row: KernelRow) => (row.blocks_per_sm === undefined ? kNone : fixed(row.blocks_per_sm, 1)),
          },
          {
            ...measure<KernelRow>(rows, {
              id: 'occupancy',
              title: 'Occupancy',
              family: 'percent',
              rank: 7,
              width: 92,
              value: (row) => row.occupancy_pct,
            }),
            unit: '%',
            text: (row: KernelRow) => (row.occupancy_pct === undefined ? kNone : fixed(row.occupancy_pct, 0)),
            help: 'Estimate by the recorder, weighted by duration',
          },
          {
            id: 'tensor_cores',
            title: 'Tensor cores',
            kind: 'number' as const,
            width: 100,
            rank: 9,
            value: (row: KernelRow) => row.tensor_cores,
            text: (row: KernelRow) => row.tensor_cores ?? kNone,
            help: 'As far as the name tells',
          },
        ]),
  ];
}
