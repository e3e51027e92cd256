// Listens on the page for the timeline: pointer, wheel and held keys on the tracks, drags on the
// minimap. Decides nothing: `Gestures` and `KeyMotion` do.
import { Gestures, type GestureActions, type Point, type Zone } from './gestures';
import { is_motion_key, KeyMotion } from './motion';
import { brush_extent } from './minimap';
import { groups_in } from './overlay';
import { kHeadH, kRulerH } from './ruler';
import type { Hit } from './hit_test';
import type { Area } from './scene';
import type { Timeline } from './timeline';
import { fit_to, ns_of_x } from './viewport';

export interface InputEvents {
  on_click(hit: Hit | undefined): void;
  on_double_click(hit: Hit | undefined): void;
  on_area(area: Area): void;
}

export interface InputTargets {
  /** The tracks: what holds the canvases and has the focus. */
  readonly stage: HTMLElement;
  readonly minimap: HTMLElement;
}

export class Input {
  readonly gestures: Gestures;
  private readonly motion = new KeyMotion();
  private readonly abort = new AbortController();
  private last_click = { ms: -Infinity, x: 0, y: 0 };

  constructor(
    private readonly timeline: Timeline,
    private readonly targets: InputTargets,
    private readonly events: InputEvents,
  ) {
    this.gestures = new Gestures(this.actions());
    timeline.motion = (elapsed) => (this.motion.moving ? this.motion.frame(elapsed) : undefined);
    this.listen_stage();
    this.listen_minimap();
  }

  destroy(): void {
    this.abort.abort();
    this.timeline.motion = undefined;
  }

  /** A key went down that is not a command; true if it was taken. */
  key_down(e: KeyboardEvent): boolean {
    if (e.ctrlKey || e.metaKey || e.altKey) return false;
    if (e.code === 'Space') {
      this.gestures.space_held = true;
      return true;
    }
    if (!is_motion_key(e.code)) return false;
    const jump = this.motion.press(e.code, e.shiftKey);
    if (jump !== undefined) this.timeline.move(jump);
    return true;
  }

  key_up(e: KeyboardEvent): void {
    if (e.code === 'Space') this.gestures.space_held = false;
    this.motion.release(e.code);
  }

  /** The window lost the keyboard: keys that are held will not be seen to go up. */
  let_go(): void {
    this.motion.release_all();
    this.gestures.space_held = false;
  }

  private actions(): GestureActions {
    const t = this.timeline;
    return {
      zone_at: (p) => zone_at(p),
      hover: (p) => t.point(p),
      click: (p, zone) => this.click(p, zone),
      pan: (dx, dy) => {
        if (dy !== 0) t.scroll_by(dy);
        t.move({ pan_px: dx, zoom: 1 });
      },
      zoom: (x, factor) => t.move({ pan_px: 0, zoom: factor }, x),
      scroll: (dy) => t.scroll_by(dy),
      area: (from, to, how) => {
        const [a, b] = this.times(from.x, to.x);
        const top = t.scroll_px - kHeadH;
        const groups = how.all_groups ? t.all_ids : groups_in(t.layout, from.y + top, to.y + top);
        const area = { start_ns: a, end_ns: b, groups };
        t.set_dragged(how.done ? undefined : area);
        if (how.done) this.events.on_area(area);
      },
      range: (from_x, to_x, done) => {
        const [start_ns, end_ns] = this.times(from_x, to_x);
        if (done) {
          t.set_dragged(undefined);
          t.set_view(fit_to(t.view, start_ns, end_ns, 0, t.limits), true);
        } else {
          t.set_dragged({ start_ns, end_ns, groups: [] });
        }
      },
      cursor: (name) => {
        this.targets.stage.style.cursor = name;
      },
    };
  }

  private times(from_x: number, to_x: number): [number, number] {
    const { view, limits } = this.timeline;
    const at = (x: number): number =>
      Math.round(Math.min(limits.end_ns, Math.max(limits.start_ns, ns_of_x(view, x))));
    const [a, b] = [at(from_x), at(to_x)];
    return a <= b ? [a, b] : [b, a];
  }

  private click(p: Point, zone: Zone): void {
    const t = this.timeline;
    if (zone === 'steps') {
      const ns = ns_of_x(t.view, p.x);
      const step = t.steps.find((s) => ns >= s.start_ns && ns < s.end_ns);
      if (step !== undefined) t.set_view(fit_to(t.view, step.start_ns, step.end_ns, 0.02, t.limits), true);
      return;
    }
    if (zone !== 'tracks') return;
    const now = performance.now();
    const near = Math.hypot(p.x - this.last_click.x, p.y - this.last_click.y) < 5;
    const twice = near && now - this.last_click.ms < 350;
    this.last_click = { ms: twice ? -Infinity : now, x: p.x, y: p.y };
    if (twice) this.events.on_double_click(t.hit(p.x, p.y));
    else this.events.on_click(t.hit(p.x, p.y));
  }

  private listen_stage(): void {
    const { stage } = this.targets;
    const { signal } = this.abort;
    const at = (e: MouseEvent): Point => {
      const box = stage.getBoundingClientRect();
      return { x: e.clientX - box.left, y: e.clientY - box.top };
    };
    stage.addEventListener(
      'pointerdown',
      (e) => {
        stage.focus({ preventScroll: true });
        if (e.button === 1) e.preventDefault();
        stage.setPointerCapture(e.pointerId);
        // A finger has no other way to pan.
        this.gestures.press(at(e), e.button, e.shiftKey || e.pointerType === 'touch');
      },
      { signal },
    );
    stage.addEventListener('pointermove', (e) => this.gestures.move(at(e)), { signal });
    stage.addEventListener('pointerup', (e) => this.gestures.release(at(e)), { signal });
    stage.addEventListener('pointercancel', () => this.gestures.cancel(), { signal });
    stage.addEventListener('pointerleave', () => this.gestures.leave(), { signal });
    stage.addEventListener(
      'wheel',
      (e) => {
        e.preventDefault();
        const { deltaX: dx, deltaY: dy, ctrlKey, shiftKey: shift, altKey: alt } = e;
        const lines = e.deltaMode === WheelEvent.DOM_DELTA_LINE;
        this.gestures.wheel(at(e), { dx, dy, lines, ctrl: ctrlKey || e.metaKey, shift, alt });
      },
      { signal, passive: false },
    );
    window.addEventListener('blur', () => this.let_go(), { signal });
  }

  private listen_minimap(): void {
    const { minimap } = this.targets;
    const { signal } = this.abort;
    const t = this.timeline;
    let drag: 'left' | 'right' | 'move' | 'new' | undefined;
    let from = 0;
    let start = t.view;
    const x_of = (e: MouseEvent): number => e.clientX - minimap.getBoundingClientRect().left;
    const ns_at = (x: number): number => (x / t.view.width_px) * t.limits.end_ns;
    const part_at = (x: number): 'left' | 'right' | 'move' | 'new' => {
      const [x0, x1] = brush_extent(t.view, t.limits, t.view.width_px);
      if (x1 - x0 > 16 && Math.abs(x - x0) < 5) return 'left';
      if (x1 - x0 > 16 && Math.abs(x - x1) < 5) return 'right';
      const whole = x1 - x0 > t.view.width_px - 4;
      return x > x0 && x < x1 && !whole ? 'move' : 'new';
    };
    const show = (a: number, b: number): void =>
      t.set_view(fit_to(t.view, Math.min(a, b), Math.max(a, b), 0, t.limits));
    minimap.addEventListener(
      'pointerdown',
      (e) => {
        minimap.setPointerCapture(e.pointerId);
        from = x_of(e);
        start = t.view;
        drag = part_at(from);
      },
      { signal },
    );
    minimap.addEventListener(
      'pointermove',
      (e) => {
        const x = x_of(e);
        const part = drag ?? part_at(x);
        minimap.style.cursor = part === 'move' ? 'grab' : part === 'new' ? 'crosshair' : 'ew-resize';
        const by = ns_at(x - from);
        if (drag === 'move') show(start.start_ns + by, start.end_ns + by);
        if (drag === 'left') show(start.start_ns + by, start.end_ns);
        if (drag === 'right') show(start.start_ns, start.end_ns + by);
        if (drag === 'new' && Math.abs(x - from) >= 5) show(ns_at(from), ns_at(x));
      },
      { signal },
    );
    minimap.addEventListener(
      'pointerup',
      (e) => {
        const x = x_of(e);
        if (drag === 'new' && Math.abs(x - from) < 5) {
          const half = (t.view.end_ns - t.view.start_ns) / 2;
          t.set_view(fit_to(t.view, ns_at(x) - half, ns_at(x) + half, 0, t.limits), true);
        }
        drag = undefined;
      },
      { signal },
    );
    minimap.addEventListener('pointercancel', () => (drag = undefined), { signal });
  }
}

function zone_at(p: Point): Zone {
  if (p.y < kRulerH) return 'ruler';
  return p.y < kHeadH ? 'steps' : 'tracks';
}
