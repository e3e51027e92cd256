// The columns of modules: what stands in each cell, and what CSV gets. Forward is what runs in a module, backward what the
// autograd engine runs for it later.
import type { ModuleRow, Modules } from '../../api/types';
import { measure, share } from '../../lib/columns';
import type { Column } from '../../lib/table';

export type ModuleBars = 'device' | 'host';

/** Id of the row for what runs in no module. */
export const kNoModule = -1;
export const key_of = (row: ModuleRow): string => `${row.id}`;

export const forward_of = (row: ModuleRow, bars: ModuleBars): number =>
  bars === 'device' ? row.device_total_ns : row.host_total_ns;
export const backward_of = (row: ModuleRow, bars: ModuleBars): number =>
  bars === 'device' ? row.backward_device_total_ns : row.backward_host_total_ns;
/** Forward and backward. */
export const total_of = (row: ModuleRow, bars: ModuleBars): number =>
  forward_of(row, bars) + backward_of(row, bars);
export const self_of = (row: ModuleRow, bars: ModuleBars): number =>
  bars === 'device'
    ? row.device_self_ns + row.backward_device_self_ns
    : row.host_self_ns + row.backward_host_self_ns;

/** What runs in no module, as a row. */
export function no_module_row(modules: Modules): ModuleRow | undefined {
  const { device_ns, host_ns } = modules.no_module;
  if (device_ns === 0 && host_ns === 0) return undefined;
  return {
    id: kNoModule,
    depth: 0,
    name: '(no module)',
    calls: 0,
    operators: 0,
    host_total_ns: host_ns,
    host_self_ns: host_ns,
    device_total_ns: device_ns,
    device_self_ns: device_ns,
    backward_host_total_ns: 0,
    backward_host_self_ns: 0,
    backward_device_total_ns: 0,
    backward_device_self_ns: 0,
  };
}

export function module_columns(
  rows: readonly ModuleRow[],
  {
    bars,
    total,
    has_backward,
    has_flops,
  }: {
    readonly bars: ModuleBars;
    readonly total: number;
    readonly has_backward: boolean;
    readonly has_flops: boolean;
  },
): Column<ModuleRow>[] {
  const word = bars === 'device' ? 'Device' : 'Host';
  const name: Column<ModuleRow> = {
    id: 'name',
    title: 'Module',
    kind: 'text',
    width: 280,
    grow: 3,
    rank: 0,
    value: (row) => row.name,
    hover: (row) => row.name,
    mono: true,
  };
  const column = (
    id: string,
    title: string,
    value: (row: ModuleRow) => number | undefined,
    rank: number,
    more: { extra?: boolean; help?: string; csv_only?: boolean } = {},
  ): Column<ModuleRow> =>
    measure<ModuleRow>(rows, {
      id,
      title,
      family: 'time',
      rank,
      value,
      ...(more.extra === undefined ? {} : { extra: more.extra }),
      ...(more.help === undefined ? {} : { help: more.help }),
    });
  const flops = (row: ModuleRow): number | undefined => {
    const all = (row.flops ?? 0) + (row.backward_flops ?? 0);
    return all === 0 ? undefined : all / 1e9;
  };
  return [
    name,
    measure<ModuleRow>(rows, {
      id: 'total',
      title: word,
      family: 'time',
      rank: 1,
      width: 200,
      grow: 3,
      value: (row) => total_of(row, bars),
      help:
        bars === 'device'
          ? 'Device work of the module and those within, forward and backward; streams overlap, so it is a sum'
          : 'Host time of the module and those within, forward and backward',
      bar: { kind: (row) => (row.id === kNoModule ? 'other' : 'python') },
    }),
    share<ModuleRow>((row) => total_of(row, bars), total, {
      csv: `Share of ${word.toLowerCase()} (%)`,
      help:
        bars === 'device' ? 'Share of all device work' : 'Share of the host time of modules and operators',
    }),
    column('forward', 'Forward', (row) => forward_of(row, bars), 3, {
      extra: !has_backward,
      help: 'What ran in it',
    }),
    column('backward', 'Backward', (row) => (row.id === kNoModule ? undefined : backward_of(row, bars)), 3, {
      extra: !has_backward,
      help: 'Calls of the autograd engine that belong to operators of its forward pass',
    }),
    column('self', 'Self', (row) => self_of(row, bars), 4, {
      help: 'In it, and in no module within; forward and backward',
    }),
    measure<ModuleRow>(rows, {
      id: 'calls',
      title: 'Calls',
      family: 'count',
      rank: 2,
      width: 72,
      value: (row) => (row.calls === 0 ? undefined : row.calls),
    }),
    column('mean', 'Mean', (row) => (row.calls === 0 ? undefined : total_of(row, bars) / row.calls), 5, {
      help: `${word} ÷ calls`,
    }),
    measure<ModuleRow>(rows, {
      id: 'flops',
      title: 'Work',
      family: 'plain',
      rank: 6,
      extra: !has_flops,
      value: flops,
      help: 'Floating point operations, forward and backward, of operators whose inputs were recorded',
    }),
    measure<ModuleRow>(rows, {
      id: 'operators',
      title: 'Operators',
      family: 'count',
      rank: 8,
      width: 88,
      value: (row) => (row.id === kNoModule ? undefined : row.operators),
      help: 'Called by its code or that of modules within, not by other operators',
    }),
    ...(bars === 'device'
      ? [
          column('host_total', 'Host', (row) => row.host_total_ns, 7, { help: 'Host time of its calls' }),
          column('host_self', 'Host self', (row) => row.host_self_ns, 9, { extra: true }),
        ]
      : []),
  ].map((one) => (one.id === 'flops' ? { ...one, unit: 'GFLOP', csv: 'Work (GFLOP)' } : one));
}
