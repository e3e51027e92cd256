// The few figures above the kernel table, weighted by time.
import type { KernelRow } from '../../api/types';
import { percent, quantity } from '../../lib/format';

export interface Figure {
  readonly value: string;
  readonly unit: string;
  readonly text: string;
  readonly estimate: boolean;
}

/** `steps`: how many the rows cover; `stepped`: whether they are steps of the program at all. */
export function figures_of(
  kernels: readonly KernelRow[],
  kernel_ns: number,
  steps: number,
  stepped: boolean,
): Figure[] {
  const weigh = (pick: (row: KernelRow) => number | undefined): { sum: number; weight: number } =>
    kernels.reduce(
      (all, row) => {
        const value = pick(row);
        return value === undefined
          ? all
          : { sum: all.sum + value * row.total_ns, weight: all.weight + row.total_ns };
      },
      { sum: 0, weight: 0 },
    );
  const occupancy = weigh((row) => row.occupancy_pct);
  const low = weigh((row) => (row.occupancy_pct === undefined ? undefined : row.occupancy_pct < 30 ? 1 : 0));
  const tensor = weigh((row) => (row.tensor_cores === 'yes' ? 1 : 0));
  const unknown = weigh((row) => (row.tensor_cores === 'unknown' ? 1 : 0));
  const each = quantity(kernel_ns / steps, 'time');
  const share = (part: { sum: number; weight: number }): string =>
    percent((part.sum / Math.max(1, part.weight)) * 100);
  const list = [
    {
      value: each.value,
      unit: each.unit,
      text: stepped ? 'of kernels a step' : 'of kernels',
      estimate: false,
    },
  ];
  list.push({
    value: share(tensor),
    unit: '',
    text: unknown.sum > 0 ? `on tensor cores, unknown for ${share(unknown)}` : 'on tensor cores',
    estimate: false,
  });
  if (occupancy.weight > 0) {
    list.push({
      value: percent(occupancy.sum / occupancy.weight),
      unit: '',
      text: 'mean occupancy',
      estimate: true,
    });
    list.push({ value: share(low), unit: '', text: 'of time below 30\u202f% occupancy', estimate: false });
  }
  return list;
}
