import { describe, expect, it } from 'vitest';
import { kUntouched } from './arrangement';
import { layout, type GroupInfo } from './layout';
import { in_view, paint_path, type PathFrame, type PathPiece } from './path';
import { kTestPalette, RecordingContext } from './recording_context';

const thread: GroupInfo = {
  id: 1,
  section: 'host:1',
  section_label: 'python',
  type: 'host',
  label: 'Main',
  sublabel: '',
  rows: 2,
  step_rows: 0,
  events: 1,
};
const stream: GroupInfo = { ...thread, id: 2, section: 'device:0', type: 'device', rows: 1 };
const piece = (group: number, row: number, start_ns: number, end_ns: number): PathPiece => ({
  at: { group, row, thread: `${group}` },
  start_ns,
  end_ns,
});
const frame = (more: Partial<PathFrame> = {}): PathFrame => ({
  viewport: { start_ns: 0, end_ns: 1000, width_px: 1000 },
  layout: layout({ groups: [thread, stream], counters: [] }, kUntouched),
  scroll_px: 0,
  height_px: 400,
  palette: kTestPalette,
  ...more,
});

class Recorder extends RecordingContext {
  readonly holes: number[][] = [];
  readonly steps: number[][] = [];
  override clearRect(...at: number[]): void {
    this.holes.push(at);
  }
  override moveTo(...at: number[]): void {
    this.steps.push(at);
  }
  override lineTo(...at: number[]): void {
    this.steps.push(at);
  }
}
function paint(pieces: readonly PathPiece[], more: Partial<PathFrame> = {}): Recorder {
  const ctx = new Recorder();
  paint_path(ctx, frame(more), pieces);
  return ctx;
}
const holes = (ctx: Recorder): number[][] => ctx.holes.map(([x, , w]) => [x ?? 0, w ?? 0]);

describe('a path', () => {
  it('lets everything step back but its own pieces, and joins them', () => {
    const ctx = paint([piece(1, 1, 100, 300), piece(2, 0, 320, 700)]);
    expect(ctx.of_colour('panel').length).toBeGreaterThan(0);
    expect(holes(ctx)).toEqual([
      [100, 200],
      [320, 380],
    ]);
    // Each line is drawn twice: its ground, then itself.
    const [from, to] = ctx.steps;
    expect([from?.[0], to?.[0]]).toEqual([300, 320]);
    expect(to?.[1]).toBeGreaterThan(from?.[1] ?? 0);
    expect(ctx.steps).toHaveLength(4);
  });

  it('goes over a time without a slice, and over tracks that are folded away', () => {
    const away = { ...kUntouched, sections: new Set(['device:0']) };
    const ctx = paint(
      [piece(1, 0, 0, 100), { at: undefined, start_ns: 100, end_ns: 200 }, piece(2, 0, 200, 400)],
      {
        layout: layout({ groups: [thread, stream], counters: [] }, away),
      },
    );
    expect(ctx.holes).toHaveLength(2);
    expect(ctx.steps).toHaveLength(4);
    expect(paint([piece(77, 0, 0, 100)]).holes).toEqual([]);
  });

  it('draws neighbours of a row as one, and no line so near to another that both are hatching', () => {
    const many = Array.from({ length: 9000 }, (_, n) => piece(1 + (n % 2), 0, n / 10, n / 10 + 0.1));
    const ctx = paint(many);
    expect(ctx.holes.length).toBeLessThanOrEqual(2);
    expect(ctx.steps.length / 4).toBeLessThanOrEqual(301);
  });

  it('has no line between two tracks of one thread', () => {
    const one = { ...piece(1, 0, 0, 100), at: { group: 1, row: 0, thread: 'main' } };
    const other = { ...piece(2, 0, 100, 200), at: { group: 2, row: 0, thread: 'main' } };
    expect(paint([one, other]).steps).toEqual([]);
  });

  it('is asked only where one looks', () => {
    const pieces = Array.from({ length: 100 }, (_, n) => piece(1, 0, n * 10, n * 10 + 10));
    expect(in_view(pieces, { start_ns: 500, end_ns: 520, width_px: 10 })).toEqual([49, 53]);
    expect(in_view(pieces, { start_ns: -90, end_ns: -10, width_px: 10 })).toEqual([0, 1]);
    expect(in_view(pieces, { start_ns: 2000, end_ns: 3000, width_px: 10 })).toEqual([99, 100]);
    expect(in_view([], { start_ns: 0, end_ns: 1, width_px: 10 })).toEqual([0, 0]);
    expect(paint([]).holes).toEqual([]);
  });
});
