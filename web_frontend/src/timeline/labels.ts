// Names on slices: the longest spelling that fits, without measuring text in the frame.

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
  const candidates = [text, folded(text), short_name(text)];
  const out: string[] = [];
  for (const c of candidates) {
    const cut = c.length > kLongest ? `${c.slice(0, kLongest - 1)}…` : c;
    if (cut !== '' && (out.length === 0 || cut.length < (out.at(-1)?.length ?? 0))) out.push(cut);
  }
  return out.length === 0 ? [''] : out;
}

/** `void at::native::f<4, X>(int)` → `f<…>`; names that are no C++ only lose their namespace. */
function folded(name: string): string {
  const bare = name.replace(/^(?:void|int|float|bool|unsigned|static)\s+/, '');
  const open = bare.indexOf('<');
  if (open < 0) return is_cxx(bare) ? unscoped(bare.replace(/\(.*$/, '')) : unscoped(bare);
  return `${unscoped(bare.slice(0, open))}<…>`;
}

/** A functor says more than the generic kernel that runs it: `AddFunctor` → `Add`. */
export function short_name(name: string): string {
  const functor = /(?:::|\b)(\w+?)(?:Functor|_functor|Ops?)\b(?:_\w+)?\s*</.exec(name);
  if (functor !== null && /(?:elementwise|reduce|foreach|multi_tensor)/i.test(name)) {
    const said = functor[1] ?? '';
    if (said.length > 1) return said;
  }
  return folded(name).replace(/<…>$/, '');
}

function is_cxx(name: string): boolean {
  return /^[\w:~]+\(.*\)/.test(name) && name.includes('::');
}

/** Drops leading `ns::` scopes, but never from text with spaces or slashes in its head. */
function unscoped(name: string): string {
  const match = /^(?:(?:\w+|\(anonymous namespace\))::)+(?=[\w~])/.exec(name);
  return match === null ? name : name.slice(match[0].length);
}
