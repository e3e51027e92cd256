import { describe, expect, it } from 'vitest';
import { choose, newcomer } from './selection';

const span = (id: string, index: number, modified_unix_ms: number, file = `${id}.pt.trace.json`) => ({
  id,
  index,
  file,
  modified_unix_ms,
});
const runs = [
  { name: 'a', workers: [{ name: 'w0', spans: [span('1', 1, 10), span('2', 2, 20)] }] },
  {
    name: 'b',
    workers: [
      { name: 'w0', spans: [span('3', 1, 30)] },
      { name: 'w1', spans: [span('4', 1, 30)] },
    ],
  },
];
const id = (asked: Parameters<typeof choose>[1]): string | undefined => choose(runs, asked)?.span.id;

describe('choose', () => {
  it('takes the newest when nothing is asked', () => {
    expect(id({})).toBe('3');
    expect(choose(runs, {})?.missing).toBeUndefined();
    expect(choose([], {})).toBeUndefined();
  });

  it('takes what is asked', () => {
    expect(id({ run: 'a', worker: 'w0', span: 1 })).toBe('1');
    expect(id({ run: 'a', worker: 'w0' })).toBe('2');
    expect(id({ run: 'b', worker: 'w1' })).toBe('4');
    expect(id({ run: 'a' })).toBe('2');
  });

  it('finds a worker whose run is not named', () => {
    expect(id({ worker: 'w1' })).toBe('4');
    expect(id({ worker: 'w0', span: 2 })).toBe('2');
    expect(choose(runs, { worker: 'w9' })).toMatchObject({ span: { id: '3' }, missing: 'worker w9' });
  });

  it('does not open with a newer file that is hardly a profile', () => {
    const of_names = (...files: readonly string[]): string | undefined =>
      choose(
        [{ name: '.', workers: [{ name: 'w', spans: files.map((file, n) => span(file, n + 1, n, file)) }] }],
        {},
      )?.span.file;
    expect(of_names('w.pt.trace.json', 'settings.json')).toBe('w.pt.trace.json');
    expect(of_names('trace.json.gz', 'results.json')).toBe('trace.json.gz');
    expect(of_names('w.pt.trace.pftrace', 'w.json')).toBe('w.pt.trace.pftrace');
    expect(of_names('trace.json', 'newer.json')).toBe('newer.json');
  });

  it('falls back, and says what is gone', () => {
    expect(choose(runs, { run: 'c' })).toMatchObject({ span: { id: '3' }, missing: 'run c' });
    expect(choose(runs, { run: 'b', worker: 'w9' })).toMatchObject({
      span: { id: '3' },
      missing: 'worker w9',
    });
    expect(choose(runs, { run: 'a', worker: 'w0', span: 7 })).toMatchObject({
      span: { id: '2' },
      missing: 'span 7',
    });
  });
});

describe('a run in progress', () => {
  it('keeps what is on show, unless another one is asked for', () => {
    expect(choose(runs, {}, '1')?.span.id).toBe('1');
    expect(choose(runs, { run: 'a' }, '1')?.span.id).toBe('1');
    expect(choose(runs, { run: 'b' }, '1')?.span.id).toBe('3');
    expect(choose(runs, { run: 'a', worker: 'w0', span: 2 }, '1')?.span.id).toBe('2');
    expect(choose(runs, {}, 'gone')?.span.id).toBe('3');
  });

  it('tells of the same worker first, then of the same run, then of the newest', () => {
    const shown = (asked: Parameters<typeof choose>[1]) => choose(runs, asked);
    const told = (known: string[], asked: Parameters<typeof choose>[1]) =>
      newcomer(runs, new Set(known), shown(asked))?.span.id;
    expect(told(['1', '2', '3', '4'], {})).toBeUndefined();
    expect(told(['1'], { run: 'a', span: 1 })).toBe('2');
    expect(told(['3'], { run: 'b' })).toBe('4');
    expect(told([], { run: 'none' })).toBe('3');
    expect(told(['3'], { run: 'a' })).toBe('2');
    expect(
      newcomer(
        [{ name: 'r', workers: [{ name: 'w', spans: [span('x', 1, 9, 'x.json')] }] }],
        new Set(),
        undefined,
      ),
    ).toBeUndefined();
  });
});
