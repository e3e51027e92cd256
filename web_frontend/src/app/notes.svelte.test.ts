import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError, type Api } from '../api/client';
import type { NotesWriter } from '../api/notes';
import type { Meta } from '../api/types';
import { kDefaults } from '../lib/url_state';
import type { Address } from './address.svelte';
import { NoteBook } from './notes.svelte';

const address = { state: kDefaults, go: vi.fn() } as unknown as Address;
const meta = { id: 'a', generation: 'g', run: 'r' } as unknown as Meta;
const failure = (status: number): ApiError => new ApiError({ type: 'about:blank', title: 'Not now', status });

/** An API whose next listings fail with these, and then succeed. */
function book(...failures: number[]) {
  const listed = vi.fn(() => {
    const status = failures.shift();
    return status === undefined ? Promise.resolve({ threads: [], seq: 7 }) : Promise.reject(failure(status));
  });
  const get = (path: string): Promise<unknown> =>
    path === '/api/notes' ? listed() : Promise.resolve({ may_write: true });
  return { notes: new NoteBook({ get } as unknown as Api, address, {} as NotesWriter), listed };
}

class Silent {
  readyState = 0;
  addEventListener(): void {
    // Nothing is ever told.
  }
  close(): void {
    // Nothing is held.
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('EventSource', Silent);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('NoteBook', () => {
  it.each([503, 429, 0])('lists again after %i, later each time', async (status) => {
    const { notes, listed } = book(status, status);
    await notes.look_at(meta, 1);
    expect(notes.problem?.status).toBe(status);
    await vi.advanceTimersByTimeAsync(2000);
    expect(listed).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(2000);
    expect(listed).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(2000);
    expect(listed).toHaveBeenCalledTimes(3);
    expect(notes.problem).toBeUndefined();
    expect(notes.seq).toBe(7);
    await vi.advanceTimersByTimeAsync(300_000);
    expect(listed).toHaveBeenCalledTimes(3);
    notes.stop();
  });

  it('asks once a minute at last, and not after it was stopped', async () => {
    const { notes, listed } = book(...new Array<number>(100).fill(503));
    await notes.look_at(meta, 1);
    await vi.advanceTimersByTimeAsync(62_000); // 2 + 4 + 8 + 16 + 32 s
    expect(listed).toHaveBeenCalledTimes(6);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(listed).toHaveBeenCalledTimes(16);
    notes.stop();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(listed).toHaveBeenCalledTimes(16);
  });

  it('waits for the sign-in, and lists then', async () => {
    const { notes, listed } = book(401);
    await notes.look_at(meta, 1);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(listed).toHaveBeenCalledTimes(1);
    await notes.look_at(meta, 1);
    expect(listed).toHaveBeenCalledTimes(2);
    expect(notes.problem).toBeUndefined();
    await notes.look_at(meta, 1);
    expect(listed).toHaveBeenCalledTimes(2);
    notes.stop();
  });
});
