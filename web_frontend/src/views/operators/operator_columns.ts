// The columns of operators and annotations: what stands in each cell, and what CSV gets.
import type { OperatorRow } from '../../api/types';
import { measure, share } from '../../lib/columns';
import { is_vague } from '../../lib/kinds';
import { shapes_text } from '../../lib/shapes';
import { head_frame } from '../../lib/stacks';
import type { Column } from '../../lib/table';

export type OperatorGroup = 'name' | 'shape' | 'stack';
export type OperatorKind = 'op' | 'annotation';
export type OperatorBars = 'device' | 'host';

export const shapes_of = (row: OperatorRow): string => row.input_shapes ?? '';
export const stack_of = (row: OperatorRow): string => row.stack?.join('\n') ?? '';
export const self_of = (row: OperatorRow, bars: OperatorBars): number =>
  bars === 'device' ? row.device_self_ns : row.host_self_ns;

/** What tells one row of the table from another, and what its filter looks at. */
export function key_of(row: OperatorRow, group: OperatorGroup): string {
  if (group === 'name') return row.name;
  return `${row.name} ${group === 'shape' ? shapes_of(row) : stack_of(row)}`;
}

export interface OperatorColumns {
  readonly kind: OperatorKind;
  readonly group: OperatorGroup;
  readonly bars: OperatorBars;
  /** The trace has device work: else its columns are only shown when asked for. */
  readonly has_device: boolean;
}

export function operator_columns(
  rows: readonly OperatorRow[],
  { kind, group, bars, has_device }: OperatorColumns,
): Column<OperatorRow>[] {
  const name_of = (row: OperatorRow): string => row.name;
  const self_ns = (row: OperatorRow): number => self_of(row, bars);
  const self_total = rows.reduce((sum, row) => sum + self_ns(row), 0);
  const bar = {
    kind: (row: OperatorRow): string => (is_vague(row.name) ? 'other' : kind === 'op' ? 'op' : 'note'),
  };
  const device_self = measure<OperatorRow>(rows, {
    id: 'device_self',
    title: 'Device self',
    family: 'time',
    rank: bars === 'device' ? 1 : 4,
    value: (row) => row.device_self_ns,
    help: 'Time of the device work that it launched itself; streams overlap, so it is a sum',
    ...(bars === 'device' ? { bar, width: 200, grow: 3 } : {}),
  });
  const host_self = measure<OperatorRow>(rows, {
    id: 'host_self',
    title: 'Host self',
    family: 'time',
    rank: bars === 'host' ? 1 : 4,
    value: (row) => row.host_self_ns,
    help: 'Host time in which it, and nothing that it called, was running',
    ...(bars === 'host' ? { bar, width: 200, grow: 3 } : {}),
  });
  const self_share = share<OperatorRow>(self_ns, self_total, {
    csv: bars === 'device' ? 'Share of device self (%)' : 'Share of host self (%)',
    help: bars === 'device' ? 'Share of all device work' : 'Share of all host self time',
  });
  const name: Column<OperatorRow> = {
    id: 'name',
    title: kind === 'op' ? 'Operator' : 'Annotation',
    kind: 'text',
    width: 240,
    grow: 3,
    rank: 0,
    value: name_of,
    hover: name_of,
    mono: true,
  };
  const grouped: Column<OperatorRow>[] =
    group === 'name'
      ? []
      : [
          {
            id: group,
            title: group === 'shape' ? 'Input shapes' : 'Called from',
            kind: 'text',
            width: 200,
            grow: 3,
            rank: 1,
            value: group === 'shape' ? shapes_of : stack_of,
            text:
              group === 'shape'
                ? (row) => shapes_text(row.input_shapes) || '–'
                : (row) => head_frame(row.stack ?? []) || '–',
            hover: group === 'shape' ? shapes_of : stack_of,
            mono: true,
          },
        ];
  const times: Column<OperatorRow>[] = [
    measure<OperatorRow>(rows, {
      id: 'device_total',
      title: 'Device total',
      family: 'time',
      rank: 5,
      value: (row) => row.device_total_ns,
    }),
    measure<OperatorRow>(rows, {
      id: 'host_total',
      title: 'Host total',
      family: 'time',
      rank: 6,
      value: (row) => row.host_total_ns,
    }),
    measure<OperatorRow>(rows, {
      id: 'calls',
      title: 'Calls',
      family: 'count',
      rank: 3,
      width: 72,
      value: (row) => row.calls,
    }),
    measure<OperatorRow>(rows, {
      id: 'device_mean',
      title: 'Mean device',
      family: 'time',
      rank: 7,
      width: 112,
      value: (row) => (row.device_total_ns === 0 ? undefined : row.device_total_ns / Math.max(1, row.calls)),
      help: 'Device total ÷ calls',
    }),
    measure<OperatorRow>(rows, {
      id: 'host_mean',
      title: 'Mean host',
      family: 'time',
      rank: 9,
      width: 104,
      extra: has_device,
      value: (row) => (row.host_total_ns === 0 ? undefined : row.host_total_ns / Math.max(1, row.calls)),
      help: 'Host total ÷ calls',
    }),
    {
      id: 'tensor_cores',
      title: 'Tensor cores',
      kind: 'number',
      width: 100,
      rank: 8,
      extra: !has_device || kind === 'annotation',
      value: (row) => row.tensor_cores,
      text: (row) => (row.device_self_ns === 0 ? '–' : (row.tensor_cores ?? '–')),
      help: 'Whether its kernels ran on tensor cores, as far as their names tell',
    },
  ];
  const usual = (column: Column<OperatorRow>, on: boolean): Column<OperatorRow> =>
    on ? column : { ...column, extra: true };
  const [first, second] = bars === 'device' ? [device_self, host_self] : [host_self, device_self];
  return [
    name,
    ...grouped,
    first,
    self_share,
    ...times.slice(0, 1).map((column) => usual(column, has_device)),
    usual(second, bars === 'device' || has_device),
    ...times.slice(1, 3),
    usual(times[3] as Column<OperatorRow>, has_device),
    ...times.slice(4),
  ];
}
