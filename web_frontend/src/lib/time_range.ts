// A time range as text, for addresses: `12.3ms..18.9ms`, relative to the trace's range start. Exact: what is written in
// the unit that needs fewest characters reads back to the same nanoseconds.

export interface TimeRange {
  readonly t0: number;
  readonly t1: number;
}

const kUnits: readonly (readonly [string, number])[] = [
  ['s', 1e9],
  ['ms', 1e6],
  ['us', 1e3],
  ['ns', 1],
];

export function format_range(range: TimeRange): string {
  return `${format_ns(range.t0)}..${format_ns(range.t1)}`;
}

export function parse_range(text: string): TimeRange | undefined {
  const parts = text.split('..');
  const t0 = parse_ns(parts[0] ?? '');
  const t1 = parse_ns(parts[1] ?? '');
  return parts.length === 2 && t0 !== undefined && t1 !== undefined && t1 >= t0 ? { t0, t1 } : undefined;
}

function format_ns(ns: number): string {
  const whole = Math.round(ns);
  let best = `${whole}ns`;
  for (const [unit, scale] of kUnits) {
    // Digits by text, so that no rounding creeps in.
    const candidate = `${decimal(whole, Math.round(Math.log10(scale)))}${unit}`;
    if (candidate.length < best.length) best = candidate;
  }
  return best;
}

/** `value` / 10^places, as exact decimal text. */
function decimal(value: number, places: number): string {
  const digits = Math.abs(value)
    .toString()
    .padStart(places + 1, '0');
  const point = digits.length - places;
  const fraction = digits.slice(point).replace(/0+$/, '');
  return `${value < 0 ? '-' : ''}${digits.slice(0, point)}${fraction === '' ? '' : `.${fraction}`}`;
}

function parse_ns(text: string): number | undefined {
  const found = /^(-?\d{1,15}(?:\.\d{1,9})?)(s|ms|us|ns)$/.exec(text);
  if (found === null) return undefined;
  const scale = kUnits.find(([unit]) => unit === found[2])?.[1] ?? 1;
  const ns = Math.round(Number(found[1]) * scale);
  return Number.isSafeInteger(ns) ? ns : undefined;
}
