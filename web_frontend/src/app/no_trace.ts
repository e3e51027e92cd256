// What a view is given where no profile lies: nothing, in every field.
import type { Meta } from '../api/types';

export const kNoTrace: Meta = {
  id: '',
  generation: '',
  run: '',
  worker: '',
  span: '',
  file: '',
  rank_guessed: false,
  range: { start_ns: 0, end_ns: 0 },
  events: 0,
  events_by_kind: {},
  report: [],
  trust: { grade: 'A', sentence: '' },
  steps: [],
  views: [],
  missing_views: [],
  recorded: [],
  not_recorded: [],
  metadata: {},
  groups: [],
  name_count: 0,
  group_count: 0,
};
