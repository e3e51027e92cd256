// Which steps the figures cover. By default all of them, but a first step that is plainly not like the others (it pays for
// warm-up, an empty queue, a first copy) is set aside; the page says so and offers to include it.
import type { StepRange } from './url_state';

interface Timed {
  readonly name: string;
  readonly index: number;
  readonly synthetic: boolean;
  readonly extended: { readonly start_ns: number; readonly end_ns: number };
}

export interface StepChoice {
  /** Positions, both included. */
  readonly range: StepRange;
  /** True when it covers every step: then the API is asked for all, which is also right for work outside of steps. */
  readonly all: boolean;
  /** The first step was left out by default, not by the user. */
  readonly set_aside: boolean;
}

/** Fewer steps than this are too few to call one of them odd. */
const kFewest = 4;
/** Set aside: this many σ of the others away, and by this share of their mean. */
const kSigmas = 4;
const kShare = 0.05;

export const duration = (step: Timed): number => step.extended.end_ns - step.extended.start_ns;

export function choose_steps(steps: readonly Timed[], asked: StepRange | undefined): StepChoice {
  const last = Math.max(0, steps.length - 1);
  if (asked !== undefined && asked.first <= last) {
    const range = { first: asked.first, last: Math.min(asked.last, last) };
    return { range, all: range.first === 0 && range.last === last, set_aside: false };
  }
  const odd = first_is_odd(steps);
  return { range: { first: odd ? 1 : 0, last }, all: !odd, set_aside: odd };
}

function first_is_odd(steps: readonly Timed[]): boolean {
  const [first, ...others] = steps;
  if (first === undefined || first.synthetic || steps.length < kFewest) return false;
  const { mean, sigma } = spread(others.map(duration));
  return Math.abs(duration(first) - mean) > Math.max(kSigmas * sigma, kShare * mean);
}

export function spread(values: readonly number[]): { mean: number; sigma: number } {
  if (values.length === 0) return { mean: 0, sigma: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, sigma: Math.sqrt(variance) };
}

/** `step 6`, `steps 17–21`, `whole recording`. */
export function steps_label(steps: readonly Timed[], range: StepRange): string {
  const first = steps[range.first];
  const last = steps[range.last];
  if (first === undefined || last === undefined || first.synthetic) return 'whole recording';
  return range.first === range.last ? `step ${first.index}` : `steps ${first.index}–${last.index}`;
}
