// Numbers as people read them: three significant digits in sentences; in a column one unit and fixed decimals, the unit in
// the head. A thin space groups thousands, minus is U+2212, and what is too small for its column says so instead of being 0.

/** Narrow no-break space: thin, and never the place where a line breaks. */
export const kThin = '\u202f';
export const kMinus = '\u2212';
export const kNone = '–';

export type Family = 'time' | 'bytes' | 'count' | 'percent' | 'plain';

interface Unit {
  readonly name: string;
  readonly scale: number;
}

const kUnits: Readonly<Record<Family, readonly Unit[]>> = {
  time: [
    { name: 'ns', scale: 1 },
    { name: 'µs', scale: 1e3 },
    { name: 'ms', scale: 1e6 },
    { name: 's', scale: 1e9 },
  ],
  bytes: [
    { name: 'B', scale: 1 },
    { name: 'KiB', scale: 2 ** 10 },
    { name: 'MiB', scale: 2 ** 20 },
    { name: 'GiB', scale: 2 ** 30 },
    { name: 'TiB', scale: 2 ** 40 },
  ],
  count: [{ name: '', scale: 1 }],
  percent: [{ name: '%', scale: 1 }],
  plain: [{ name: '', scale: 1 }],
};

/** `1234567.8` with `decimals` 1 → `1 234 567.8`. Rounds half away from zero, as people do. */
export function fixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return 'unknown';
  const [whole = '0', fraction] = round_text(Math.abs(value), decimals).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, kThin);
  const digits = fraction === undefined ? grouped : `${grouped}.${fraction}`;
  return value < 0 && /[1-9]/.test(digits) ? kMinus + digits : digits;
}

/** toFixed, without its surprises on halves (1.005 → 1.01): nudged by less than any digit shown. */
function round_text(value: number, decimals: number): string {
  return (value + value * Number.EPSILON * 2).toFixed(decimals);
}

/** Decimals that leave `digits` significant ones. */
function decimals_for(value: number, digits: number): number {
  const size = Math.abs(value);
  if (size === 0 || !Number.isFinite(size)) return 0;
  const rounded = Number(size.toPrecision(digits));
  return Math.max(0, digits - 1 - Math.floor(Math.log10(rounded)));
}

export interface Quantity {
  readonly value: string;
  readonly unit: string;
}

/** The unit in which `size` lies in [1, next unit), judged after rounding: 999.96 µs is 1.00 ms. */
function unit_for(size: number, family: Family, digits: number): Unit {
  const units = kUnits[family];
  let best = units[0] ?? { name: '', scale: 1 };
  for (const unit of units) {
    if (Number((Math.abs(size) / unit.scale).toPrecision(digits)) >= 1) best = unit;
  }
  return best;
}

/** A number and its unit, for a sentence: 3 significant digits (151.5 beside a σ asks for 4). Integers stay whole. */
export function quantity(value: number, family: Family, digits = 3): Quantity {
  const unit = unit_for(value, family, digits);
  const scaled = value / unit.scale;
  if (unit.scale === 1 && Number.isInteger(value)) return { value: fixed(value, 0), unit: unit.name };
  return { value: fixed(scaled, decimals_for(scaled, digits)), unit: unit.name };
}

export function text_of(value: number, family: Family, digits = 3): string {
  const { value: number, unit } = quantity(value, family, digits);
  return unit === '' ? number : `${number}${family === 'percent' ? kThin : '\u00a0'}${unit}`;
}

export const time = (ns: number, digits = 3): string => text_of(ns, 'time', digits);
export const bytes = (value: number, digits = 3): string => text_of(value, 'bytes', digits);
export const count = (value: number): string => fixed(value, 0);
export const percent = (value: number): string => `${fixed(value, 1)}${kThin}%`;

/** Full precision, for hover: `151 512 345 ns`. */
export const exact = (value: number, unit: string): string => `${count(value)}\u00a0${unit}`;

/** How one column writes its numbers. */
export interface Scale {
  readonly unit: string;
  /** `undefined`: does not apply. */
  (value: number | undefined): string;
}

/** One unit and one number of decimals for all of `values`: the largest shows four digits. */
export function column(values: Iterable<number | undefined>, family: Family): Scale {
  let largest = 0;
  let whole = true;
  for (const value of values) {
    if (value === undefined) continue;
    largest = Math.max(largest, Math.abs(value));
    whole &&= Number.isInteger(value);
  }
  const unit = unit_for(largest, family, 4);
  const as_is = family === 'count' || (unit.scale === 1 && whole && family !== 'percent');
  const decimals = family === 'percent' ? 1 : as_is ? 0 : Math.min(3, decimals_for(largest / unit.scale, 4));
  const least = 0.5 * 10 ** -decimals;
  const write = (value: number | undefined): string => {
    if (value === undefined) return kNone;
    if (value === 0) return '0';
    const scaled = value / unit.scale;
    if (Math.abs(scaled) < least && decimals > 0) return `<${kThin}${fixed(10 ** -decimals, decimals)}`;
    return fixed(scaled, decimals);
  };
  return Object.assign(write, { unit: unit.name });
}

/** `1 step`, `6 steps`, `1 234 steps`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)}\u00a0${n === 1 ? one : many}`;
}
