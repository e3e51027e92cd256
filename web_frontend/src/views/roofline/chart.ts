// Where things stand in the picture: both axes are logarithmic, operations a byte to the right, operations a second upwards.
import type { Roofline, RooflineRow } from '../../api/types';
import { largest, least } from '../../lib/extent';

export interface Scales {
  /** Exponents of ten at the edges. */
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
}

export type Plotted = RooflineRow & { readonly flops_per_byte: number; readonly flops_per_s: number };

export const plotted = (rows: readonly RooflineRow[]): Plotted[] =>
  rows.filter((row): row is Plotted => (row.flops_per_byte ?? 0) > 0 && (row.flops_per_s ?? 0) > 0);

/** Whole decades around the points and the corners of their roofs. */
export function scales_of(rows: readonly Plotted[], roofline: Roofline): Scales {
  const xs = rows.map((row) => Math.log10(row.flops_per_byte));
  const ys = rows.map((row) => Math.log10(row.flops_per_s));
  const memory = roofline.memory_bytes_per_s;
  if (memory !== undefined) {
    for (const { flops_per_s } of used_roofs(rows, roofline)) {
      xs.push(Math.log10(flops_per_s / memory));
      ys.push(Math.log10(flops_per_s));
    }
  }
  const edges = (values: readonly number[]): [number, number] => {
    const low = Math.floor(least(values) - 0.05);
    const high = Math.ceil(largest(values) + 0.15);
    return [low, Math.max(high, low + 1)];
  };
  return values_or(xs, ys, edges);
}

function values_or(
  xs: readonly number[],
  ys: readonly number[],
  edges: (values: readonly number[]) => [number, number],
): Scales {
  return xs.length === 0 ? { x: [-1, 3], y: [9, 15] } : { x: edges(xs), y: edges(ys) };
}

/** The roofs that some row runs against. */
export function used_roofs(
  rows: readonly RooflineRow[],
  roofline: Roofline,
): readonly Roofline['roofs'][number][] {
  return roofline.roofs.filter(({ precision }) => rows.some((row) => row.precision === precision));
}

/** Exponents of the whole decades within an axis. */
export const decades = ([low, high]: readonly [number, number]): number[] =>
  Array.from({ length: Math.floor(high - low) + 1 }, (_, i) => low + i);

/** Corner points of a roof, as exponents: up along the memory's slope, then level. */
export function roof_line(
  flops_per_s: number,
  memory: number,
  { x, y }: Scales,
): readonly (readonly [number, number])[] {
  const top = Math.log10(flops_per_s);
  const slope = Math.log10(memory);
  const corner = top - slope;
  // The slope enters at the left edge or at the bottom.
  const from = Math.max(x[0], y[0] - slope);
  const line: (readonly [number, number])[] = [];
  if (from < corner) line.push([from, from + slope]);
  line.push([Math.max(corner, x[0]), top], [x[1], top]);
  return line;
}

/** Area of a point follows its time. */
export const radius_of = (ns: number, most: number): number =>
  2.5 + 13.5 * Math.sqrt(most > 0 ? ns / most : 0);

const kPrefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
/** `1e12`, `FLOP/s` → `1 TFLOP/s`. */
export function rate_text(value: number, unit: string, digits = 3): string {
  const at = Math.max(0, Math.min(6, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  const scaled = value / 1000 ** at;
  const shown = Number(scaled.toPrecision(digits));
  return `${shown.toString()}\u00a0${kPrefixes[at] ?? ''}${unit}`;
}
