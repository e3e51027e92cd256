// The parts of a step in the order of their priority (each instant counts once), with the words and the colour of each.

export const kParts = [
  { key: 'kernel_ns', title: 'Kernel', kind: 'kernel' },
  { key: 'memcpy_ns', title: 'Memcpy', kind: 'memcpy' },
  { key: 'memset_ns', title: 'Memset', kind: 'memset' },
  { key: 'communication_ns', title: 'Communication', kind: 'comm' },
  { key: 'runtime_ns', title: 'Runtime', kind: 'runtime' },
  { key: 'dataloader_ns', title: 'DataLoader', kind: 'loader' },
  { key: 'cpu_ns', title: 'CPU exec', kind: 'op' },
  { key: 'other_ns', title: 'Other', kind: 'other' },
] as const;

export type Part = (typeof kParts)[number];
export type Parts = Readonly<Record<Part['key'], number>>;

export const parts_total = (parts: Parts): number => kParts.reduce((sum, { key }) => sum + parts[key], 0);

/** The largest part that is not the device computing: what a step does besides its work. */
export function largest_cost(parts: Parts): Part | undefined {
  const rest = kParts.filter(({ key }) => key !== 'kernel_ns' && parts[key] > 0);
  return rest.reduce<Part | undefined>(
    (best, part) => (best === undefined || parts[part.key] > parts[best.key] ? part : best),
    undefined,
  );
}
