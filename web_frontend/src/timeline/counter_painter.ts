// One counter track: a step line over a pale ground, with the spread of each bucket.
import type { PaintContext } from './batch';
import type { CounterInfo } from './layout';
import type { Palette } from './palette';
import { snap } from './slices';
import { x_of_ns, type Viewport } from './viewport';

/** A counter over a range somewhat wider than the view; times are ns from the trace's start. */
export interface CounterData {
  readonly info: CounterInfo;
  readonly at_ns: ArrayLike<number>;
  readonly min: ArrayLike<number>;
  readonly max: ArrayLike<number>;
  readonly last: ArrayLike<number>;
  /** Colour family: what the counter counts. */
  readonly hue: 'runtime' | 'memset' | 'other';
}

export interface CounterScale {
  readonly low: number;
  readonly high: number;
}

const kPadTop = 8;
const kPadBottom = 6;
const kGroundAlpha = 0.28;

/** Smallest and largest value in the view, with the value that holds at its left edge. */
export function counter_scale(v: Viewport, data: CounterData): CounterScale | undefined {
  let low = Infinity;
  let high = -Infinity;
  const first = Math.max(0, last_at_or_before(data.at_ns, v.start_ns));
  for (let n = first; n < data.at_ns.length; n++) {
    if ((data.at_ns[n] ?? 0) > v.end_ns) break;
    const before = (data.at_ns[n] ?? 0) < v.start_ns;
    const value = data.last[n] ?? 0;
    low = Math.min(low, before ? value : (data.min[n] ?? 0));
    high = Math.max(high, before ? value : (data.max[n] ?? 0));
  }
  return low > high ? undefined : { low, high };
}

/** The line starts at 0 when the values are near it, else at the least value in view. */
export function counter_floor(scale: CounterScale): number {
  const near_zero = scale.low >= 0 && scale.low <= (scale.high - scale.low) * 1.5;
  return near_zero ? 0 : scale.low;
}

export function paint_counter(
  ctx: PaintContext,
  v: Viewport,
  data: CounterData,
  y: number,
  h: number,
  palette: Palette,
  pixel: number,
): void {
  const scale = counter_scale(v, data);
  if (scale === undefined) return;
  const floor = counter_floor(scale);
  const room = h - kPadTop - kPadBottom;
  const range = Math.max(scale.high - floor, Number.MIN_VALUE);
  const base = y + h - kPadBottom;
  const y_of = (value: number): number => base - ((value - floor) / range) * room;
  const colour = palette.hue(data.hue);

  ctx.globalAlpha = kGroundAlpha;
  ctx.fillStyle = colour;
  const steps: { x: number; y: number; lo: number; hi: number }[] = [];
  const first = Math.max(0, last_at_or_before(data.at_ns, v.start_ns));
  for (let n = first; n < data.at_ns.length; n++) {
    const at = data.at_ns[n] ?? 0;
    if (at > v.end_ns) break;
    const before = at < v.start_ns;
    const next = data.at_ns[n + 1] ?? v.end_ns;
    const x = snap(Math.max(0, x_of_ns(v, at)), pixel);
    const x1 = snap(Math.min(v.width_px, x_of_ns(v, next)), pixel);
    const top = y_of(data.last[n] ?? 0);
    if (x1 > x) ctx.fillRect(x, top, x1 - x, base - top);
    steps.push({
      x,
      y: top,
      lo: before ? top : y_of(data.min[n] ?? 0),
      hi: before ? top : y_of(data.max[n] ?? 0),
    });
  }
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  steps.forEach((s, n) => {
    if (n === 0) ctx.moveTo(s.x, s.y);
    else ctx.lineTo(s.x, steps[n - 1]?.y ?? s.y);
    if (s.lo - s.hi > 1) {
      ctx.lineTo(s.x, s.lo);
      ctx.lineTo(s.x, s.hi);
    }
    ctx.lineTo(s.x, s.y);
  });
  const end = steps.at(-1);
  if (end !== undefined) ctx.lineTo(v.width_px, end.y);
  ctx.stroke();
}

/** The value that holds at a time; undefined before the first one. */
export function value_at(data: CounterData, ns: number): number | undefined {
  return data.last[last_at_or_before(data.at_ns, ns)];
}

/** Index of the last value at or before `ns`; −1 if none. */
function last_at_or_before(at_ns: ArrayLike<number>, ns: number): number {
  let lo = 0;
  let hi = at_ns.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if ((at_ns[mid] ?? 0) <= ns) lo = mid + 1;
    else hi = mid;
  }
  return lo - 1;
}
