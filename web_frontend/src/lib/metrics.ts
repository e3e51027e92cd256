// Scalars and their times as people read them, and how sure it is which of them belong to which profiled step.
import { kMinus, kNone, kThin, plural } from './format';

/** A value of any size in about four digits: `0.001234`, `12.35`, `1.2e9`. */
export function value_text(value: number | null | undefined): string {
  if (value === undefined || value === null) return kNone;
  const size = Math.abs(value);
  let text: string;
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) {
    text = value
      .toExponential(3)
      .replace(/\.?0+e/, 'e')
      .replace('e+', 'e');
  } else {
    text = Number(value.toPrecision(4)).toString();
    if (size >= 1000) text = text.replace(/\B(?=(\d{3})+(?!\d))/g, kThin);
  }
  return text.replaceAll('-', kMinus);
}

/** Seconds in the unit in which they are read: `12 ms`, `1.5 h`. */
export function seconds_text(seconds: number): string {
  const size = Math.abs(seconds);
  const [scale, unit] =
    size >= 2 * 86_400
      ? [86_400, 'd']
      : size >= 2 * 3600
        ? [3600, 'h']
        : size >= 120
          ? [60, 'min']
          : size >= 1
            ? [1, 's']
            : size >= 1e-3
              ? [1e-3, 'ms']
              : [1e-6, 'µs'];
  return `${value_text(Number((seconds / scale).toPrecision(3)))}\u00a0${unit}`;
}

/** How far the join can be wrong, in a sentence. */
export function join_sentence(join: {
  readonly by: string;
  readonly source: string;
  readonly uncertainty_s?: number;
  readonly offset_s?: number;
  readonly offset_error_s?: number;
  readonly shift?: number;
  readonly steps: readonly { readonly metric_step?: number }[];
}): string {
  const joined = join.steps.filter((step) => step.metric_step !== undefined).length;
  const error = join.uncertainty_s === undefined ? '' : ` ± ${seconds_text(join.uncertainty_s)}`;
  const offset =
    join.offset_s === undefined
      ? ''
      : `${seconds_text(Math.abs(join.offset_s))}${join.offset_error_s === undefined ? '' : ` ± ${seconds_text(join.offset_error_s)}`} ${join.offset_s < 0 ? 'before' : 'after'} the end of its step`;
  const source =
    join.source === 'trace' ? '' : ' The trace does not say when it began: its file’s time stands for it.';
  if (joined === 0) {
    return join.by === 'clock'
      ? `By the clock${error}, no event was written near these steps: the two clocks differ, or other steps were logged. Join by number if both count the same.${source}`
      : 'By number, no event has the number of these steps.';
  }
  if (join.by === 'number')
    return `By number. An event is written ${offset}: that much the clocks differ too.`;
  const numbers =
    join.shift === undefined
      ? ''
      : join.shift === 0
        ? ' Both name the same steps.'
        : ` Metrics count ${plural(Math.abs(join.shift), 'step')} ${join.shift > 0 ? 'more' : 'less'}.`;
  return `By the clock${error}: an event is written ${offset}.${numbers}${source}`;
}
