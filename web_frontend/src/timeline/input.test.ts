import { describe, expect, it, vi } from 'vitest';
import { command_of, kHelp } from './commands';
import { Gestures, type GestureActions, type Zone } from './gestures';
import { is_motion_key, KeyMotion, kInitialPanPx, kInitialZoom } from './motion';

const press = (key: string, more = {}): Parameters<typeof command_of>[0] => ({
  key,
  ctrl: false,
  meta: false,
  alt: false,
  ...more,
});

describe('commands', () => {
  it.each([
    ['f', 'fit_selection'],
    ['0', 'show_all'],
    ['Z', 'show_all'],
    ['m', 'mark'],
    [',', 'previous'],
    ['.', 'next'],
    ['[', 'flow_in'],
    [']', 'flow_out'],
    ['/', 'search'],
    ['?', 'help'],
    ['Escape', 'escape'],
    ['3', 'mode_zoom'],
  ])('%s is %s', (key, command) => expect(command_of(press(key))).toBe(command));
  it('leaves the browser its own keys', () => {
    expect(command_of(press('f', { ctrl: true }))).toBeUndefined();
    expect(command_of(press('0', { meta: true }))).toBeUndefined();
    expect(command_of(press('w'))).toBeUndefined();
  });
  it('every command’s key stands in the help', () => {
    const told = new Set(kHelp.flatMap((g) => g.rows.flatMap((r) => r.keys)));
    for (const key of [
      'F',
      '0',
      'M',
      ',',
      '.',
      '[',
      ']',
      '/',
      '?',
      '1',
      '2',
      '3',
      '4',
      'W',
      'S',
      'A',
      'D',
      'P',
      'C',
      'T',
    ]) {
      expect(told.has(key), key).toBe(true);
    }
  });
});

describe('keyboard flight', () => {
  it('reads places on the board, so that other layouts work', () => {
    expect(is_motion_key('KeyW')).toBe(true);
    expect(is_motion_key('w')).toBe(false);
  });
  it('jumps once per press, not per repeat', () => {
    const m = new KeyMotion();
    expect(m.press('KeyD', false)).toEqual({ pan_px: kInitialPanPx, zoom: 1 });
    expect(m.press('KeyD', false)).toBeUndefined();
    expect(m.press('KeyW', false)?.zoom).toBeCloseTo(1 / (1 + kInitialZoom), 9);
  });
  it('speeds up while held, to a limit, and stops when let go', () => {
    const m = new KeyMotion();
    m.press('KeyA', false);
    const first = m.frame(1000 / 60).pan_px;
    expect(first).toBeCloseTo(-8.2, 1);
    let last = first;
    for (let n = 0; n < 200; n++) last = m.frame(1000 / 60).pan_px;
    expect(last).toBeCloseTo(-48, 6);
    m.release('KeyA');
    expect(m.moving).toBe(false);
    expect(m.frame(16)).toEqual({ pan_px: 0, zoom: 1 });
  });
  it('goes equally far at 30 and 60 frames a second', () => {
    const way = (fps: number): number => {
      const m = new KeyMotion();
      m.press('KeyD', false);
      let sum = 0;
      for (let n = 0; n < fps / 2; n++) sum += m.frame(1000 / fps).pan_px;
      return sum;
    };
    expect(way(30) / way(60)).toBeCloseTo(1, 1);
  });
  it('does not leap after a stall', () => {
    const m = new KeyMotion();
    m.press('KeyD', false);
    expect(m.frame(5000).pan_px).toBeLessThan(30);
  });
  it('W then S leaves the zoom as it was', () => {
    const m = new KeyMotion();
    const zoom = m.press('KeyW', false)!.zoom * m.press('KeyS', false)!.zoom;
    expect(zoom).toBeCloseTo(1, 12);
  });
});

function setup(zone: Zone = 'tracks'): {
  g: Gestures;
  a: Record<keyof GestureActions, ReturnType<typeof vi.fn>>;
} {
  const a = {
    zone_at: vi.fn(() => zone),
    hover: vi.fn(),
    click: vi.fn(),
    pan: vi.fn(),
    zoom: vi.fn(),
    scroll: vi.fn(),
    area: vi.fn(),
    range: vi.fn(),
    cursor: vi.fn(),
  };
  return { g: new Gestures(a), a };
}
const drag = (g: Gestures, to: { x: number; y: number }, button = 0, shift = false): void => {
  g.press({ x: 100, y: 100 }, button, shift);
  g.move({ x: 102, y: 101 });
  g.move(to);
  g.release(to);
};

describe('pointer', () => {
  it('a press that hardly moves is a click', () => {
    const { g, a } = setup();
    g.press({ x: 10, y: 10 }, 0, false);
    g.move({ x: 12, y: 11 });
    g.release({ x: 12, y: 11 });
    expect(a.click).toHaveBeenCalledTimes(1);
    expect(a.area).not.toHaveBeenCalled();
  });
  it('a drag is what the mode says', () => {
    const { g, a } = setup();
    drag(g, { x: 200, y: 150 });
    expect(a.area).toHaveBeenLastCalledWith(
      { x: 100, y: 100 },
      { x: 200, y: 150 },
      { all_groups: false, done: true },
    );
    g.mode = 'measure';
    drag(g, { x: 200, y: 150 });
    expect(a.area).toHaveBeenLastCalledWith(
      { x: 100, y: 100 },
      { x: 200, y: 150 },
      { all_groups: true, done: true },
    );
    g.mode = 'pan';
    drag(g, { x: 200, y: 150 });
    expect(a.pan).toHaveBeenCalled();
    g.mode = 'zoom';
    drag(g, { x: 100, y: 200 });
    expect(a.zoom.mock.calls[0]?.[0]).toBe(100);
    expect(a.click).not.toHaveBeenCalled();
  });
  it('pans under Space, Shift and the middle button, whatever the mode', () => {
    const { g, a } = setup();
    drag(g, { x: 200, y: 100 }, 1);
    drag(g, { x: 200, y: 100 }, 0, true);
    g.space_held = true;
    drag(g, { x: 200, y: 100 });
    expect(a.area).not.toHaveBeenCalled();
    expect(a.pan.mock.calls.reduce((sum, [dx]) => sum + (dx as number), 0)).toBe(3 * -98);
  });
  it('takes a range on the ruler', () => {
    const { g, a } = setup('ruler');
    drag(g, { x: 300, y: 100 });
    expect(a.range).toHaveBeenLastCalledWith(100, 300, true);
  });
  it('drops a drag that is taken away', () => {
    const { g, a } = setup();
    g.press({ x: 0, y: 0 }, 0, false);
    g.move({ x: 50, y: 50 });
    g.cancel();
    g.release({ x: 50, y: 50 });
    expect(a.area.mock.calls.every(([, , how]) => !(how as { done: boolean }).done)).toBe(true);
    expect(a.click).not.toHaveBeenCalled();
  });
});

describe('wheel', () => {
  const plain = { dx: 0, dy: 100, lines: false, ctrl: false, shift: false, alt: false };
  it('zooms at the pointer, out when rolled down', () => {
    const { g, a } = setup();
    g.wheel({ x: 40, y: 9 }, plain);
    const [x, factor] = a.zoom.mock.calls[0] as [number, number];
    expect(x).toBe(40);
    expect(factor).toBeGreaterThan(1.1);
    g.wheel({ x: 40, y: 9 }, { ...plain, dy: -100 });
    expect((a.zoom.mock.calls[1]?.[1] as number) * factor).toBeCloseTo(1, 9);
  });
  it('pans sideways and with Shift, scrolls with Alt', () => {
    const { g, a } = setup();
    g.wheel({ x: 0, y: 0 }, { ...plain, dx: 80, dy: 3 });
    g.wheel({ x: 0, y: 0 }, { ...plain, shift: true });
    g.wheel({ x: 0, y: 0 }, { ...plain, alt: true });
    expect(a.pan.mock.calls).toEqual([
      [80, 0],
      [100, 0],
    ]);
    expect(a.scroll.mock.calls).toEqual([[100]]);
    expect(a.zoom).not.toHaveBeenCalled();
  });
  it('a wild wheel is held back', () => {
    const { g, a } = setup();
    g.wheel({ x: 0, y: 0 }, { ...plain, dy: 1e6 });
    expect(a.zoom.mock.calls[0]?.[1]).toBeLessThan(2);
  });
});
