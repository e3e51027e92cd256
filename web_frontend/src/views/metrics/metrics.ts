// What the metrics view says and draws, without its looks: which curves, which marks, which step is nearest.
import type { MetricMark, MetricRun, MetricSeries, Metrics } from '../../api/types';
import { kThin } from '../../lib/format';

export type Axis = 'step' | 'wall' | 'relative';

/** Charts that are shown unless others are chosen. */
export const kFirstCharts = 6;
export const kMostRuns = 6;

/** One curve: a tag of a run. */
export interface Curve {
  readonly run: string;
  readonly series: MetricSeries;
}

/** Runs that are shown: the chosen ones, else the nearest to the profile that have scalars. */
export function shown_runs(metrics: Metrics, chosen: readonly string[] | undefined): MetricRun[] {
  const able = metrics.runs.filter((run) => run.tags.some(({ kind }) => kind === 'scalar'));
  const wanted = able.filter((run) => chosen?.includes(run.name) === true);
  if (wanted.length > 0) return wanted.slice(0, kMostRuns);
  const near = able.filter((run) => run.related);
  return (near.length > 0 ? near : able).slice(0, kMostRuns);
}

/** Scalar tags of some runs in the order in which they first appear. */
export function scalar_tags(runs: readonly MetricRun[]): string[] {
  const tags = new Set<string>();
  for (const run of runs) {
    for (const { tag, kind } of run.tags) if (kind === 'scalar') tags.add(tag);
  }
  return [...tags];
}

/** Where a mark lies on the axis; undefined: nowhere (no event was near). */
export function mark_range(mark: MetricMark, axis: Axis): { from: number; to: number } | undefined {
  if (axis === 'step') {
    if (mark.first_metric_step === undefined || mark.last_metric_step === undefined) return undefined;
    return { from: mark.first_metric_step, to: mark.last_metric_step };
  }
  const [from, to] =
    axis === 'wall' ? [mark.start_unix_s, mark.end_unix_s] : [mark.relative_start_s, mark.relative_end_s];
  return to === undefined ? undefined : { from: from ?? to, to };
}

/** `7–9` by the profile's own numbers, else by the metrics'. */
export function mark_name(mark: MetricMark): string {
  const numbers = mark.steps.map((step) => step.number);
  const first = numbers[0] ?? mark.first_metric_step;
  const last = numbers.at(-1) ?? mark.last_metric_step;
  if (first === undefined || last === undefined) return `span ${mark.index}`;
  // Without its trace a profile is known by when its file was written.
  if (!mark.loaded) return `≈${kThin}${last}`;
  return first === last ? `${first}` : `${first}–${last}`;
}

/** The mark nearest to a place on the axis, and how far it is from there. */
export function nearest_mark(
  marks: readonly MetricMark[],
  axis: Axis,
  x: number,
): { mark: MetricMark; distance: number } | undefined {
  let best: { mark: MetricMark; distance: number } | undefined;
  for (const mark of marks) {
    const range = mark_range(mark, axis);
    if (range === undefined) continue;
    const distance = Math.max(0, range.from - x, x - range.to);
    if (best === undefined || distance < best.distance) best = { mark, distance };
  }
  return best;
}

/** Position in Meta.steps of the profiled step nearest to a metric step. */
export function nearest_step(mark: MetricMark, metric_step: number): number | undefined {
  let best: number | undefined;
  let least = Infinity;
  mark.steps.forEach((step, position) => {
    if (step.metric_step === undefined) return;
    const distance = Math.abs(step.metric_step - metric_step);
    if (distance < least) [best, least] = [position, distance];
  });
  return best;
}

/** `steps 2–4 and 7–9` */
export function list_marks(marks: readonly MetricMark[]): string {
  const names = marks.slice(0, 4).map(mark_name);
  if (marks.length > 4) names.push(`${marks.length - 4} more`);
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')} and ${last}`;
}

/** `100..250.5` */
export function parse_zoom(text: string | undefined): Zoom | undefined {
  const found = /^(-?[\d.]+(?:e[+-]?\d+)?)\.\.(-?[\d.]+(?:e[+-]?\d+)?)$/.exec(text ?? '');
  const from = Number(found?.[1]);
  const to = Number(found?.[2]);
  return found !== null && from < to ? { from, to } : undefined;
}

/** As exact as a thousandth of the range, so that the address stays readable. */
export function format_zoom(from: number, to: number): string {
  const power = Math.floor(Math.log10((to - from) / 1000));
  const step = 10 ** power;
  const digits = Math.max(0, -power);
  // A number has no more digits than these, and toFixed() takes no more: such a range stands as it is.
  if (!(digits <= 100)) return `${from}..${to}`;
  const text = (value: number): string =>
    Number((Math.round(value / step) * step).toFixed(digits)).toString();
  return `${text(from)}..${text(to)}`;
}

export interface Zoom {
  readonly from: number;
  readonly to: number;
}

const kIn = 0.6;
const kMove = 0.2;

/** What a key makes of the part of `whole` that is shown: `all` for everything, undefined for a key that does nothing. */
export function zoom_by_key(key: string, shown: Zoom, whole: Zoom): Zoom | 'all' | undefined {
  const length = shown.to - shown.from;
  const middle = (shown.from + shown.to) / 2;
  const around = (half: number): Zoom => ({ from: middle - half, to: middle + half });
  const moved = (by: number): Zoom => ({ from: shown.from + by, to: shown.to + by });
  if (key === '+' || key === '=') return around((length * kIn) / 2);
  if (key === '-') {
    const wider = around(length / kIn / 2);
    const next = { from: Math.max(whole.from, wider.from), to: Math.min(whole.to, wider.to) };
    return next.from <= whole.from && next.to >= whole.to ? 'all' : next;
  }
  if (key === 'ArrowLeft') return moved(-Math.min(kMove * length, Math.max(0, shown.from - whole.from)));
  if (key === 'ArrowRight') return moved(Math.min(kMove * length, Math.max(0, whole.to - shown.to)));
  return key === '0' || key === 'Escape' ? 'all' : undefined;
}

/** Of any number of values: more than fit into the arguments of one call. */
export function extremes(values: readonly number[]): { least: number; most: number } {
  let least = Infinity;
  let most = -Infinity;
  for (const one of values) {
    least = Math.min(least, one);
    most = Math.max(most, one);
  }
  return { least, most };
}

/** Ascending for a chart that wants every x once: a repeated one is moved by less than anybody sees. */
export function ascending(xs: readonly number[]): number[] {
  const out: number[] = [];
  let last = -Infinity;
  for (const x of xs) {
    const next = x > last ? x : last + Math.max(1e-9, Math.abs(last) * 1e-12);
    out.push(next);
    last = next;
  }
  return out;
}

/** The value beside `x`: that of the last point before or at it, by bisection. */
export function index_at(xs: readonly number[], x: number): number | undefined {
  if (xs.length === 0) return undefined;
  let low = 0;
  let high = xs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((xs[middle] ?? Infinity) <= x) low = middle;
    else high = middle - 1;
  }
  const here = xs[low] ?? 0;
  const after = xs[low + 1];
  return after !== undefined && Math.abs(after - x) < Math.abs(x - here) ? low + 1 : low;
}
