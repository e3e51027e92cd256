// What part of the trace is on screen. Every gesture ends in one of the pure functions here.
// Times are ns from the trace's start: plain numbers are exact up to 104 days.
import { kTileBuckets } from './tile_decoder';

export interface Viewport {
  readonly start_ns: number;
  readonly end_ns: number;
  readonly width_px: number;
}

export interface Limits {
  readonly start_ns: number;
  readonly end_ns: number;
}

/** Nothing in a trace is finer than 1 ns; below this width the ruler has nothing to say. */
export const kMinSpanNs = 20;
/** Decades away from the trace a number holds fewer digits: a view keeps this many steps of it. */
const kLeastSteps = 2 ** 12;
/** Free room left and right of the whole trace, so that its ends can be seen to be ends. */
const kMargin = 0.01;
/** A level of detail is kept until the zoom is this far (in octaves) into the next one. */
const kHysteresis = 0.2;
const kMaxLevel = 52;

export function span_ns(v: Viewport): number {
  return v.end_ns - v.start_ns;
}
export function ns_per_px(v: Viewport): number {
  return span_ns(v) / Math.max(1, v.width_px);
}
export function x_of_ns(v: Viewport, ns: number): number {
  return ((ns - v.start_ns) / span_ns(v)) * v.width_px;
}
export function ns_of_x(v: Viewport, x_px: number): number {
  return v.start_ns + (x_px / Math.max(1, v.width_px)) * span_ns(v);
}

/** The widest view: the trace and a small margin. */
export function fit_all(limits: Limits, width_px: number): Viewport {
  const { lo, hi } = outer(limits);
  return { start_ns: lo, end_ns: hi, width_px };
}

/** Scales the span by `factor` (< 1 zooms in); the time under `x_px` stays under it. */
export function zoom_at(v: Viewport, x_px: number, factor: number, limits: Limits): Viewport {
  const { lo, hi } = outer(limits);
  const at = ns_of_x(v, x_px);
  const span = clamp(span_ns(v) * factor, Math.min(least_span(at), hi - lo), hi - lo);
  const share = x_px / Math.max(1, v.width_px);
  return place(at - share * span, span, v.width_px, limits);
}

/** Moves the view by `dx_px` to the right in time. */
export function pan_by(v: Viewport, dx_px: number, limits: Limits): Viewport {
  return place(v.start_ns + dx_px * ns_per_px(v), span_ns(v), v.width_px, limits);
}

/** Shows [start_ns, end_ns] with `pad` of its length free on both sides. */
export function fit_to(v: Viewport, start_ns: number, end_ns: number, pad: number, limits: Limits): Viewport {
  const { lo, hi } = outer(limits);
  const least = Math.min(least_span(start_ns), hi - lo);
  const span = clamp((end_ns - start_ns) * (1 + 2 * pad), least, hi - lo);
  return place((start_ns + end_ns - span) / 2, span, v.width_px, limits);
}

/** A slice narrower than this is not seen, and shown this wide instead. */
const kLeastSeenPx = 4;
const kShownShare = 0.04;

/** How far one may go: the trace, and a slice outside of it that was asked for (one without a true time). */
export function reach_of(trace: Limits, start_ns: number, end_ns: number): Limits {
  return {
    start_ns: Math.min(trace.start_ns, start_ns),
    end_ns: Math.max(trace.end_ns, end_ns),
  };
}

/** True while something of the trace is in view. */
export function sees(v: Limits, trace: Limits): boolean {
  return v.end_ns > trace.start_ns && v.start_ns < trace.end_ns;
}

/** Moves the view to show [start_ns, end_ns]; zooms only if that is longer than the view, or a speck in it. */
export function reveal(v: Viewport, start_ns: number, end_ns: number, limits: Limits): Viewport {
  const length = end_ns - start_ns;
  if (length > span_ns(v)) {
    return start_ns < v.end_ns && end_ns > v.start_ns ? v : fit_to(v, start_ns, end_ns, 0.1, limits);
  }
  if (length / ns_per_px(v) < kLeastSeenPx) {
    return fit_to(v, start_ns, end_ns, (1 / kShownShare - 1) / 2, limits);
  }
  if (start_ns >= v.start_ns && end_ns <= v.end_ns) return v;
  const span = span_ns(v);
  return place((start_ns + end_ns - span) / 2, span, v.width_px, limits);
}

/** Level of detail: buckets of 2^k ns are 1 to 2 px wide; `previous` damps flicker at the edge. */
export function level_for(v: Viewport, previous?: number): number {
  const exact = Math.log2(2 * ns_per_px(v));
  if (previous !== undefined && exact > previous - kHysteresis && exact < previous + 1 + kHysteresis) {
    return previous;
  }
  return clamp(Math.floor(exact), 0, kMaxLevel);
}

/** Smallest level whose tile 0 holds all of [0, duration_ns]. */
export function level_of_whole(duration_ns: number): number {
  return clamp(Math.ceil(Math.log2(Math.max(1, duration_ns) / kTileBuckets)), 0, kMaxLevel);
}

/** First and last tile of level `k` that the view touches, of those that the trace has. */
export function tiles_in_view(v: Viewport, k: number, limits: Limits): readonly [number, number] {
  const width_ns = kTileBuckets * 2 ** k;
  const first = Math.floor(Math.max(v.start_ns, limits.start_ns) / width_ns);
  const last = Math.ceil(Math.min(v.end_ns, limits.end_ns) / width_ns) - 1;
  return [first, Math.max(first, last)];
}

export function clamp(x: number, lo: number, hi: number): number {
  return Math.min(hi, Math.max(lo, x));
}

function least_span(at_ns: number): number {
  return Math.max(kMinSpanNs, Math.abs(at_ns) * Number.EPSILON * kLeastSteps);
}

function outer(limits: Limits): { lo: number; hi: number } {
  const span = Math.max(1, limits.end_ns - limits.start_ns);
  return { lo: limits.start_ns - kMargin * span, hi: limits.end_ns + kMargin * span };
}

function place(start_ns: number, span: number, width_px: number, limits: Limits): Viewport {
  const { lo, hi } = outer(limits);
  const start = clamp(start_ns, lo, Math.max(lo, hi - span));
  return { start_ns: start, end_ns: start + span, width_px };
}
