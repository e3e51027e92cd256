import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Api } from '../api/client';
import { ApiError } from '../api/client';
import type { Meta, Runs, Span, Status } from '../api/types';
import { kDefaults } from '../lib/url_state';
import type { Address } from './address.svelte';
import { Session } from './session.svelte';

const span = (id: string, bytes = 10): Span => ({
  id,
  span: '',
  index: 1,
  file: `${id}.json`,
  bytes,
  modified_unix_ms: 1,
  state: 'new',
});
const runs = (...spans: Span[]): Runs => ({
  logdir: '/log',
  runs: spans.length === 0 ? [] : [{ name: 'r', workers: [{ name: 'w', spans }] }],
  ignored: [],
  event_files: 0,
});
const meta = (id: string): Meta => ({ id, generation: 'g' }) as unknown as Meta;

/** An API whose metas are answered by hand. */
function fake(listing: Runs) {
  const asked: {
    id: string;
    signal: AbortSignal;
    progress: (status: Status) => void;
    answer: (meta: Meta) => void;
    fail: (cause: unknown) => void;
  }[] = [];
  const get = vi.fn(
    (
      path: string,
      ask: { path: { id: string }; signal: AbortSignal; progress: (status: Status) => void },
    ) => {
      if (path === '/api/runs') return Promise.resolve(listing);
      return new Promise((answer, fail) =>
        asked.push({ id: ask.path.id, signal: ask.signal, progress: ask.progress, answer, fail }),
      );
    },
  );
  return { api: { get } as unknown as Api, asked, get };
}
const go = vi.fn();
const address = { state: kDefaults, go } as unknown as Address;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('Session', () => {
  it('looks again at an empty log directory', async () => {
    const { api, get } = fake(runs());
    const session = new Session(api, address);
    await session.look();
    expect(session.chosen).toBeUndefined();
    await vi.advanceTimersByTimeAsync(2500);
    expect(get).toHaveBeenCalledTimes(2);
  });

  it.each([401, 429])('asks nothing more after %i until it is signed in', async (status) => {
    const { api, get } = fake(runs(span('a')));
    const session = new Session(api, address);
    get.mockRejectedValueOnce(new ApiError({ type: 'about:blank', title: 'Locked', status }));
    await session.look();
    expect(session.locked).toBe(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(get).toHaveBeenCalledTimes(1);
    session.retry();
    await vi.advanceTimersByTimeAsync(0);
    expect(session.locked).toBe(false);
    expect(session.chosen?.span.id).toBe('a');
    await vi.advanceTimersByTimeAsync(2500);
    expect(get).toHaveBeenCalledTimes(3);
  });

  it('goes on asking after any other failure', async () => {
    const { api, get } = fake(runs());
    const session = new Session(api, address);
    get.mockRejectedValueOnce(new ApiError({ type: 'about:blank', title: 'Busy', status: 503 }));
    await session.look();
    await vi.advanceTimersByTimeAsync(2500);
    expect(get).toHaveBeenCalledTimes(2);
    expect(session.runs_problem).toBeUndefined();
  });

  it('reads the chosen span, with progress', async () => {
    const { api, asked } = fake(runs(span('a')));
    const session = new Session(api, address);
    await session.look();
    session.open(session.chosen?.span);
    expect(session.load.state).toBe('loading');
    asked[0]!.progress({ id: 'a', phase: 'reading', bytes_done: 5, bytes_total: 10, events: 3 });
    expect(session.load).toMatchObject({ status: { events: 3 } });
    asked[0]!.answer(meta('a'));
    await vi.advanceTimersByTimeAsync(0);
    expect(session.load).toMatchObject({ state: 'ready', meta: { id: 'a' } });
  });

  it('gives up the older load', async () => {
    const { api, asked } = fake(runs(span('a'), span('b')));
    const session = new Session(api, address);
    session.open(span('a'));
    session.open(span('b'));
    expect(asked[0]!.signal.aborted).toBe(true);
    asked[1]!.answer(meta('b'));
    asked[0]!.answer(meta('a'));
    await vi.advanceTimersByTimeAsync(0);
    expect(session.load).toMatchObject({ meta: { id: 'b' } });
  });

  it('reads a file that grew behind what it shows', async () => {
    const { api, asked } = fake(runs(span('a')));
    const session = new Session(api, address);
    session.open(span('a'));
    asked[0]!.answer(meta('a'));
    await vi.advanceTimersByTimeAsync(0);
    session.open(span('a'));
    expect(asked).toHaveLength(1);
    session.open(span('a', 20));
    expect(asked).toHaveLength(2);
    expect(session.load.state).toBe('ready');
  });

  it('tells of a span that comes, and stays with the one on show', async () => {
    const listing = runs(span('a'));
    const { api, get } = fake(listing);
    const session = new Session(api, address);
    await session.look();
    session.open(session.chosen?.span);
    expect(session.fresh).toBeUndefined();
    const second = { ...span('b'), index: 2, file: 'b.pt.trace.json', modified_unix_ms: 2 };
    get.mockImplementation((path: string) =>
      path === '/api/runs' ? Promise.resolve(runs(span('a'), second)) : new Promise(() => undefined),
    );
    await vi.advanceTimersByTimeAsync(2500);
    expect(session.chosen?.span.id).toBe('a');
    expect(session.fresh?.span.id).toBe('b');
    expect(go).toHaveBeenLastCalledWith({ run: 'r', worker: 'w', span: 1 });
    session.open(second);
    expect(session.fresh).toBeUndefined();
  });

  it('names what failed, and tries again when asked', async () => {
    const { api, asked } = fake(runs(span('a')));
    const session = new Session(api, address);
    await session.look();
    session.open(session.chosen?.span);
    asked[0]!.fail(
      new ApiError({ type: 'about:blank', title: 'Not a profile', status: 422, file: 'a.json' }),
    );
    await vi.advanceTimersByTimeAsync(0);
    expect(session.load).toMatchObject({ state: 'failed', problem: { file: 'a.json' } });
    session.retry();
    expect(asked).toHaveLength(2);
  });
});
