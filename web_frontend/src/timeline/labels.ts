// Names on slices: the longest spelling that fits, without measuring text in the frame.

import { fold_name } from '../lib/names';

export const kLabelFontPx = 11;
/** Below this much room a name says nothing. */
export const kLabelRoomPx = 26;

/** Widths of text in one font, by sums of cached character widths (kerning is below a pixel). */
export class TextMeasure {
  private readonly ascii = new Float32Array(128);
  private readonly wide = new Map<string, number>();
  readonly ellipsis: number;

  constructor(private readonly measure: (text: string) => number) {
    for (let c = 32; c < 127; c++) this.ascii[c] = measure(String.fromCharCode(c));
    this.ellipsis = measure('…');
  }

  width(text: string): number {
    let sum = 0;
    for (const ch of text) sum += this.char(ch);
    return sum;
  }

  /** Longest head of `text` that fits with an ellipsis; '' if not even two characters do. */
  crop(text: string, room: number): string {
    let sum = this.ellipsis;
    let chars = 0;
    let at = 0;
    for (const ch of text) {
      sum += this.char(ch);
      if (sum > room) break;
      at += ch.length;
      chars++;
    }
    return chars < 2 ? '' : `${text.slice(0, at)}…`;
  }

  private char(ch: string): number {
    const code = ch.charCodeAt(0);
    if (code < 128) return this.ascii[code] ?? 0;
    let width = this.wide.get(ch);
    if (width === undefined) {
      width = this.measure(ch);
      this.wide.set(ch, width);
    }
    return width;
  }
}

/** Widths at the labels' size, measured on a context of its own. */
export function measure_in(page: Document, font: string): TextMeasure {
  const ctx = page.createElement('canvas').getContext('2d');
  if (ctx === null) return new TextMeasure((text) => text.length * 6);
  ctx.font = `${kLabelFontPx}px ${font}`;
  return new TextMeasure((text) => ctx.measureText(text).width);
}

/** Spellings of one name, longest first, with their widths. */
interface Spellings {
  readonly texts: readonly string[];
  readonly widths: readonly number[];
}

/** Labels by interned name. */
export class LabelCache {
  private readonly by_name = new Map<number, Spellings>();

  constructor(
    private readonly names: (id: number) => string | undefined,
    private readonly measure: TextMeasure,
  ) {}

  /** The best label for a slice with `room` px for text; '' when nothing useful fits. */
  fit(name: number, room: number): string {
    if (room < kLabelRoomPx) return '';
    const s = this.spellings(name);
    if (s === undefined) return '';
    for (let n = 0; n < s.texts.length; n++) {
      if ((s.widths[n] ?? 0) <= room) return s.texts[n] ?? '';
    }
    return this.measure.crop(s.texts.at(-1) ?? '', room);
  }

  private spellings(name: number): Spellings | undefined {
    const known = this.by_name.get(name);
    if (known !== undefined) return known;
    const full = this.names(name);
    if (full === undefined) return undefined;
    const texts = spellings_of(full);
    const made = { texts, widths: texts.map((t) => this.measure.width(t)) };
    this.by_name.set(name, made);
    return made;
  }
}

const kLongest = 120;

/** From the name as written to what a person would say, each shorter than the one before. */
export function spellings_of(name: string): string[] {
  const text = name.replace(/\s+/g, ' ').trim().slice(0, 4096);
  const folded = fold_name(text).replace('<…>', '');
  const candidates = [text, folded, short_name(text, folded)];
  const out: string[] = [];
  for (const c of candidates) {
    const cut = c.length > kLongest ? `${c.slice(0, kLongest - 1)}…` : c;
    if (cut !== '' && (out.length === 0 || cut.length < (out.at(-1)?.length ?? 0))) out.push(cut);
  }
  return out.length === 0 ? [''] : out;
}

/** What is left of a name when there is hardly room: the word that tells it from its neighbours. */
const kShort: readonly RegExp[] = [
  /<… (.+) …>$/, // a functor says more than the generic kernel that runs it
  /\.py\(\d+\): (.+)$/, // the function, not its file
  /^enumerate\((DataLoader)\)/,
  /^Optimizer\.\w+#(.+)$/,
  /^nn\.Module: (.+)$/,
  /evaluate_function: (.+)$/,
  /^(?:\w+::)+([\w~].*)$/,
];

function short_name(name: string, folded: string): string {
  for (const pattern of kShort) {
    const found = pattern.exec(folded)?.[1] ?? pattern.exec(name)?.[1];
    if (found !== undefined) return found;
  }
  return folded;
}
