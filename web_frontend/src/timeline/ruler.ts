// The head above the tracks: the ruler's times, and the band of steps.
import type { PaintContext } from './batch';
import type { TextMeasure } from './labels';
import { kHues, type Palette } from './palette';
import { format_duration, tick_label, type Ticks } from './ticks';
import { x_of_ns, type Viewport } from './viewport';

export const kRulerH = 20;
export const kBandH = 20;
export const kHeadH = kRulerH + kBandH;

export interface StepInfo {
  /** As a person says it: "17". */
  readonly label: string;
  readonly start_ns: number;
  readonly end_ns: number;
  /** Not one of the steps that the page's figures cover. */
  readonly set_aside: boolean;
  readonly incomplete: boolean;
}

export function paint_ruler(
  ctx: PaintContext,
  v: Viewport,
  ticks: Ticks,
  palette: Palette,
  measure: TextMeasure,
): void {
  ctx.fillStyle = palette.panel;
  ctx.fillRect(0, 0, v.width_px, kRulerH);
  ctx.font = `11px ${palette.font}`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  for (const ns of ticks.at_ns) {
    const x = Math.round(x_of_ns(v, ns));
    ctx.fillStyle = palette.rule_2;
    ctx.fillRect(x, 0, 1, kRulerH);
    ctx.fillStyle = palette.text_2;
    const text = tick_label(ns, ticks);
    if (x + 4 + measure.width(text) <= v.width_px) ctx.fillText(text, x + 4, kRulerH / 2);
  }
}

export function paint_steps(
  ctx: PaintContext,
  v: Viewport,
  steps: readonly StepInfo[],
  palette: Palette,
  measure: TextMeasure,
): void {
  const note = kHues.indexOf('note');
  ctx.fillStyle = palette.panel;
  ctx.fillRect(0, kRulerH, v.width_px, kBandH);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  const top = kRulerH + 1;
  const h = kBandH - 2;
  for (const step of steps) {
    if (step.end_ns < v.start_ns || step.start_ns > v.end_ns) continue;
    const x0 = Math.max(0, Math.round(x_of_ns(v, step.start_ns)));
    const x1 = Math.min(v.width_px, Math.round(x_of_ns(v, step.end_ns)));
    const w = Math.max(1, x1 - x0 - (x1 < v.width_px ? 1 : 0));
    ctx.fillStyle = step.set_aside ? palette.sunk : palette.hue('note');
    ctx.fillRect(x0, top, w, h);
    const ink = step.set_aside ? palette.text_2 : (palette.ink[note] ?? palette.text);
    write_step(ctx, step, x0 + 6, w - 10, top + h / 2, ink, palette, measure);
  }
  ctx.fillStyle = palette.rule_2;
  ctx.fillRect(0, kHeadH - 1, v.width_px, 1);
}

function write_step(
  ctx: PaintContext,
  step: StepInfo,
  x: number,
  room: number,
  y: number,
  ink: string,
  palette: Palette,
  measure: TextMeasure,
): void {
  const name = measure.width(step.label) * 1.08; // bold runs a little wider
  if (name > room) return;
  ctx.fillStyle = ink;
  ctx.font = `600 11px ${palette.font}`;
  ctx.fillText(step.label, x, y);
  const rest = step.set_aside
    ? 'set aside'
    : `${format_duration(step.end_ns - step.start_ns)}${step.incomplete ? ', incomplete' : ' host'}`;
  if (name + 6 + measure.width(rest) > room) return;
  ctx.font = `11px ${palette.font}`;
  ctx.fillText(rest, x + name + 6, y);
}
