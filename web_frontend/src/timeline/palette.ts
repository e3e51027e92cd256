// Colours of the timeline, read from the page's tokens (tokens.css): the only source of colour.
import { kernel_kind } from '../lib/kinds';

/** One colour family of a tile's `kind` byte. */
export type Hue =
  'op' | 'note' | 'runtime' | 'kernel' | 'memcpy' | 'memset' | 'python' | 'comm' | 'loader' | 'other';

export const kHues: readonly Hue[] = [
  'op',
  'note',
  'runtime',
  'kernel',
  'memcpy',
  'memset',
  'python',
  'comm',
  'loader',
  'other',
];

/** What a person calls it. */
export const kHueLabels: Record<Hue, string> = {
  op: 'operator',
  note: 'annotation',
  runtime: 'runtime',
  kernel: 'kernel',
  memcpy: 'memcpy',
  memset: 'memset',
  python: 'Python',
  comm: 'communication',
  loader: 'data loading',
  other: 'other',
};

const kKindMask = 15;
const kKindCommunication = 16;
const kKindLoader = 32;

// In the order of `Kind` (libtrace/event.h), as numbered by TILE_FORMAT.md.
const kHueOfKind: readonly Hue[] = [
  'op',
  'note',
  'runtime',
  'kernel',
  'memcpy',
  'memset',
  'python',
  'note', // device annotation
  'other', // sync
  'other', // overhead
  'other', // span
  'other',
];
const kHueOfName: Record<string, Hue> = {
  op: 'op',
  annotation: 'note',
  runtime: 'runtime',
  kernel: 'kernel',
  memcpy: 'memcpy',
  memset: 'memset',
  python: 'python',
  device_annotation: 'note',
};

/** Index into kHues. */
export function hue_index(kind_byte: number): number {
  if ((kind_byte & kKindCommunication) !== 0) return kComm;
  if ((kind_byte & kKindLoader) !== 0) return kLoader;
  return kIndexOfKind[kind_byte & kKindMask] ?? kOther;
}

/** The family of a kind's name as the API spells it; collectives and waits for data are known by their own names. */
export function hue_of_kind_name(kind: string, name = ''): Hue {
  if (kind === 'annotation' && kLoaderName.test(name)) return 'loader';
  if (kind === 'kernel') return kernel_kind(name);
  return kHueOfName[kind] ?? 'other';
}
const kLoaderName = /^(?:enumerate\(DataLoader\)|DataLoader)/; // as libtrace/model/category.cc

const kIndexOfKind = kHueOfKind.map((hue) => kHues.indexOf(hue));
const kComm = kHues.indexOf('comm');
const kLoader = kHues.indexOf('loader');
const kOther = kHues.indexOf('other');

/** Neighbours of one kind differ a little by name: patterns that repeat can be seen to repeat. */
export const kShades = 3;
const kShadeMix = ['', 'black 9%', 'white 9%'];

export function shade_of(name: number): number {
  // A multiplicative hash: names of one operator family have ids in a row.
  return (Math.imul(name, 0x9e3779b1) >>> 16) % kShades;
}

export interface Palette {
  /** Exact slices, by hue index and shade. */
  readonly solid: readonly string[];
  /** By hue index: the pale ground of folded runs, and text on exact slices. */
  readonly tint: readonly string[];
  readonly ink: readonly string[];
  /** By hue index: the text is lighter than the slice. */
  readonly light_ink: readonly boolean[];
  /** The plain colour of a family. */
  hue(hue: Hue): string;
  readonly panel: string;
  readonly sunk: string;
  readonly rule: string;
  readonly rule_2: string;
  readonly text: string;
  readonly text_2: string;
  readonly text_3: string;
  readonly accent: string;
  readonly accent_ink: string;
  readonly accent_wash: string;
  readonly font: string;
}

/** Reads the tokens in force on an element (theme, forced colours). */
export function read_palette(style: { getPropertyValue(name: string): string }): Palette {
  const token = (name: string): string => style.getPropertyValue(name).trim() || '#888';
  const share = Number(style.getPropertyValue('--tint')) || 0.22;
  const percent = `${(share * 100).toFixed(0)}%`;
  const hues = kHues.map((hue) => token(`--k-${hue}`));
  return {
    solid: hues.flatMap((c) => kShadeMix.map((mix) => (mix === '' ? c : `color-mix(in srgb, ${c}, ${mix})`))),
    // Mixed towards the panel, opaque: overlapping antialiased edges do not darken.
    tint: hues.map((c) => `color-mix(in srgb, ${c} ${percent}, ${token('--panel')})`),
    hue: (hue) => hues[kHues.indexOf(hue)] ?? '#888',
    light_ink: kHues.map((hue) => lightness(token(`--k-${hue}-ink`)) > 0.5),
    ink: kHues.map((hue) => token(`--k-${hue}-ink`)),
    panel: token('--panel'),
    sunk: token('--sunk'),
    rule: token('--rule'),
    rule_2: token('--rule-2'),
    text: token('--ink'),
    text_2: token('--ink-2'),
    text_3: token('--ink-3'),
    accent: token('--accent'),
    accent_ink: token('--accent-ink'),
    accent_wash: token('--accent-wash'),
    font: token('--font'),
  };
}

/** L of an `oklch()` token, 0 to 1. */
function lightness(colour: string): number {
  return Number(/^oklch\(\s*([\d.]+)/.exec(colour)?.[1] ?? 0);
}
