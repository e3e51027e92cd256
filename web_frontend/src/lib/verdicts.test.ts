import { expect, it } from 'vitest';
import { code_runs, fires, guide_href, rich, verdict_kind, verdict_of_cause } from './verdicts';

const essential = (code: string): string[] =>
  code_runs(code).flatMap(({ text, as }) => (as === 'essential' ? [text] : []));

it('names what it does not know, too', () => {
  expect(verdict_kind('data_loading').title).toBe('Data loading');
  expect(verdict_kind('thermal_limit')).toMatchObject({ title: 'Thermal limit', short: 'thermal limit' });
  expect(guide_href('small_kernels')).toBe('guide.html#small-kernels');
});

it('tells those that fire from the others', () => {
  const severities = ['high', 'medium', 'low', 'ok', 'unknown'];
  expect(severities.filter((severity) => fires({ id: 'memory', severity }))).toEqual([
    'high',
    'medium',
    'low',
  ]);
});

it('sets figures and code of a sentence apart, and loses nothing', () => {
  const sentence =
    'The thread waits in `enumerate(DataLoader)` for 45.3 ms, 21.9 % of a step, of 1 024 MiB at 3 GB/s.';
  const runs = rich(sentence);
  expect(runs.filter(({ as }) => as === 'figure').map(({ text }) => text)).toEqual([
    '45.3 ms',
    '21.9 %',
    '1 024 MiB',
    '3 GB/s',
  ]);
  expect(runs.filter(({ as }) => as === 'code').map(({ text }) => text)).toEqual(['enumerate(DataLoader)']);
  expect(runs.map(({ text }) => text).join('')).toBe(sentence.replaceAll('`', ''));
  expect(rich('under 10 us')).toContainEqual({ text: '10 µs', as: 'figure' });
  expect(rich('')).toEqual([]);
  expect(rich('one ` alone, conv2d of step 3')).toEqual([{ text: 'one ` alone, conv2d of step 3' }]);
});

it('marks the arguments to add; without any, the call', () => {
  expect(essential('DataLoader(set, num_workers=4, pin_memory=True)')).toEqual([
    'num_workers=4, pin_memory=True',
  ]);
  expect(essential('DataLoader(set, batch_size=..., num_workers=4)')).toEqual(['num_workers=4']);
  expect(essential('graph = torch.cuda.CUDAGraph()')).toEqual(['torch.cuda.CUDAGraph']);
  expect(essential('if a == b: pass')).toEqual([]);
  const code = 'x = f(a)  # dtype=float\nx.cpu()';
  expect(
    code_runs(code)
      .map(({ text }) => text)
      .join(''),
  ).toBe(code);
  expect(code_runs(code)[1]).toEqual({ text: ' # dtype=float', as: 'comment' });
});

it('knows which verdict speaks of a cause', () => {
  expect(verdict_of_cause('launch')).toBe('small_kernels');
  expect(verdict_of_cause('data_loading')).toBe('data_loading');
  expect(verdict_of_cause('python')).toBe('low_utilization');
  expect(verdict_of_cause('unknown')).toBe('low_utilization');
  expect(verdict_of_cause('of a newer server')).toBeUndefined();
});
