// Where the timeline looks: the view, how far it may go, and the flight to another view while one is under way.
import { Flight } from './flight';
import type { Move } from './motion';
import { fit_all, pan_by, reach_of, reveal, sees, zoom_at, type Limits, type Viewport } from './viewport';

export class Camera {
  view: Viewport;
  /** How far the view may go: wider than the trace while a slice outside of it is looked at. */
  reach: Limits;
  private flight: Flight | undefined;
  private fitted = false;

  constructor(
    readonly limits: Limits,
    private readonly on_view: (view: Viewport) => void,
  ) {
    this.view = fit_all(limits, 1);
    this.reach = limits;
  }

  get flying(): boolean {
    return this.flight !== undefined;
  }

  /** Where the view is going, while it is on its way. */
  get target(): Viewport {
    return this.flight?.to ?? this.view;
  }

  resize(width_px: number): void {
    this.move_to(this.fitted ? { ...this.view, width_px } : fit_all(this.limits, width_px));
    this.fitted = true;
  }

  set(view: Viewport, animate: boolean): void {
    const to = { ...view, width_px: this.view.width_px };
    this.fitted = true;
    if (animate && this.view.width_px > 1 && !reduced_motion()) this.flight = new Flight(this.view, to);
    else this.move_to(to);
  }

  move(move: Move, at_x: number): void {
    let view = this.view;
    if (move.zoom !== 1) view = zoom_at(view, at_x, move.zoom, this.reach);
    if (move.pan_px !== 0) view = pan_by(view, move.pan_px, this.reach);
    this.flight = undefined;
    this.move_to(view);
  }

  reveal(start_ns: number, end_ns: number): void {
    this.reach = reach_of(this.limits, start_ns, end_ns);
    const to = reveal(this.target, start_ns, end_ns, this.reach);
    this.set(to, sees(to, this.limits)); // nothing to fly over on the way to another decade
  }

  /** Goes on with the flight; true if the view moved. */
  advance(now_ms: number): boolean {
    if (this.flight === undefined) return false;
    const { view, done } = this.flight.at(now_ms);
    if (done) this.flight = undefined;
    this.move_to(view);
    return true;
  }

  private move_to(view: Viewport): void {
    this.view = view;
    this.on_view(view);
  }
}

function reduced_motion(): boolean {
  return typeof matchMedia === 'function' && matchMedia('(prefers-reduced-motion: reduce)').matches;
}
