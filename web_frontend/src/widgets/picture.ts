// A part of the page as a picture that stands alone: an SVG of what is seen of it, with colours and fonts resolved, and from
// that a PNG. Boxes, texts, drawings and canvases are taken from where the browser put them, so that every chart, whatever
// it is made of, has one way out. Texts of a trace go in as text.

const kSvg = 'http://www.w3.org/2000/svg';
const kPad = 16;
const kCaptionPx = 13;
/** Pixels of a PNG for each of the page: sharp in a document. */
const kScale = 2;
/** What one works with, and nobody reads in a picture. */
const kControls = '.button, .search, input, [data-no-picture]';
/** What of a drawing's looks is inherited or set by a class, and would be lost outside of the page. */
const kDrawn = [
  ...[
    'fill',
    'fill-opacity',
    'stroke',
    'stroke-width',
    'stroke-opacity',
    'stroke-dasharray',
    'stroke-linecap',
  ],
  ...[
    'opacity',
    'font-family',
    'font-size',
    'font-weight',
    'text-anchor',
    'dominant-baseline',
    'vector-effect',
  ],
  ...['display', 'visibility'],
];

/** Names within a picture are told apart by number. */
let ids = 0;

export interface Caption {
  readonly title: string;
  /** Of what: the trace's file, the steps. */
  readonly note: string;
}

/** The SVG of what `element` shows, below its caption. */
export function svg_of(element: Element, caption: Caption): SVGSVGElement {
  const box = element.getBoundingClientRect();
  const head = kPad + kCaptionPx + 8;
  const svg = make('svg', {
    width: Math.ceil(box.width) + 2 * kPad,
    height: Math.ceil(box.height) + head + kPad,
  });
  const page = getComputedStyle(document.body);
  svg.append(make('rect', { width: '100%', height: '100%', fill: ground_of(element) }));
  const text = make('text', { x: kPad, y: kPad + kCaptionPx - 3, fill: page.color });
  text.style.font = `${kCaptionPx}px ${page.fontFamily}`;
  text.append(caption.title, make('tspan', { dx: 8, 'fill-opacity': 0.7 }, caption.note));
  text.firstElementChild?.before(document.createTextNode(' '));
  const all = make('g', { transform: `translate(${kPad - box.left} ${head - box.top})` });
  add(element, all);
  svg.append(text, all);
  return svg;
}

export const svg_text = (svg: SVGSVGElement): string => new XMLSerializer().serializeToString(svg);

/** The PNG of an SVG; undefined where the browser makes none. */
export async function png_of(svg: SVGSVGElement): Promise<Blob | undefined> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg_text(svg))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = Number(svg.getAttribute('width')) * kScale;
  canvas.height = Number(svg.getAttribute('height')) * kScale;
  const context = canvas.getContext('2d');
  if (context === null) return undefined;
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob((blob) => done(blob ?? undefined), 'image/png'));
}

function make<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string | number>>,
  text = '',
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, `${value}`);
  if (text !== '') made.textContent = text;
  return made;
}

const is_clear = (colour: string): boolean => colour === 'transparent' || /,\s*0\)$|\/\s*0\)$/.test(colour);

/** The first ground below an element that is not clear. */
function ground_of(element: Element): string {
  for (let at: Element | null = element; at !== null; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (!is_clear(colour)) return colour;
  }
  return 'white';
}

function add(node: Element, out: SVGElement): void {
  const style = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  // What a closed <details> holds is laid out, and not seen.
  if (!node.checkVisibility({ visibilityProperty: true }) && style.display !== 'contents') return;
  if (node.matches(kControls) || style.clipPath !== 'none') return;
  if (box.width <= 1 && box.height <= 1 && style.display !== 'contents') return; // for screen readers alone
  const cut = style.overflowX !== 'visible' || style.overflowY !== 'visible';
  const into = style.opacity === '1' && !cut ? out : make('g', { opacity: style.opacity });
  if (into !== out) out.append(into);
  if (cut) {
    const clip = make('clipPath', { id: `cut-${ids++}` });
    clip.append(make('rect', { x: box.x, y: box.y, width: box.width, height: box.height }));
    into.append(clip);
    into.setAttribute('clip-path', `url(#${clip.id})`);
  }
  if (node instanceof SVGSVGElement) into.append(drawing(node, box));
  else if (node instanceof HTMLCanvasElement) into.append(image(node, box));
  else {
    add_box(style, box, into);
    for (const child of node.childNodes) {
      if (child instanceof Element) add(child, into);
      else if (child instanceof Text) add_text(child, style, into);
    }
  }
}

function add_box(style: CSSStyleDeclaration, box: DOMRect, out: SVGElement): void {
  const round = /%$/.test(style.borderRadius)
    ? Math.min(box.width, box.height) / 2
    : Number.parseFloat(style.borderRadius) || 0;
  const place = { x: box.x, y: box.y, width: box.width, height: box.height, rx: round };
  if (!is_clear(style.backgroundColor)) out.append(make('rect', { ...place, fill: style.backgroundColor }));
  if (style.backgroundImage.includes('gradient')) out.append(...hatched(style.backgroundImage, place));
  add_border(style, box, round, out);
}

const kSides = ['top', 'right', 'bottom', 'left'] as const;

function add_border(style: CSSStyleDeclaration, box: DOMRect, round: number, out: SVGElement): void {
  const lines = kSides.map((side) => {
    const of = (what: string): string => style.getPropertyValue(`border-${side}-${what}`);
    const width = of('style') === 'none' || is_clear(of('color')) ? 0 : Number.parseFloat(of('width'));
    return { side, width, colour: of('color') };
  });
  const [first] = lines;
  if (first === undefined || lines.every(({ width }) => width === 0)) return;
  if (lines.every(({ width, colour }) => width === first.width && colour === first.colour)) {
    const half = first.width / 2;
    const size = { width: Math.max(0, box.width - 2 * half), height: Math.max(0, box.height - 2 * half) };
    const line = { fill: 'none', stroke: first.colour, 'stroke-width': first.width };
    out.append(make('rect', { x: box.x + half, y: box.y + half, ...size, rx: round, ...line }));
    return;
  }
  for (const { side, width, colour } of lines) {
    if (width === 0) continue;
    const upright = side === 'left' || side === 'right';
    out.append(
      make('rect', {
        x: side === 'right' ? box.right - width : box.x,
        y: side === 'bottom' ? box.bottom - width : box.y,
        width: upright ? width : box.width,
        height: upright ? box.height : width,
        fill: colour,
      }),
    );
  }
}

/** The page's stripes: lines of the first colour of the gradient that is not clear. */
function hatched(gradient: string, place: Readonly<Record<string, number>>): SVGElement[] {
  const colours = gradient.match(/(?:rgba?|oklch|oklab|color|hsla?)\([^()]*\)|#[0-9a-f]{3,8}/gi) ?? [];
  const colour = colours.find((one) => !is_clear(one));
  if (colour === undefined) return [];
  const id = `stripes-${ids++}`;
  const pattern = make('pattern', {
    id,
    width: 4,
    height: 4,
    patternUnits: 'userSpaceOnUse',
    patternTransform: 'rotate(45)',
  });
  pattern.append(make('rect', { width: 1.5, height: 4, fill: colour }));
  return [pattern, make('rect', { ...place, fill: `url(#${id})` })];
}

/** A line of text at a time, as the browser broke it; what an ellipsis hides stays hidden by its box. */
function add_text(node: Text, style: CSSStyleDeclaration, out: SVGElement): void {
  const words = node.data.trim();
  if (words === '') return;
  const range = document.createRange();
  const { parentElement: holder } = node;
  const room = holder?.getBoundingClientRect();
  let line: { from: number; box: DOMRect } | undefined;
  const lines: { text: string; box: DOMRect }[] = [];
  const end = (to: number): void => {
    if (line !== undefined) lines.push({ text: node.data.slice(line.from, to), box: line.box });
  };
  for (let at = 0; at < node.data.length; at++) {
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    const box = range.getBoundingClientRect();
    if (box.width === 0) continue;
    if (style.textOverflow === 'ellipsis' && room !== undefined && box.right > room.right + 1) {
      end(at);
      const last = lines.at(-1);
      if (last !== undefined) lines[lines.length - 1] = { ...last, text: `${last.text.slice(0, -1)}…` };
      line = undefined;
      break;
    }
    // A line begins at its first letter.
    if (line === undefined && node.data.charAt(at).trim() === '') continue;
    if (line === undefined || Math.abs(box.top - line.box.top) > 2) {
      end(at);
      line = { from: at, box };
    }
  }
  end(node.data.length);
  for (const { text, box } of lines) {
    const shown = style.textTransform === 'uppercase' ? text.toUpperCase() : text;
    const made = make('text', { x: box.left, y: box.top + box.height / 2, fill: style.color }, shown.trim());
    made.setAttribute('dominant-baseline', 'central');
    made.setAttribute('font-family', style.fontFamily);
    made.setAttribute('font-size', style.fontSize);
    made.setAttribute('font-weight', style.fontWeight);
    out.append(made);
  }
}

/** A drawing of the page with its looks written into it. */
function drawing(node: SVGSVGElement, box: DOMRect): SVGElement {
  const copy = node.cloneNode(true) as SVGSVGElement;
  const originals = [node, ...node.querySelectorAll('*')];
  const copies = [copy, ...copy.querySelectorAll('*')];
  copies.forEach((one, i) => {
    const original = originals[i];
    if (original === undefined) return;
    const style = getComputedStyle(original);
    for (const name of kDrawn) one.setAttribute(name, style.getPropertyValue(name));
    one.removeAttribute('class');
    one.removeAttribute('style');
  });
  for (const [name, value] of [
    ['x', box.x],
    ['y', box.y],
    ['width', box.width],
    ['height', box.height],
  ] as const)
    copy.setAttribute(name, `${value}`);
  return copy;
}

function image(node: HTMLCanvasElement, box: DOMRect): SVGElement {
  const made = make('image', { x: box.x, y: box.y, width: box.width, height: box.height });
  if (node.width > 0 && node.height > 0) made.setAttribute('href', node.toDataURL('image/png'));
  return made;
}
