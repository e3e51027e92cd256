// Keyboard flight: W/S zoom, A/D pan. A key pressed moves at once by a fixed step, then speeds up
// while it is held. Keys are read by `code`, the place on the board, so that AZERTY works.

export const kInitialPanPx = 50;
export const kInitialZoom = 0.1;
const kPanPxPerFrame = 8;
const kZoomPerFrame = 0.008;
/** Speed-up per frame held, and its limit. */
const kAcceleration = 1.06;
const kTopSpeed = 6;
/** The constants are for 60 frames a second; other rates move equally far in a second. */
const kFrameMs = 1000 / 60;
/** A longer pause between frames is a stall, not a flight. */
const kLongestMs = 50;

export interface Move {
  /** To the right in time. */
  readonly pan_px: number;
  /** Factor for the span: < 1 zooms in. */
  readonly zoom: number;
}

const kKeys: Record<string, readonly [axis: 'pan' | 'zoom', sign: 1 | -1]> = {
  KeyA: ['pan', -1],
  KeyD: ['pan', 1],
  KeyW: ['zoom', -1],
  KeyS: ['zoom', 1],
};

export function is_motion_key(code: string): boolean {
  return Object.hasOwn(kKeys, code);
}

export class KeyMotion {
  private readonly held = new Map<string, { speed: number; readonly top: number }>();

  /** The jump of the first press; nothing for the repeats that a held key sends. */
  press(code: string, fast: boolean): Move | undefined {
    const key = kKeys[code];
    if (key === undefined || this.held.has(code)) return undefined;
    const speed = fast ? 4 : 1;
    this.held.set(code, { speed, top: speed * kTopSpeed });
    const [axis, sign] = key;
    if (axis === 'pan') return { pan_px: sign * kInitialPanPx * speed, zoom: 1 };
    return { pan_px: 0, zoom: (1 + kInitialZoom * speed) ** sign };
  }

  release(code: string): void {
    this.held.delete(code);
  }
  release_all(): void {
    this.held.clear();
  }
  get moving(): boolean {
    return this.held.size > 0;
  }

  /** The way of one frame that came `elapsed_ms` after the last one. */
  frame(elapsed_ms: number): Move {
    const frames = Math.min(elapsed_ms, kLongestMs) / kFrameMs;
    let pan_px = 0;
    let zoom = 1;
    for (const [code, flight] of this.held) {
      const key = kKeys[code];
      if (key === undefined) continue;
      const [axis, sign] = key;
      // The integral of a speed that grows meanwhile, so that the way does not depend on the frame rate.
      const grown = (kAcceleration ** frames - 1) / Math.log(kAcceleration);
      const way = Math.min(flight.speed * grown, flight.top * frames);
      if (axis === 'pan') pan_px += sign * kPanPxPerFrame * way;
      else zoom *= Math.exp(sign * kZoomPerFrame * way);
      flight.speed = Math.min(flight.top, flight.speed * kAcceleration ** frames);
    }
    return { pan_px, zoom };
  }
}
