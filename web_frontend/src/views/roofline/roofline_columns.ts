// The columns of the roofline table: what stands in each cell, and what CSV gets.
import type { RooflineRow } from '../../api/types';
import { measure } from '../../lib/columns';
import { kNone } from '../../lib/format';
import { fold_names } from '../../lib/names';
import { shapes_text } from '../../lib/shapes';
import type { Column } from '../../lib/table';

export const key_of = (row: RooflineRow): string => `${row.name} ${row.input_shapes ?? ''} ${row.precision}`;

const kBounds: Readonly<Record<RooflineRow['bound'], string>> = {
  compute: 'compute',
  memory: 'memory',
  neither: 'neither',
  unknown: 'unknown',
};

export function roofline_columns(rows: readonly RooflineRow[], kind: 'op' | 'kernel'): Column<RooflineRow>[] {
  const folded = fold_names(kind === 'kernel' ? rows.map(({ name }) => name) : []);
  const rate = (
    id: string,
    title: string,
    scale: number,
    unit: string,
    value: (row: RooflineRow) => number | undefined,
    rank: number,
    help: string,
  ): Column<RooflineRow> => ({
    ...measure<RooflineRow>(rows, {
      id,
      title,
      family: 'plain',
      rank,
      width: 104,
      value: (row) => {
        const exact = value(row);
        return exact === undefined ? undefined : exact / scale;
      },
      help,
    }),
    unit,
    csv: `${title} (${unit})`,
  });
  return [
    {
      id: 'name',
      title: kind === 'op' ? 'Operator' : 'Kernel',
      kind: 'text',
      width: 200,
      grow: 2,
      rank: 0,
      value: (row) => row.name,
      text: (row) => folded.get(row.name) ?? row.name,
      hover: (row) => row.name,
      mono: true,
    },
    ...(kind === 'op'
      ? [
          {
            id: 'shapes',
            title: 'Input shapes',
            kind: 'text' as const,
            width: 160,
            grow: 2,
            rank: 4,
            value: (row: RooflineRow) => row.input_shapes,
            text: (row: RooflineRow) => shapes_text(row.input_shapes) || kNone,
            hover: (row: RooflineRow) => row.input_shapes,
            mono: true,
          },
        ]
      : []),
    measure<RooflineRow>(rows, {
      id: 'time',
      title: 'Time',
      family: 'time',
      rank: 1,
      width: 180,
      grow: 1,
      value: (row) => row.ns,
      bar: { kind: () => kind },
      help: 'Of the device work of these calls; without a device, of the host',
    }),
    measure<RooflineRow>(rows, {
      id: 'roof',
      title: 'Of roof',
      family: 'percent',
      rank: 1,
      width: 88,
      value: (row) => row.roof_pct,
      help: 'Of what the device can do with this many operations a byte. Over 100 %: data came from a cache, or the algorithm needs fewer operations than the formula (Winograd)',
    }),
    {
      id: 'bound',
      title: 'Bound by',
      kind: 'text',
      width: 88,
      rank: 2,
      value: (row) => kBounds[row.bound],
      help: 'Compute or memory: the roof above it. Neither: it stays below 20 % of that, so something else holds it back',
    },
    rate('flops_per_s', 'Speed', 1e12, 'TFLOP/s', (row) => row.flops_per_s, 3, 'Operations ÷ time'),
    rate(
      'bytes_per_s',
      'Traffic',
      1e9,
      'GB/s',
      (row) => row.bytes_per_s,
      3,
      'Bytes that must move at least ÷ time',
    ),
    rate('intensity', 'Intensity', 1, 'FLOP/B', (row) => row.flops_per_byte, 5, 'Operations ÷ bytes'),
    {
      id: 'precision',
      title: 'Precision',
      kind: 'text',
      width: 96,
      rank: 6,
      value: (row) => row.precision,
      help: 'Whose roof it runs against; fp32 that ran as tf32 is told by the kernel’s name',
    },
    measure<RooflineRow>(rows, {
      id: 'calls',
      title: 'Calls',
      family: 'count',
      rank: 4,
      width: 72,
      value: (row) => row.calls,
    }),
    { ...rate('flops', 'Work', 1e9, 'GFLOP', (row) => row.flops, 8, 'Of all calls'), extra: true },
  ];
}
