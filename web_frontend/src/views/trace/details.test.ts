import { describe, expect, it } from 'vitest';
import type { EventRef, TraceEvent } from '../../api/types';
import { arrows_of } from './arrows';
import { among_same, input_dims, launch_config, other_args, short_frame, spoken } from './details';

const ref = (id: number, start_ns: number, dur_ns: number, kind = 'kernel'): EventRef => ({
  id,
  name: `e${id}`,
  kind,
  start_ns,
  dur_ns,
  group: id,
  row: 0,
});
const event = (more: Partial<TraceEvent> = {}): TraceEvent => ({
  ...ref(1, 5_000, 210_000),
  category: 'kernel',
  section: 'device:0',
  track: 'Stream 7',
  notes: [],
  args: [],
  parents: [],
  stack: [],
  launched: [],
  flows: [],
  same_name: { count: 1, index: 1, min_ns: 0, max_ns: 0 },
  ...more,
});
const args = (map: Record<string, unknown>): TraceEvent['args'] =>
  Object.entries(map).map(([key, value]) => ({ key, value }));

describe('launch configuration', () => {
  it('is read whatever the types that a dialect writes', () => {
    const typed = launch_config(
      event({
        args: args({
          grid: [8, 1, 1],
          block: [128, 1, 1],
          'registers per thread': 64,
          'shared memory': 1024,
        }),
      }),
    );
    expect(typed).toMatchObject({ grid: '8×1×1', block: '128×1×1', registers: '64', shared_bytes: 1024 });
    const text = launch_config(
      event({ args: args({ grid: '[8, 1, 1]', 'est. achieved occupancy %': '45', 'blocks per SM': 'inf' }) }),
    );
    expect(text).toMatchObject({ grid: '[8, 1, 1]', occupancy_pct: 45, blocks_per_sm: undefined });
  });
  it('is absent where there is none', () => {
    expect(Object.values(launch_config(event())).every((v) => v === undefined)).toBe(true);
  });
});

describe('input shapes', () => {
  it.each([
    [[[32, 256, 56, 56], [512, 256, 1, 1], []], '32×256×56×56, 512×256×1×1'],
    [[[], [2]], '–, 2'],
    [[[[4, 5], [6]]], '[4×5, 6]'],
    [[[], []], undefined],
    ['[[1], [2]]', '[[1], [2]]'],
  ])('%j', (value, wanted) =>
    expect(input_dims(event({ args: args({ 'Input Dims': value }) }))).toBe(wanted),
  );
});

describe('words', () => {
  it('place an event among those of its name', () => {
    expect(among_same(event())).toBe('the only one of this name');
    const same_name = { count: 6, index: 5, min_ns: 496_000, max_ns: 503_000 };
    expect(among_same(event({ same_name }))).toContain('number 5 of 6');
  });
  it('speak the selection', () => {
    expect(spoken(event({ name: 'aten::conv2d', step: 'ProfilerStep#12' })).replace('\u2009', ' ')).toBe(
      'aten::conv2d, 210 µs, Stream 7, step 12',
    );
  });
  it('shorten frames to what is not the installation', () => {
    expect(short_frame('/home/u/env/lib/python3.7/site-packages/torch/nn/conv.py(440): f')).toBe(
      'torch/nn/conv.py(440): f',
    );
    expect(short_frame('/usr/lib/python3.11/threading.py(1): run')).toBe('threading.py(1): run');
    expect(short_frame('train.py(3): main')).toBe('train.py(3): main');
  });
  it('leave no argument out that the rows above do not show', () => {
    const all = args({ 'Call stack': 'a;b', grid: [1], stream: 7, odd: { x: null }, none: null });
    expect(other_args(event({ args: all }))).toEqual([
      { key: 'stream', text: '7' },
      { key: 'odd', text: '{"x":null}' },
      { key: 'none', text: '' },
    ]);
  });
});

describe('arrows', () => {
  it('one from the launch, with the delay, though it comes as a flow too', () => {
    const launch = ref(2, 1_000, 2_000, 'runtime');
    const flows: TraceEvent['flows'] = [{ type: 'launch', direction: 'in', event: launch }];
    const [arrow, ...others] = arrows_of(event({ launch, flows }), 1_000);
    expect(others).toEqual([]);
    expect(arrow?.from).toEqual({ group: 2, row: 0, ns: 1_000 });
    expect(arrow?.to).toEqual({ group: 1, row: 0, ns: 4_000 });
    expect(arrow?.text).toMatch(/^queued 4\.00/);
  });
  it('says of work before its launch that it is, not that it waited', () => {
    const launch = ref(2, 1_004_000, 2_000, 'runtime');
    expect(arrows_of(event({ launch }), 0)[0]?.text).toMatch(/^999\sµs before its launch$/);
  });
  it('from a launch to all that it started, few enough to be followed', () => {
    const launched = Array.from({ length: 100 }, (_, n) => ref(10 + n, 9_000, 1));
    expect(arrows_of(event({ kind: 'runtime', launched }), 0)).toHaveLength(24);
    expect(arrows_of(event({ kind: 'op', launched }), 0)).toEqual([]);
  });
  it('forward and backward, in their direction', () => {
    const other = ref(3, 90_000, 10);
    const flows: TraceEvent['flows'] = [{ type: 'fwdbwd', direction: 'out', event: other }];
    expect(arrows_of(event({ flows }), 0)).toMatchObject([{ to: { group: 3 }, text: 'fwdbwd' }]);
  });
});
