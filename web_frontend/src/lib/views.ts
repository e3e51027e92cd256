// The views by name: title, what they need, and the line of code that records it. The order is that of the tabs.

export interface ViewInfo {
  readonly id: string;
  readonly title: string;
  /** What a trace without it must be recorded with. */
  readonly code?: string;
}

export const kViews: readonly ViewInfo[] = [
  { id: 'overview', title: 'Overview' },
  {
    id: 'operators',
    title: 'Operators',
    code: 'profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True)',
  },
  {
    id: 'kernels',
    title: 'Kernels',
    code: 'profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])',
  },
  { id: 'memory', title: 'Memory', code: 'profile(profile_memory=True)' },
  { id: 'modules', title: 'Modules', code: 'profile(with_stack=True, with_modules=True)' },
  { id: 'roofline', title: 'Roofline', code: 'profile(record_shapes=True)' },
  {
    id: 'distributed',
    title: 'Distributed',
    code: 'tensorboard_trace_handler(logdir, worker_name=f"rank{rank}")  # on every rank',
  },
  { id: 'trace', title: 'Trace' },
  { id: 'compare', title: 'Compare' },
  { id: 'metrics', title: 'Metrics' },
  { id: 'notes', title: 'Notes' },
];

export const view_info = (id: string): ViewInfo =>
  kViews.find((view) => view.id === id) ?? { id, title: id.charAt(0).toUpperCase() + id.slice(1) };
