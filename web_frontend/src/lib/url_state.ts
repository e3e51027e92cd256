// All that a user can choose, as one readable, versioned line in the address: `v=1&run=…&view=trace&t=12ms..19ms`.
// Pure text in, text out. Each field is read by itself, so that one bad value costs itself and not the rest; what is at
// its default is not written. Adding a key: a line in `kFields`. Changing a meaning: raise `kVersion` and upgrade in `parse`.
import { format_range, parse_range, type TimeRange } from './time_range';

export const kVersion = 1;

/** Positions in `Meta.steps`, both ends included. */
export interface StepRange {
  readonly first: number;
  readonly last: number;
}

export interface UrlState {
  readonly run: string | undefined;
  readonly worker: string | undefined;
  /** Index of the span among the worker's, from 1. */
  readonly span: number | undefined;
  readonly view: string;
  /** Steps that every figure covers; undefined: all. */
  readonly steps: StepRange | undefined;
  // Tables (operators, kernels, memory): each view starts from its defaults, so these go when the view changes.
  readonly filter: string;
  readonly sort: string | undefined;
  readonly group: string | undefined;
  readonly bars: string | undefined;
  /** Which rows: operators or annotations; kernels or copies. */
  readonly kind: string | undefined;
  readonly cols: readonly string[] | undefined;
  readonly open: string | undefined;
  readonly device: string | undefined;
  /** Row at which a picture of a tree begins. */
  readonly root: number | undefined;
  // Memory brush and the trace's viewport.
  readonly t: TimeRange | undefined;
  // Trace view.
  /** Selected event. */
  readonly sel: number | undefined;
  readonly area: TimeRange | undefined;
  readonly q: string;
  readonly pin: readonly string[] | undefined;
  readonly fold: readonly string[] | undefined;
  readonly hide: readonly string[] | undefined;
  readonly move: readonly string[] | undefined;
  readonly table: boolean;
  /** The critical path is drawn. */
  readonly path: boolean;
  /** The verdict whose events are looked at. */
  readonly verdict: string | undefined;
  // Compare.
  /** Id of the trace that the one on show is compared with, and which of its steps. */
  readonly vs: string | undefined;
  readonly vs_steps: StepRange | undefined;
  // Metrics view.
  readonly tags: readonly string[] | undefined;
  /** Runs of metrics. */
  readonly runs: readonly string[] | undefined;
  readonly axis: string | undefined;
  readonly smooth: number | undefined;
  readonly log: boolean;
  /** Part of the axis that is shown: `100..250.5`. */
  readonly zoom: string | undefined;
  /** Metric step - profile step, when both are joined by number; undefined: by the clock. */
  readonly shift: number | undefined;
}

export const kDefaults: UrlState = {
  run: undefined,
  worker: undefined,
  span: undefined,
  view: 'overview',
  steps: undefined,
  filter: '',
  sort: undefined,
  group: undefined,
  bars: undefined,
  kind: undefined,
  cols: undefined,
  open: undefined,
  device: undefined,
  root: undefined,
  t: undefined,
  sel: undefined,
  area: undefined,
  q: '',
  pin: undefined,
  fold: undefined,
  hide: undefined,
  move: undefined,
  table: false,
  path: false,
  verdict: undefined,
  vs: undefined,
  vs_steps: undefined,
  tags: undefined,
  runs: undefined,
  axis: undefined,
  smooth: undefined,
  log: false,
  zoom: undefined,
  shift: undefined,
};

/** What belongs to a view and is dropped on the way to another one. */
export const kPerView = [
  'filter',
  'sort',
  'group',
  'bars',
  'kind',
  'cols',
  'open',
  'device',
  'root',
  't',
  'sel',
  'area',
  'q',
  'pin',
  'fold',
  'hide',
  'move',
  'table',
  'path',
  'verdict',
  'vs',
  'vs_steps',
  'tags',
  'runs',
  'axis',
  'smooth',
  'log',
  'zoom',
  'shift',
] as const;

/** What names an event or a time of one trace, and means nothing in another. */
export const kForget = {
  steps: undefined,
  sel: undefined,
  t: undefined,
  area: undefined,
  open: undefined,
  device: undefined,
  root: undefined,
  fold: undefined,
  pin: undefined,
  hide: undefined,
  move: undefined,
  verdict: undefined,
  vs_steps: undefined,
} as const;

interface Field<T> {
  readonly read: (text: string) => T | undefined;
  readonly write: (value: T) => string;
}

const text: Field<string> = { read: (raw) => (raw === '' ? undefined : raw), write: (value) => value };
const natural: Field<number> = {
  read: (raw) => (/^\d{1,15}$/.test(raw) ? Number(raw) : undefined),
  write: (value) => value.toString(),
};
const range: Field<TimeRange> = { read: parse_range, write: format_range };
/** Comma-separated; commas inside an item are escaped before the whole is. */
const list: Field<readonly string[]> = {
  read: (raw) => raw.split(',').filter(Boolean).map(decode),
  write: (value) => value.map((item) => item.replace(/[%,]/g, encodeURIComponent)).join(','),
};
const fraction: Field<number> = {
  read: (raw) => (/^0\.\d{1,4}$/.test(raw) ? Number(raw) : undefined),
  write: (value) => value.toString(),
};
const integer: Field<number> = {
  read: (raw) => (/^-?\d{1,15}$/.test(raw) ? Number(raw) : undefined),
  write: (value) => value.toString(),
};
const flag: Field<boolean> = { read: (raw) => (raw === '1' ? true : undefined), write: () => '1' };
const steps: Field<StepRange> = {
  read: (raw) => {
    const found = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(raw);
    if (found === null) return undefined;
    const first = Number(found[1]);
    const last = found[2] === undefined ? first : Number(found[2]);
    return first <= last ? { first, last } : undefined;
  },
  write: format_steps,
};

const kFields: { readonly [K in keyof UrlState]-?: Field<NonNullable<UrlState[K]>> } = {
  run: text,
  worker: text,
  span: natural,
  view: { read: (raw) => (/^[a-z]{1,20}$/.test(raw) ? raw : undefined), write: (value) => value },
  steps,
  filter: text,
  sort: { read: (raw) => (/^-?\w{1,40}$/.test(raw) ? raw : undefined), write: (value) => value },
  group: text,
  bars: text,
  kind: text,
  cols: list,
  open: text,
  device: text,
  root: natural,
  t: range,
  sel: natural,
  area: range,
  q: text,
  pin: list,
  fold: list,
  hide: list,
  move: list,
  table: flag,
  vs: { read: (raw) => (/^[0-9a-f]{16}$/.test(raw) ? raw : undefined), write: (value) => value },
  vs_steps: steps,
  path: flag,
  verdict: { read: (raw) => (/^[a-z_]{1,40}$/.test(raw) ? raw : undefined), write: (value) => value },
  tags: list,
  runs: list,
  axis: { read: (raw) => (/^(wall|relative)$/.test(raw) ? raw : undefined), write: (value) => value },
  smooth: fraction,
  log: flag,
  zoom: text,
  shift: integer,
};

export function format_steps(value: StepRange): string {
  return value.first === value.last ? `${value.first}` : `${value.first}-${value.last}`;
}

/** Reads a hash, with or without `#`. Never fails. `prefix` is TensorBoard's (`p.traceglass.`). */
export function parse_hash(hash: string, prefix = ''): UrlState {
  const state: Record<string, unknown> = { ...kDefaults };
  for (const pair of hash.replace(/^#/, '').split('&')) {
    const at = pair.indexOf('=');
    if (at < 0 || !pair.startsWith(prefix)) continue;
    const key = pair.slice(prefix.length, at);
    if (!Object.hasOwn(kFields, key)) continue;
    const value = kFields[key as keyof UrlState].read(decode(pair.slice(at + 1)));
    if (value !== undefined) state[key] = value;
  }
  return state as unknown as UrlState;
}

/** The hash of a state, without `#`. */
export function format_hash(state: UrlState, prefix = ''): string {
  const pairs = [`${prefix}v=${kVersion}`];
  for (const key of Object.keys(kFields) as (keyof UrlState)[]) {
    const value = state[key];
    if (value === undefined || value === kDefaults[key]) continue;
    const write = kFields[key].write as (value: unknown) => string;
    pairs.push(`${prefix}${key}=${encode(write(value))}`);
  }
  return pairs.join('&');
}

/** A state with some fields changed; a change of view starts the new one from its defaults. */
export function patched(state: UrlState, patch: Partial<UrlState>): UrlState {
  const next: Record<string, unknown> = { ...state };
  if (patch.view !== undefined && patch.view !== state.view) {
    for (const key of kPerView) next[key] = kDefaults[key];
  }
  return { ...(next as unknown as UrlState), ...patch };
}

/** Percent-escapes only what a hash cannot hold, so that the line stays readable. */
function encode(raw: string): string {
  return encodeURIComponent(raw).replace(/%(2C|3A|2F|40|28|29|3C|3E)/gi, (escaped) =>
    /%3[CE]/i.test(escaped) ? escaped : decodeURIComponent(escaped),
  );
}

function decode(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
}
