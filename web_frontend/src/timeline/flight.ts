// An animated change of view: the eye follows where the picture goes. Zooms by equal factors in equal
// times, since that is what looks even.
import { span_ns, type Viewport } from './viewport';

const kFlightMs = 180;

export class Flight {
  private start_ms: number | undefined;

  constructor(
    private readonly from: Viewport,
    readonly to: Viewport,
  ) {}

  /** The view at a time; `done` when it has arrived. */
  at(now_ms: number): { view: Viewport; done: boolean } {
    this.start_ms ??= now_ms;
    const t = Math.min(1, (now_ms - this.start_ms) / kFlightMs);
    if (t >= 1) return { view: this.to, done: true };
    const ease = 1 - (1 - t) ** 3;
    const span = span_ns(this.from) * (span_ns(this.to) / span_ns(this.from)) ** ease;
    // The point that both views see at the same place stays there; without one, the centres move.
    const grow = span_ns(this.to) - span_ns(this.from);
    const share = grow === 0 ? ease : (span - span_ns(this.from)) / grow;
    const start_ns = this.from.start_ns + (this.to.start_ns - this.from.start_ns) * share;
    return { view: { start_ns, end_ns: start_ns + span, width_px: this.to.width_px }, done: false };
  }
}
