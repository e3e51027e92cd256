// A canvas at the resolution of the screen: sized in CSS pixels, drawn in CSS pixels.
import type { PaintContext } from './batch';

/** More device pixels than this cost time and show nothing. */
const kMostDpr = 2;

export class Surface {
  readonly ctx: PaintContext | null;
  private dpr = 1;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.ctx = canvas.getContext('2d');
  }

  /** Size of a device pixel in CSS pixels. */
  get pixel(): number {
    return 1 / this.dpr;
  }

  resize(width_px: number, height_px: number, dpr: number): void {
    this.dpr = Math.min(kMostDpr, Math.max(1, dpr));
    const width = Math.round(width_px * this.dpr);
    const height = Math.round(height_px * this.dpr);
    // Setting a size clears the canvas, even to the same size.
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
  }

  /** The context with its origin at (0, y). */
  at(y: number): PaintContext | null {
    this.ctx?.setTransform(this.dpr, 0, 0, this.dpr, 0, y * this.dpr);
    return this.ctx;
  }
}
