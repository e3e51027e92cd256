// Every pair of colours that stands on another in tokens.css, by WCAG 2.1: text 4.5, data and edges 3.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

type Rgb = readonly [number, number, number];

/** OKLCH to linear sRGB (Ottosson), clamped into the gamut as browsers do for display. */
function linear_rgb(l: number, c: number, h: number): Rgb {
  const a = c * Math.cos((h * Math.PI) / 180);
  const b = c * Math.sin((h * Math.PI) / 180);
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const clamp = (value: number): number => Math.max(0, Math.min(1, value));
  return [
    clamp(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
    clamp(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
    clamp(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short),
  ];
}

const luminance = ([r, g, b]: Rgb): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;

function contrast(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function colours(block: string): Map<string, Rgb> {
  const found = new Map<string, Rgb>();
  for (const [, name, l, c, h] of block.matchAll(/--([\w-]+):\s*oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)/g)) {
    if (name !== undefined) found.set(name, linear_rgb(Number(l), Number(c), Number(h)));
  }
  return found;
}

const text = readFileSync('src/app/tokens.css', 'utf8');
const at = text.indexOf(':root[data-theme');
const light = colours(text.slice(0, at));
const dark = new Map([...light, ...colours(text.slice(at))]);

const grounds = ['bg', 'panel', 'sunk'];
const kinds = ['kernel', 'op', 'loader', 'memcpy', 'memset', 'comm', 'runtime', 'note', 'python', 'other'];
const pairs: readonly (readonly [string, string, number])[] = [
  ...['ink', 'ink-2', 'ink-3'].flatMap((ink) =>
    [...grounds, 'hover', 'sel'].map((ground) => [ink, ground, 4.5] as const),
  ),
  ...['accent', 'err', 'warn', 'good'].flatMap((ink) =>
    ['bg', 'panel'].map((ground) => [ink, ground, 4.5] as const),
  ),
  ['accent-ink', 'accent', 4.5],
  ['accent', 'accent-wash', 4.5],
  ['ink', 'warn-wash', 4.5],
  ['ink', 'err-wash', 4.5],
  ['edge', 'panel', 3],
  ...kinds.flatMap((kind) => [
    [`k-${kind}`, 'panel', 3] as const,
    [`k-${kind}`, 'bg', 3] as const,
    [`k-${kind}-ink`, `k-${kind}`, 4.5] as const,
  ]),
];

it.each([
  ['light', light],
  ['dark', dark],
])('%s: text and data can be told from their ground', (_, theme) => {
  const failed = pairs.flatMap(([ink, ground, least]) => {
    const found = contrast(theme.get(ink)!, theme.get(ground)!);
    return found < least ? [`${ink} on ${ground}: ${found.toFixed(2)} < ${least}`] : [];
  });
  expect(failed).toEqual([]);
});
