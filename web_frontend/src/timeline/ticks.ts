// The ruler's ticks: 1-2-5 steps at least `min_px` apart, and how times are written on it.
import { ns_per_px, type Viewport } from './viewport';

export interface Ticks {
  readonly step_ns: number;
  readonly at_ns: readonly number[];
  readonly unit: TimeUnit;
}

export type TimeUnit = 'ns' | 'µs' | 'ms' | 's';

const kUnitNs: Record<TimeUnit, number> = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };

export function ticks_for(v: Viewport, min_px = 80): Ticks {
  const step_ns = nice_step(min_px * ns_per_px(v));
  const at_ns: number[] = [];
  // Counted from an integer multiple: adding the step up would drift.
  for (let n = Math.ceil(v.start_ns / step_ns); n * step_ns <= v.end_ns; n++) at_ns.push(n * step_ns);
  return { step_ns, at_ns, unit: unit_for(v.end_ns - v.start_ns) };
}

/** Smallest of 1, 2, 5 × 10^n (n ≥ 0) that is at least `ns`. */
export function nice_step(ns: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, ns))));
  for (const m of [1, 2, 5]) if (m * power >= ns) return m * power;
  return 10 * power;
}

/** One unit for as long as it reads well: ms, with decimals when zoomed in; s beyond 20 s. */
function unit_for(span: number): TimeUnit {
  return span < 2e10 ? 'ms' : 's';
}

/** A tick's time in the ruler's unit, with just the decimals its step needs. */
export function tick_label(ns: number, ticks: Ticks): string {
  const unit = kUnitNs[ticks.unit];
  const decimals = Math.max(0, Math.ceil(-Math.log10(ticks.step_ns / unit) - 1e-9));
  return group_thousands((ns / unit).toFixed(decimals));
}

/** Three significant digits and a unit: 1.54 ms, 31.5 ms, 450 µs, 12 ns. */
export function format_duration(ns: number): string {
  const abs = Math.abs(ns);
  const unit: TimeUnit = abs < 1e3 ? 'ns' : abs < 999.5e3 ? 'µs' : abs < 999.5e6 ? 'ms' : 's';
  const value = ns / kUnitNs[unit];
  const whole = Math.abs(value) >= 100 || unit === 'ns';
  const decimals = whole ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${group_thousands(value.toFixed(decimals))}\u2009${unit}`;
}

/** A time from the trace's start in ms, with decimals for `resolution_ns`. */
export function format_at(ns: number, resolution_ns = 1e3): string {
  const decimals = Math.min(6, Math.max(0, Math.ceil(Math.log10(1e6 / Math.max(1, resolution_ns)))));
  return group_thousands((ns / 1e6).toFixed(decimals));
}

/** Thin spaces between thousands, and a true minus. */
export function group_thousands(text: string): string {
  const [whole = '', fraction] = text.split('.');
  const grouped = whole.replace('-', '\u2212').replace(/\B(?=(\d{3})+(?!\d))/g, '\u2009');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
