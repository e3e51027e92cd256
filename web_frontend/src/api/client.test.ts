import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError, is_abort, make_api, problem_from } from './client';
import type { Status } from './types';

const kId = '0123456789abcdef';
const json = (body: unknown, status = 200, type = 'application/json'): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': type } });
const loading = (bytes_done: number, extra: Partial<Status> = {}): Status => ({
  id: kId,
  phase: 'reading',
  bytes_done,
  bytes_total: 100,
  events: bytes_done * 2,
  ...extra,
});

/** A fetch that answers in turn and remembers what it was asked. */
function scripted(...answers: (Response | Error)[]): { fetcher: typeof fetch; asked: string[] } {
  const asked: string[] = [];
  const fetcher = vi.fn((input: URL) => {
    asked.push(String(input));
    const next = answers.shift();
    if (next === undefined) throw new Error('asked once too often');
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  });
  return { fetcher: fetcher as unknown as typeof fetch, asked };
}

describe('make_api', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('asks relative to the document, whatever the prefix', async () => {
    const { fetcher, asked } = scripted(json({ logdir: 'x', runs: [], ignored: [] }));
    await make_api(() => 'http://host/a/b/data/plugin/traceglass/index.html#v=1', fetcher).get('/api/runs');
    expect(asked).toEqual(['http://host/a/b/data/plugin/traceglass/api/runs']);
  });

  it('fills path and query, and escapes them', () => {
    const api = make_api(() => 'http://host/');
    const url = api.url('/api/traces/{id}/operator', {
      path: { id: kId },
      query: { name: 'a&b #c', steps: '1-3' },
    });
    expect(url.href).toBe(`http://host/api/traces/${kId}/operator?name=a%26b+%23c&steps=1-3`);
  });

  it('asks again while the trace is being read, and reports it', async () => {
    const { fetcher, asked } = scripted(
      json(loading(10), 202),
      json(loading(60), 202),
      json({ from: 0, names: ['a'] }),
    );
    const seen: number[] = [];
    const answer = make_api(() => 'http://host/', fetcher).get('/api/traces/{id}/names', {
      path: { id: kId },
      progress: (status) => seen.push(status.events),
    });
    await vi.runAllTimersAsync();
    expect((await answer).names).toEqual(['a']);
    expect(seen).toEqual([20, 120]);
    expect(asked).toHaveLength(3);
  });

  it('turns a load that failed into its problem', async () => {
    const error = {
      type: 'about:blank',
      title: 'Not a trace',
      status: 422,
      code: 'not_a_trace',
      file: 'a.json',
    };
    const { fetcher } = scripted(json(loading(0, { phase: 'error', error }), 202));
    const answer = make_api(() => 'http://host/', fetcher).get('/api/traces/{id}/meta', {
      path: { id: kId },
    });
    await expect(answer).rejects.toMatchObject({ problem: { file: 'a.json', code: 'not_a_trace' } });
  });

  it('carries problem+json', async () => {
    const { fetcher } = scripted(
      json(
        { type: 'about:blank', title: 'No such trace', status: 404, detail: 'gone' },
        404,
        'application/problem+json',
      ),
    );
    const answer = make_api(() => 'http://host/', fetcher).get('/api/runs');
    await expect(answer).rejects.toBeInstanceOf(ApiError);
    await expect(answer).rejects.toThrow('gone');
  });

  it('makes a problem of an answer that is none', async () => {
    const { fetcher } = scripted(new Response('<html>', { status: 502, statusText: 'Bad Gateway' }));
    const answer = make_api(() => 'http://host/', fetcher).get('/api/runs');
    await expect(answer).rejects.toMatchObject({ problem: { status: 502, title: 'Bad Gateway' } });
  });

  it('names an unreachable server', async () => {
    const { fetcher } = scripted(new TypeError('Failed to fetch'));
    const answer = make_api(() => 'http://host/', fetcher).get('/api/runs');
    await expect(answer).rejects.toMatchObject({ problem: { code: 'offline' } });
  });

  it('stops waiting when it is given up', async () => {
    const { fetcher, asked } = scripted(json(loading(10), 202));
    const control = new AbortController();
    const answer = make_api(() => 'http://host/', fetcher).get('/api/traces/{id}/meta', {
      path: { id: kId },
      signal: control.signal,
    });
    const caught = answer.catch((cause: unknown) => cause);
    await vi.advanceTimersByTimeAsync(1);
    control.abort();
    expect(is_abort(await caught)).toBe(true);
    expect(asked).toHaveLength(1);
  });

  it('hands out bytes', async () => {
    const { fetcher } = scripted(new Response(new Uint8Array([1, 2, 3])));
    const bytes = await make_api(() => 'http://host/', fetcher).bytes('/api/traces/{id}/tiles', {
      path: { id: kId },
      query: { k: 3, i: '0-1', g: '0', gen: 'x' },
    });
    expect(new Uint8Array(bytes)).toEqual(new Uint8Array([1, 2, 3]));
  });
});

describe('problem_from', () => {
  it('keeps a problem and wraps anything else', () => {
    expect(problem_from(new ApiError({ type: 't', title: 'x', status: 1 })).title).toBe('x');
    expect(problem_from(new Error('odd')).detail).toBe('odd');
    expect(problem_from('odd').detail).toBe('odd');
  });
});
