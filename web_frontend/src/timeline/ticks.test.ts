import { describe, expect, it } from 'vitest';
import { format_at, format_duration, nice_step, tick_label, ticks_for } from './ticks';
import { x_of_ns, type Viewport } from './viewport';

const view = (start_ns: number, end_ns: number): Viewport => ({ start_ns, end_ns, width_px: 1000 });
const labels = (v: Viewport): string[] => {
  const ticks = ticks_for(v);
  return ticks.at_ns.map((ns) => tick_label(ns, ticks));
};

describe('ticks', () => {
  it('steps by 1, 2 or 5', () => {
    expect([1, 1.5, 2.1, 6, 99, 100, 101].map(nice_step)).toEqual([1, 2, 5, 10, 100, 100, 200]);
  });
  it('stand at least 80 px apart, on multiples of their step, inside the view', () => {
    for (let e = 1; e < 13; e += 0.37) {
      const v = view(12345, 12345 + 10 ** e);
      const { at_ns, step_ns } = ticks_for(v);
      expect(at_ns.length).toBeLessThan(15);
      at_ns.forEach((ns, n) => {
        expect(ns % step_ns).toBe(0);
        expect(ns).toBeGreaterThanOrEqual(v.start_ns);
        expect(ns).toBeLessThanOrEqual(v.end_ns);
        if (n > 0) expect(x_of_ns(v, ns) - x_of_ns(v, at_ns[n - 1]!)).toBeGreaterThanOrEqual(79.9);
      });
    }
  });
  it('are written in ms with the decimals that the step needs', () => {
    expect(labels(view(0, 929.7e6)).slice(0, 3)).toEqual(['0', '100', '200']);
    expect(labels(view(514.95e6, 518.95e6)).slice(0, 2)).toEqual(['515.0', '515.5']);
    expect(labels(view(514.95e6, 514.95e6 + 500))[0]).toBe('514.95000');
    expect(labels(view(0, 3.2e12))[1]).toBe('500');
  });
});

describe('durations', () => {
  it.each([
    [0, '0\u2009ns'],
    [999, '999\u2009ns'],
    [1000, '1.00\u2009µs'],
    [450e3, '450\u2009µs'],
    [999_600, '1.00\u2009ms'],
    [1.54e6, '1.54\u2009ms'],
    [31.5e6, '31.5\u2009ms'],
    [1.2e9, '1.20\u2009s'],
    [1234e9, '1\u2009234\u2009s'],
    [-5000, '\u22125.00\u2009µs'],
  ])('%d ns is %s', (ns, text) => expect(format_duration(ns)).toBe(text));
  it('says times with the decimals that the view can tell apart', () => {
    expect(format_at(471_271_000)).toBe('471.271');
    expect(format_at(471_271_123, 1)).toBe('471.271123');
    expect(format_at(471_271_123, 1e6)).toBe('471');
  });
});
