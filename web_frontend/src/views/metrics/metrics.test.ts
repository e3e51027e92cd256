import { describe, expect, it } from 'vitest';
import type { MetricMark, MetricRun, MetricSeries, MetricTag } from '../../api/types';
import { join_sentence, seconds_text, value_text } from '../../lib/metrics';
import {
  ascending,
  extremes,
  format_zoom,
  index_at,
  list_marks,
  mark_range,
  nearest_mark,
  nearest_step,
  parse_zoom,
  scalar_tags,
  shown_runs,
  zoom_by_key,
} from './metrics';
import { value_table, values_csv } from './values';

const tag = (name: string, kind: MetricTag['kind'] = 'scalar'): MetricTag => ({
  tag: name,
  kind,
  count: 1,
  superseded: 0,
  not_finite: 0,
  of_other_kind: 0,
});
const run = (name: string, related: boolean, tags: MetricTag[]): MetricRun => ({
  name,
  files: 1,
  bytes: 1,
  related,
  tag_count: tags.length,
  matching: tags.length,
  tags,
  notices: [],
});
const mark = (id: string, numbers: number[], metric: (number | undefined)[] = numbers): MetricMark => ({
  id,
  run: 'r',
  worker: 'w',
  span: '',
  index: 1,
  workers: 1,
  end_unix_s: 100,
  by: 'clock',
  source: 'trace',
  loaded: true,
  first_metric_step: metric[0] ?? 0,
  last_metric_step: metric.at(-1) ?? 0,
  steps: numbers.map((number, i) => {
    const at = metric[i];
    const step = { number, start_unix_s: 0, end_unix_s: 1, duration_ms: 1000 };
    return at === undefined ? step : { ...step, metric_step: at, distance_s: 0 };
  }),
});
const series = (lines: { x: number[]; value: (number | null)[]; superseded?: boolean }[]): MetricSeries => ({
  run: 'r',
  tag: 't',
  axis: 'step',
  count: 3,
  superseded: 0,
  in_range: 3,
  not_finite: 0,
  reordered: false,
  lines: lines.map(({ x, value, superseded = false }) => ({
    superseded,
    x,
    value,
    step: x,
    wall_time: x.map((one) => 1000 + one),
  })),
});

describe('what is shown', () => {
  const near = run('a', true, [tag('loss'), tag('weights', 'histogram')]);
  const far = run('b', false, [tag('lr'), tag('loss')]);
  const empty = run('c', true, [tag('weights', 'histogram')]);
  it('is the nearest run with curves, or the chosen ones', () => {
    const metrics = { runs: [near, far, empty] };
    expect(shown_runs(metrics, undefined)).toEqual([near]);
    expect(shown_runs(metrics, ['b'])).toEqual([far]);
    expect(shown_runs(metrics, ['gone'])).toEqual([near]);
    expect(shown_runs({ runs: [far] }, undefined)).toEqual([far]);
  });
  it('lists scalars once, in the order in which they appear', () => {
    expect(scalar_tags([near, far])).toEqual(['loss', 'lr']);
  });
});

describe('marks', () => {
  const early = mark('e', [2, 3, 4]);
  const late = mark('l', [7, 8, 9], [107, undefined, 109]);
  it('lie where their steps were joined', () => {
    expect(mark_range(early, 'step')).toEqual({ from: 2, to: 4 });
    expect(mark_range(early, 'wall')).toEqual({ from: 100, to: 100 });
    expect(mark_range(early, 'relative')).toBeUndefined();
  });
  it('are found from a spike', () => {
    expect(nearest_mark([early, late], 'step', 60)?.mark.id).toBe('l');
    expect(nearest_mark([early, late], 'step', 60)?.distance).toBe(47);
    expect(nearest_mark([early, late], 'step', 3)?.distance).toBe(0);
    expect(nearest_step(late, 200)).toBe(2);
    expect(nearest_step(mark('n', [1], [undefined]), 1)).toBeUndefined();
  });
  it('are named by their own numbers', () => {
    expect(list_marks([early, late])).toBe('2–4 and 7–9');
    expect(list_marks([early])).toBe('2–4');
    expect(list_marks([])).toBe('');
  });
});

describe('sentences of a join', () => {
  const step = { metric_step: 1 };
  it('say how far it can be wrong', () => {
    const join = {
      by: 'clock',
      source: 'trace',
      uncertainty_s: 0.035,
      offset_s: 0.0002,
      offset_error_s: 1e-5,
    };
    expect(join_sentence({ ...join, shift: 0, steps: [step] })).toBe(
      'By the clock ± 35\u00a0ms: an event is written 200\u00a0µs ± 10\u00a0µs after the end of its step. Both name the same steps.',
    );
    expect(join_sentence({ ...join, shift: -2, steps: [step] })).toContain(
      'Metrics count 2\u00a0steps less.',
    );
    expect(join_sentence({ ...join, by: 'number', steps: [step] })).toContain('that much the clocks differ');
  });
  it('say why there is none', () => {
    expect(join_sentence({ by: 'clock', source: 'name', steps: [{}] })).toContain(
      'no event was written near',
    );
    expect(join_sentence({ by: 'number', source: 'trace', steps: [{}] })).toContain(
      'no event has the number',
    );
  });
});

describe('numbers', () => {
  it.each([
    [0, '0'],
    [0.05, '0.05'],
    [1949.4, '1\u202f949'],
    [-12.3456, '−12.35'],
    [1e9, '1e9'],
    [0.00001234, '1.234e−5'],
    [null, '–'],
  ])('%s is %s', (value, text) => {
    expect(value_text(value)).toBe(text);
  });
  it('seconds take the unit they are read in', () => {
    expect([0.0702, 1.95, 600, 90_000, 1e6].map(seconds_text)).toEqual([
      '70.2\u00a0ms',
      '1.95\u00a0s',
      '10\u00a0min',
      '25\u00a0h',
      '11.6\u00a0d',
    ]);
  });
});

describe('the axis', () => {
  it('finds the extremes of more values than a call takes', () => {
    expect(extremes(Array.from({ length: 300_000 }, (_, i) => i + 1))).toEqual({ least: 1, most: 300_000 });
  });

  it('zooms by a short text', () => {
    expect(format_zoom(3.14159, 103.9)).toBe('3.1..103.9');
    expect(parse_zoom('3.1..103.9')).toEqual({ from: 3.1, to: 103.9 });
    expect(parse_zoom(format_zoom(1.7e9, 1.7e9 + 0.5))).toEqual({ from: 1.7e9, to: 1.7e9 + 0.5 });
    for (const width of [1e-7, 3e-9, 2e-40, 5e-324, 1e21, 1e300]) {
      const read = parse_zoom(format_zoom(0, width));
      expect(read?.from).toBe(0);
      expect(Math.abs((read?.to ?? 0) - width)).toBeLessThanOrEqual(width / 1000);
    }
    expect(parse_zoom('-1e-7..2e+21')).toEqual({ from: -1e-7, to: 2e21 });
    expect(parse_zoom('9..3')).toBeUndefined();
    expect(parse_zoom('x')).toBeUndefined();
  });
  it('keeps points at one place apart', () => {
    const out = ascending([1, 1, 1, 2]);
    expect(new Set(out).size).toBe(4);
    expect(out[2]).toBeCloseTo(1, 6);
  });
  it('finds the point nearest to the pointer', () => {
    expect([-1, 0.4, 0.6, 5, 99].map((x) => index_at([0, 1, 5, 10], x))).toEqual([0, 0, 1, 2, 3]);
    expect(index_at([], 1)).toBeUndefined();
  });
});

describe('the table of values', () => {
  it('joins curves by the axis, void points left out', () => {
    const table = value_table([
      { tag: 'loss', curves: [{ run: 'a', series: series([{ x: [0, 1], value: [3, null] }]) }] },
      {
        tag: '=lr',
        curves: [
          {
            run: 'a',
            series: series([
              { x: [1, 2], value: [0.5, 0.25] },
              { x: [9], value: [9], superseded: true },
            ]),
          },
        ],
      },
    ]);
    expect(table.rows.map(({ x, values }) => [x, ...values])).toEqual([
      [0, 3, undefined],
      [1, undefined, 0.5],
      [2, undefined, 0.25],
    ]);
    expect(values_csv(table, 'step').split('\r\n')[0]).toBe("step,wall_time,loss,'=lr");
  });
});

describe('zoom by keys', () => {
  const whole = { from: 0, to: 100 };
  it('narrows and widens around the middle, and ends at all', () => {
    expect(zoom_by_key('+', whole, whole)).toEqual({ from: 20, to: 80 });
    expect(zoom_by_key('-', { from: 20, to: 80 }, whole)).toBe('all');
    expect(zoom_by_key('-', { from: 0, to: 30 }, whole)).toEqual({ from: 0, to: 40 });
    expect(zoom_by_key('0', { from: 20, to: 80 }, whole)).toBe('all');
    expect(zoom_by_key('x', whole, whole)).toBeUndefined();
  });
  it('moves within what there is', () => {
    expect(zoom_by_key('ArrowRight', { from: 20, to: 70 }, whole)).toEqual({ from: 30, to: 80 });
    expect(zoom_by_key('ArrowRight', { from: 45, to: 95 }, whole)).toEqual({ from: 50, to: 100 });
    expect(zoom_by_key('ArrowLeft', { from: 4, to: 54 }, whole)).toEqual({ from: 0, to: 50 });
  });
});
