// What the shell gives to every view, and what a view may ask of the shell. One object, so that a view stands alone in tests.
import type { Api } from '../api/client';
import type { Meta } from '../api/types';
import { steps_label, type StepChoice } from '../lib/steps';
import type { UrlState } from '../lib/url_state';
import type { NotesDesk } from '../widgets/notes/desk';

export interface Go {
  /** A step that Back undoes (a click); otherwise the entry is replaced (a drag, a keystroke), debounced. */
  push?: boolean;
}

export interface ViewContext {
  readonly api: Api;
  /** The trace on show: loaded, since a view is only mounted then. Its `id` and `generation` name it. */
  readonly meta: Meta;
  /** Reactive: reads in markup and effects follow the address. */
  readonly state: UrlState;
  /** `steps` as the API wants it; undefined: all. */
  readonly steps: string | undefined;
  /** Which steps, as positions in `meta.steps`, and whether the first was set aside by default. */
  readonly choice: StepChoice;
  readonly theme: 'light' | 'dark';
  /** Changes the address. */
  readonly go: (patch: Partial<UrlState>, how?: Go) => void;
  /** The address of a changed state, for a real link. */
  readonly href: (patch: Partial<UrlState>) => string;
  /** Opens the import report: why the trace is trusted as far as it is. */
  readonly show_report: () => void;
  /** Absent at first, and where a view stands alone. */
  readonly notes?: NotesDesk | undefined;
  /** Spoken by screen readers, politely. */
  readonly announce: (sentence: string) => void;
  /** The page is a report: what it does not hold cannot be asked for. */
  readonly is_report?: boolean;
}

/** Under a picture: of which trace it is, and of which steps. */
export function trace_note({ meta, choice }: Pick<ViewContext, 'meta' | 'choice'>): string {
  const file = meta.file.split('/').at(-1) ?? meta.file;
  return `${file}, ${steps_label(meta.steps, choice.range)}`;
}
