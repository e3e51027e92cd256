// Pointer and wheel on the tracks: what a press becomes is decided by how far it moves and by the
// mode. Knows no canvas and no state of the view; it calls the actions it is given.

export type Mode = 'select' | 'pan' | 'zoom' | 'measure';
export type Zone = 'ruler' | 'steps' | 'tracks';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface GestureActions {
  zone_at(p: Point): Zone;
  hover(p: Point | undefined): void;
  click(p: Point, zone: Zone): void;
  pan(dx: number, dy: number): void;
  zoom(at_x: number, factor: number): void;
  scroll(dy: number): void;
  /** While dragging (`done` false) and at its end. */
  area(from: Point, to: Point, how: { all_groups: boolean; done: boolean }): void;
  range(from_x: number, to_x: number, done: boolean): void;
  cursor(name: string): void;
}

/** A press that moves less is a click. */
export const kClickPx = 5;
const kWheelZoom = 0.0022;
const kPinchZoom = 0.01;
const kLinePx = 16;
const kLargestWheel = 240;
const kDragZoom = 0.01;

type Drag = 'pan' | 'zoom' | 'area' | 'measure' | 'range';

export class Gestures {
  mode: Mode = 'select';
  space_held = false;
  private down: { at: Point; last: Point; zone: Zone; button: number; shift: boolean } | undefined;
  private drag: Drag | undefined;

  constructor(private readonly actions: GestureActions) {}

  press(p: Point, button: number, shift: boolean): void {
    if (button > 1) return;
    this.down = { at: p, last: p, zone: this.actions.zone_at(p), button, shift };
    this.drag = undefined;
  }

  move(p: Point): void {
    const { down } = this;
    if (down === undefined) {
      this.actions.hover(p);
      this.actions.cursor(this.resting_cursor(p));
      return;
    }
    if (this.drag === undefined && Math.hypot(p.x - down.at.x, p.y - down.at.y) >= kClickPx) {
      this.drag = this.drag_of(down);
      this.actions.hover(undefined);
    }
    if (this.drag !== undefined) this.step(this.drag, p, false);
    down.last = p;
  }

  release(p: Point): void {
    const { down, drag } = this;
    this.down = undefined;
    this.drag = undefined;
    if (down === undefined) return;
    if (drag === undefined) {
      if (down.button === 0) this.actions.click(p, down.zone);
    } else {
      this.down = down;
      this.step(drag, p, true);
      this.down = undefined;
    }
    this.actions.cursor(this.resting_cursor(p));
  }

  /** The pointer was taken away: nothing is selected. */
  cancel(): void {
    this.down = undefined;
    this.drag = undefined;
    this.actions.hover(undefined);
  }

  leave(): void {
    if (this.down === undefined) this.actions.hover(undefined);
  }

  get dragging(): boolean {
    return this.drag !== undefined;
  }

  wheel(
    p: Point,
    w: { dx: number; dy: number; lines: boolean; ctrl: boolean; shift: boolean; alt: boolean },
  ): void {
    const unit = w.lines ? kLinePx : 1;
    const limit = (d: number): number => Math.max(-kLargestWheel, Math.min(kLargestWheel, d * unit));
    const dx = limit(w.dx);
    const dy = limit(w.dy);
    if (w.ctrl) this.actions.zoom(p.x, Math.exp(dy * (Math.abs(dy) < 30 ? kPinchZoom : kWheelZoom)));
    else if (w.alt) this.actions.scroll(dy);
    else if (w.shift) this.actions.pan(dx === 0 ? dy : dx, 0);
    else if (Math.abs(dx) > Math.abs(dy)) this.actions.pan(dx, 0);
    else this.actions.zoom(p.x, Math.exp(dy * kWheelZoom));
  }

  private drag_of(down: { zone: Zone; button: number; shift: boolean }): Drag {
    if (down.button === 1 || this.space_held || down.shift) return 'pan';
    if (down.zone !== 'tracks') return 'range';
    if (this.mode === 'select') return 'area';
    return this.mode;
  }

  private step(drag: Drag, p: Point, done: boolean): void {
    const { down } = this;
    if (down === undefined) return;
    switch (drag) {
      case 'pan':
        this.actions.cursor('grabbing');
        this.actions.pan(down.last.x - p.x, down.last.y - p.y);
        break;
      case 'zoom':
        this.actions.cursor('ns-resize');
        this.actions.zoom(down.at.x, Math.exp((p.y - down.last.y) * kDragZoom));
        break;
      case 'area':
        this.actions.area(down.at, p, { all_groups: false, done });
        break;
      case 'measure':
        this.actions.area(down.at, p, { all_groups: true, done });
        break;
      case 'range':
        this.actions.range(down.at.x, p.x, done);
        break;
    }
  }

  private resting_cursor(p: Point): string {
    if (this.space_held || this.mode === 'pan') return 'grab';
    if (this.mode === 'zoom') return 'ns-resize';
    if (this.mode === 'measure') return 'col-resize';
    return this.actions.zone_at(p) === 'ruler' ? 'col-resize' : 'default';
  }
}
