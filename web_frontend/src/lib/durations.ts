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
/** About 100 ns, as an exponent: nothing on a device or a host takes less. */
const kLeast = 6.5;

/** The axis of a table. It holds every duration that can be one: files of whole microseconds write 0 for the short ones, and
    those must not squeeze the rest. */
export function common_axis(all: Iterable<Buckets | undefined>): LogAxis {
  let low = Infinity;
  let high = -Infinity;
  let least = Infinity;
  for (const one of all) {
    one?.counts.forEach((count, j) => {
      if (count === 0) return;
      const exp = one.min_exp + j * kQuarter;
      least = Math.min(least, exp);
      if (exp >= kLeast) low = Math.min(low, exp);
      high = Math.max(high, exp + kQuarter);
    });
  }
  if (high < least) return { low: 10, high: 20 };
  if (low > high) low = least;
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
