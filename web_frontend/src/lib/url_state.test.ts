import { describe, expect, it } from 'vitest';
import { format_hash, kDefaults, parse_hash, patched, type UrlState } from './url_state';

const some: UrlState = {
  ...kDefaults,
  run: 'resnet50/num workers=0 & more',
  worker: 'worker0',
  span: 2,
  view: 'trace',
  steps: { first: 1, last: 5 },
  t: { t0: 12_300_000, t1: 18_912_345 },
  sel: 4711,
  q: 'gemm #1 100%',
  pin: ['device:0', 'a,b%'],
  table: true,
};

describe('the hash', () => {
  it('is readable, and leaves defaults out', () => {
    expect(format_hash({ ...kDefaults, view: 'kernels', steps: { first: 3, last: 3 } })).toBe(
      'v=1&view=kernels&steps=3',
    );
    expect(format_hash(kDefaults)).toBe('v=1');
    expect(format_hash({ ...kDefaults, t: { t0: 12_300_000, t1: 18_900_000 } })).toBe('v=1&t=12.3ms..18.9ms');
  });

  it('reads back what it wrote', () => {
    expect(parse_hash(`#${format_hash(some)}`)).toEqual(some);
  });

  it('reads back under a prefix, beside the keys of others', () => {
    const hash = `#traceglass&tagFilter=x&${format_hash(some, 'p.traceglass.')}&p.other.view=memory`;
    expect(parse_hash(hash, 'p.traceglass.')).toEqual(some);
  });

  it('loses only the field that is wrong', () => {
    const state = parse_hash(
      '#v=1&run=a&span=x&view=<b>&steps=5-3&t=9ms..1ms&sel=-1&sort=%E0%A4%A&q=ok&__proto__=x&nonsense',
    );
    expect(state).toEqual({ ...kDefaults, run: 'a', q: 'ok' });
  });

  it('survives anything', () => {
    for (const odd of [
      '',
      '#',
      '&&&==',
      '#v=1&run=%',
      '#constructor=1',
      '#t=..',
      `#steps=${'9'.repeat(400)}`,
    ]) {
      expect(parse_hash(odd).view).toBe('overview');
    }
  });
});

describe('patched', () => {
  it('starts a new view from its defaults but keeps where we are', () => {
    const next = patched(some, { view: 'kernels' });
    expect(next).toEqual({
      ...kDefaults,
      run: some.run,
      worker: 'worker0',
      span: 2,
      view: 'kernels',
      steps: some.steps,
    });
  });

  it('lets a link carry what the new view needs', () => {
    expect(patched(some, { view: 'operators', open: 'aten::mm' }).open).toBe('aten::mm');
    expect(patched(some, { sel: 5 }).t).toEqual(some.t);
  });
});
