// Histograms of durations on a log axis: bucket j covers [2^(min_exp + j/4), 2^(min_exp + (j+1)/4)) ns.

export interface Buckets {
  readonly min_exp: number;
  readonly counts: readonly number[];
}

/** An axis in powers of two, as exponents. */
export interface LogAxis {
  readonly low: number;
  readonly high: number;
}

const kQuarter = 0.25;
/** Share of the durations that may lie below an axis. */
const kOdd = 0.001;

/** The axis of a table: it holds all but the odd one in a thousand at the short end, so that a stray 0 does not squeeze the rest. */
export function common_axis(all: Iterable<Buckets | undefined>): LogAxis {
  const counts = new Map<number, number>();
  let total = 0;
  for (const one of all) {
    one?.counts.forEach((count, j) => {
      if (count === 0) return;
      const exp = one.min_exp + j * kQuarter;
      counts.set(exp, (counts.get(exp) ?? 0) + count);
      total += count;
    });
  }
  const exps = [...counts.keys()].sort((a, b) => a - b);
  const last = exps.at(-1);
  if (last === undefined) return { low: 10, high: 20 };
  let below = 0;
  const low = exps.find((exp) => (below += counts.get(exp) ?? 0) > total * kOdd) ?? last;
  const high = last + kQuarter;
  // At least an octave each side of a single value, so that it stands in the middle and not as a wall.
  return high - low < 2 ? { low: low - 1, high: high + 1 } : { low, high };
}

export interface BucketBar {
  /** 0 to 1 along the axis. */
  readonly at: number;
  readonly width: number;
  /** 0 to 1 of the fullest bucket. */
  readonly height: number;
  readonly count: number;
  readonly from_ns: number;
  readonly to_ns: number;
}

export function bars_of(buckets: Buckets, axis: LogAxis): BucketBar[] {
  const most = Math.max(1, ...buckets.counts);
  const span = axis.high - axis.low;
  return buckets.counts.flatMap((count, j) => {
    if (count === 0) return [];
    const exp = buckets.min_exp + j * kQuarter;
    return [
      {
        at: Math.max(0, (exp - axis.low) / span),
        width: kQuarter / span,
        height: count / most,
        count,
        from_ns: 2 ** exp,
        to_ns: 2 ** (exp + kQuarter),
      },
    ];
  });
}

/** 1 µs, 10 µs, … that lie on the axis; 1-2-5 where it is too short for two of those. */
export function ticks_of(axis: LogAxis): { readonly at: number; readonly ns: number }[] {
  const span = axis.high - axis.low;
  const on_axis = (multiples: readonly number[]): { at: number; ns: number }[] => {
    const ticks: { at: number; ns: number }[] = [];
    for (let decade = -1; decade <= 14; decade++) {
      for (const multiple of multiples) {
        const ns = multiple * 10 ** decade;
        const at = (Math.log2(ns) - axis.low) / span;
        if (at >= 0 && at <= 1) ticks.push({ at, ns });
      }
    }
    return ticks;
  };
  const decades = on_axis([1]);
  return decades.length >= 2 ? decades : on_axis([1, 2, 5]);
}
