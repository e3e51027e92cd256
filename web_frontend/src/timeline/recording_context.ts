// A drawing context that writes down what is drawn: tests read calls, not pixels.
import type { PaintContext } from './batch';
import { kHues, kShades, type Palette } from './palette';

export interface DrawnRect {
  readonly colour: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}
export interface DrawnText {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly colour: string;
}

export class RecordingContext implements PaintContext {
  fillStyle: PaintContext['fillStyle'] = '';
  strokeStyle: PaintContext['strokeStyle'] = '';
  lineWidth = 1;
  font = '';
  textBaseline: CanvasTextBaseline = 'alphabetic';
  textAlign: CanvasTextAlign = 'left';
  globalAlpha = 1;
  readonly rects: DrawnRect[] = [];
  readonly outlines: DrawnRect[] = [];
  readonly texts: DrawnText[] = [];
  readonly curves: number[][] = [];
  style_changes = 0;
  private last_style = '';

  fillRect(x: number, y: number, w: number, h: number): void {
    const colour = name_of(this.fillStyle);
    if (colour !== this.last_style) this.style_changes++;
    this.last_style = colour;
    this.rects.push({ colour, x, y, w, h });
  }
  strokeRect(x: number, y: number, w: number, h: number): void {
    this.outlines.push({ colour: name_of(this.strokeStyle), x, y, w, h });
  }
  fillText(text: string, x: number, y: number): void {
    this.texts.push({ text, x, y, colour: name_of(this.fillStyle) });
  }
  bezierCurveTo(...at: [number, number, number, number, number, number]): void {
    this.curves.push(at);
  }
  of_colour(colour: string): DrawnRect[] {
    return this.rects.filter((r) => r.colour === colour);
  }
  clearRect(): void {}
  beginPath(): void {}
  moveTo(): void {}
  lineTo(): void {}
  closePath(): void {}
  rect(): void {}
  clip(): void {}
  fill(): void {}
  stroke(): void {}
  save(): void {}
  restore(): void {}
  setTransform(): void {}
  setLineDash(): void {}
}

function name_of(style: PaintContext['fillStyle']): string {
  return typeof style === 'string' ? style : 'pattern';
}

/** Colours that name themselves: `op`, `op tint`, `op ink`. */
export const kTestPalette: Palette = {
  solid: kHues.flatMap((hue) => Array.from({ length: kShades }, () => hue)),
  tint: kHues.map((hue) => `${hue} tint`),
  ink: kHues.map((hue) => `${hue} ink`),
  light_ink: kHues.map(() => false),
  hue: (hue) => hue,
  panel: 'panel',
  sunk: 'sunk',
  rule: 'rule',
  rule_2: 'rule 2',
  text: 'text',
  text_2: 'text 2',
  text_3: 'text 3',
  accent: 'accent',
  accent_ink: 'accent ink',
  accent_wash: 'accent wash',
  font: 'sans',
};
