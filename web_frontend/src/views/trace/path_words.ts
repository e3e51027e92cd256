// The critical path in words and colours.
import type { CriticalPath } from '../../api/types';
import type { Hue } from '../../timeline/palette';

type Segment = CriticalPath['path'][number];
type Category = Segment['category'];

const kCategories: Readonly<Record<Category, { readonly title: string; readonly hue: Hue }>> = {
  data_loading: { title: 'data loading', hue: 'loader' },
  synchronization: { title: 'synchronisation', hue: 'runtime' },
  memory_call: { title: 'memory calls', hue: 'runtime' },
  runtime: { title: 'runtime', hue: 'runtime' },
  op: { title: 'operators', hue: 'op' },
  annotation: { title: 'annotations', hue: 'note' },
  python: { title: 'Python', hue: 'python' },
  host_communication: { title: 'host communication', hue: 'comm' },
  kernel: { title: 'kernels', hue: 'kernel' },
  memcpy: { title: 'memcpy', hue: 'memcpy' },
  memset: { title: 'memset', hue: 'memset' },
  communication: { title: 'communication', hue: 'comm' },
  launch_delay: { title: 'launch delay', hue: 'runtime' },
  gap: { title: 'no cause known', hue: 'other' },
};

/** Why a piece began when it did. */
const kEdges: Readonly<Record<Segment['edge'], string>> = {
  host: 'next on its thread',
  launch: 'launched',
  stream: 'next on its stream',
  sync: 'the device was done',
  queue: 'the device’s queue had room',
  wait: 'another stream or thread',
  collective: 'the other ranks',
  gap: 'not known',
};

export const category_words = (category: Category): string => kCategories[category].title;
export const category_hue = (category: Category): Hue => kCategories[category].hue;
export const edge_words = (edge: Segment['edge']): string => kEdges[edge];
