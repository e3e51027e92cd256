// Ticks of a small chart: round numbers in one unit.
import { quantity } from '../../lib/format';

export interface Axis {
  readonly unit: string;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

const kScale: Readonly<Record<string, number>> = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };

/** About `most` ticks within [low, high], in the unit of `high`. */
export function time_axis(low: number, high: number, most: number): Axis {
  const unit = quantity(Math.max(1, high), 'time').unit;
  const scale = kScale[unit] ?? 1;
  const room = Math.max(high - low, 1) / scale;
  const raw = room / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((one) => one * power >= raw) ?? 10);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let n = Math.ceil(low / scale / step - 1e-9); n * step <= high / scale + step * 1e-9; n++) {
    ticks.push({ at: n * step * scale, text: (n * step).toFixed(decimals) });
    if (ticks.length > 4 * most) break;
  }
  return { unit, ticks };
}

export const in_unit = (ns: number, unit: string): number => ns / (kScale[unit] ?? 1);
