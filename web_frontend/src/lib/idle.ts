// Causes of a device's idleness in words and colours.
interface Cause {
  readonly title: string;
  readonly kind: string;
}

const kCauses: Readonly<Record<string, Cause>> = {
  data_loading: { title: 'data loading', kind: 'loader' },
  synchronization: { title: 'synchronisation', kind: 'runtime' },
  launch: { title: 'launching', kind: 'op' },
  memory: { title: 'memory calls', kind: 'memset' },
  python: { title: 'Python', kind: 'python' },
  communication: { title: 'communication', kind: 'comm' },
  unknown: { title: 'not known', kind: 'other' },
};

/** A cause of a newer server still has a name. */
const cause_of = (cause: string): Cause =>
  kCauses[cause] ?? { title: cause.replace(/_/g, ' '), kind: 'other' };

export const cause_title = (cause: string): string => cause_of(cause).title;
export const cause_kind = (cause: string): string => cause_of(cause).kind;
