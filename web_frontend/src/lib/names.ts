// Kernel names as a person would say them: `vectorized_elementwise_kernel<… Add …>` for 400 characters of C++. The whole name
// stays on hover, in copies and in CSV. Where two names of a table fold alike, the arguments in which they differ are shown.

interface Parsed {
  readonly base: string;
  /** What the fold hides: template arguments, or the tail of a very long generated name. */
  readonly args: readonly string[];
  readonly open: string;
  readonly close: string;
}

const kAnonymous = '(anonymous namespace)::';
const kNamespaces = new Set(['at', 'c10', 'std', 'native', 'detail', 'cuda', 'binary_internal', 'const']);
/** Longest text of one shown argument. */
const kArgument = 28;
/** Generated names (Tensile, CK) up to this length are left whole. */
const kGenerated = 72;

/** Folds one name by itself. What does not look like C++ is left alone (`enumerate(DataLoader)#…`, `Memcpy HtoD (…)`). */
export function fold_name(name: string): string {
  const parsed = parse(name);
  return parsed === undefined ? name : render(parsed, telling(parsed.args));
}

/** Folds all names of one table, so that different names stay different. */
export function fold_names(names: Iterable<string>): Map<string, string> {
  const folded = new Map<string, string>();
  const alike = new Map<string, string[]>();
  for (const name of names) {
    if (folded.has(name)) continue;
    const short = fold_name(name);
    folded.set(name, short);
    const group = alike.get(short);
    if (group === undefined) alike.set(short, [name]);
    else group.push(name);
  }
  for (const group of alike.values()) {
    if (group.length > 1) tell_apart(group, folded);
  }
  return folded;
}

function tell_apart(group: readonly string[], folded: Map<string, string>): void {
  const parsed = group.map(parse);
  const longest = Math.max(...parsed.map((one) => one?.args.length ?? 0));
  const differing: number[] = [];
  for (let i = 0; i < longest; i++) {
    if (new Set(parsed.map((one) => one?.args[i])).size > 1) differing.push(i);
  }
  const taken = new Set<string>();
  group.forEach((name, index) => {
    const one = parsed[index];
    if (one === undefined) return;
    const hint = telling(one.args);
    const shown = differing.slice(0, 4).map((i) =>
      argument(
        one.args[i] ?? '',
        parsed.map((other) => other?.args[i] ?? ''),
      ),
    );
    const inside = [...new Set([hint, ...shown])].filter(Boolean).join(', ');
    let text = render(one, inside);
    // Alike in every part that can be shown (a namespace, a parameter list): at least two rows with two names.
    for (let n = 2; taken.has(text); n++) text = `${render(one, inside)} (${n})`;
    taken.add(text);
    folded.set(name, text);
  });
}

function render(parsed: Parsed, inside: string): string {
  if (parsed.args.length === 0) return parsed.base;
  return `${parsed.base}${parsed.open}${inside === '' ? '…' : `… ${inside} …`}${parsed.close}`;
}

function parse(name: string): Parsed | undefined {
  if (name.startsWith('_Z')) return parse_mangled(name);
  const cpp = /^void |::|^[A-Za-z_]\w*(<.*>)?\(.*\)/s.test(name) && !/^[a-z]+::[\w.]+$/.test(name);
  if (!cpp || /^(enumerate|DataLoader|Optimizer|ProfilerStep)\b/.test(name)) return parse_generated(name);
  const text = name.replace(/^void /, '').replaceAll(kAnonymous, '');
  const { last, args } = last_component(text);
  return { base: last, args, open: '<', close: '>' };
}

/** `t a::b<x>::c<y, z>(int) …` → `c`, [`y`, `z`]. A `>` closes only what a `<` at its own level of brackets opened. */
function last_component(text: string): { last: string; args: string[] } {
  const open: string[] = [];
  let start = 0;
  let angle = -1;
  let args: string[] = [];
  let end = text.length;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] ?? '';
    if (open.length === 0) {
      if (c === '(' && i > start) {
        end = i;
        break;
      }
      const colons = c === ':' && text[i + 1] === ':';
      if (colons || c === ' ') {
        start = i + (colons ? 2 : 1);
        angle = -1;
        args = [];
        if (colons) i++;
        continue;
      }
      if (c === '<') angle = i;
    }
    if ('<({['.includes(c)) open.push(c);
    else if (c === '>') {
      if (open.at(-1) === '<') open.pop();
    } else if (')}]'.includes(c)) {
      while (open.length > 0 && open.pop() === '<');
    }
    if (c === '>' && open.length === 0 && angle >= 0) args = split_arguments(text.slice(angle + 1, i));
  }
  if (open.length > 0 && angle >= 0) args = split_arguments(text.slice(angle + 1));
  const last = text.slice(start, angle < 0 ? end : angle).trim();
  return { last: last === '' ? text : last, args };
}

function split_arguments(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '<' || c === '(' || c === '{' || c === '[') depth++;
    else if (c === '>' || c === ')' || c === '}' || c === ']') depth--;
    else if (c === ',' && depth === 0) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  parts.push(text.slice(start).trim());
  return parts;
}

/** `_ZN2at6native12_GLOBAL__N_13fooIfEEv…` → `foo<…>`: the last of the length-prefixed names. */
function parse_mangled(name: string): Parsed | undefined {
  let at = /^_Z(L|N[KVr]*)?/.exec(name)?.[0].length ?? 0;
  let last = '';
  for (;;) {
    const digits = /^\d{1,4}/.exec(name.slice(at, at + 4))?.[0];
    if (digits === undefined) break;
    at += digits.length;
    last = name.slice(at, at + Number(digits));
    at += Number(digits);
  }
  return last === '' ? undefined : { base: last, args: [name.slice(at)], open: '<', close: '>' };
}

/** A very long name of underscored parts: the first ones stay, as far as the tile size of a GEMM if there is one. */
function parse_generated(name: string): Parsed | undefined {
  if (name.length <= kGenerated || /[\s(<:]/.test(name)) return undefined;
  const parts = name.split('_');
  const tile = parts.findIndex((part) => /^(MT|bt)\d+x\d+/.test(part));
  let keep = tile > 0 ? tile + 1 : 1;
  while (tile < 0 && keep < parts.length && parts.slice(0, keep + 1).join('_').length < 40) keep++;
  if (keep >= parts.length) return undefined;
  return { base: parts.slice(0, keep).join('_'), args: parts.slice(keep), open: '_', close: '' };
}

/** The one word in the arguments that says what the kernel does: its functor or the operator's kernel behind a lambda. */
function telling(args: readonly string[]): string {
  const text = args.join(', ');
  const patterns = [
    /\b(cutlass_\w+|sm\d+_xmma_\w+)/,
    /\bCUDAFunctor(?:On\w+?)?_(\w+)/,
    /\b(?!AUnary|BUnary|Binary(?!Op)|Unary|Opaque)(\w{2,}?)Functor\b/,
    /\b(\w+?)_functor\b/,
    /\b(\w+?)_kernel_(?:cuda|impl|hip)\b/,
    /\b(\w+?)_(?:cuda|hip)(?:_out)?\(/,
    /\b(\w+?)Ops\b/,
    /\b(\w+?)_kernel\b/,
    /\bstd::(plus|minus|multiplies|divides)\b/,
  ];
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1];
    if (found !== undefined) return clip(found);
  }
  return '';
}

/** One argument as it differs from the others in its place: itself if simple, else the words that are its own. */
function argument(text: string, others: readonly string[]): string {
  if (!/[<({]/.test(text)) return clip(text.replace(/\b\w+::/g, ''));
  const words = (from: string): string[] => from.match(/\w+/g) ?? [];
  const common = words(others[0] ?? '').filter((word) =>
    others.every((other) => words(other).includes(word)),
  );
  const own = [...new Set(words(text))].filter((word) => !common.includes(word) && !kNamespaces.has(word));
  return clip(own.slice(0, 3).join(' '));
}

function clip(text: string): string {
  return text.length > kArgument ? `${text.slice(0, kArgument - 1)}…` : text;
}

/** A grid or block as people write it: `[128, 1, 1]` → `128`, `[5, 16, 16]` → `5 × 16 × 16`; trailing ones say nothing. */
export function dimensions(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const numbers = text.replace(/[[\]()\s]/g, '').split(',');
  while (numbers.length > 1 && numbers.at(-1) === '1') numbers.pop();
  return numbers.join(' × ');
}
