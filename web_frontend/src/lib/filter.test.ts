import { expect, it } from 'vitest';
import { make_filter } from './filter';

it('finds plain text anywhere, whatever the case', () => {
  expect(make_filter(' GEMM ').matches('volta_sgemm_64x64_nt')).toBe(true);
  expect(make_filter('a.b').matches('axb')).toBe(false);
  expect(make_filter('').matches('anything')).toBe(true);
});

it('takes a regular expression between slashes', () => {
  expect(make_filter('/^aten::(mm|bmm)$/').matches('aten::bmm')).toBe(true);
  expect(make_filter('/^ATEN/').matches('aten::mm')).toBe(false);
  expect(make_filter('/^ATEN/i').matches('aten::mm')).toBe(true);
  const sticky = make_filter('/a/gy');
  expect([sticky.matches('ba'), sticky.matches('ba')]).toEqual([true, true]);
});

it('says what is wrong and hides nothing', () => {
  const broken = make_filter('/(/');
  expect(broken.error).toContain('/(/');
  expect(broken.matches('x')).toBe(true);
  expect(make_filter('/half').matches('a/half')).toBe(true);
});
