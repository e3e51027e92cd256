import { flushSync } from 'svelte';
import { expect, it, vi } from 'vitest';
import { ApiError } from '../api/client';
import { resource } from './resource.svelte';

const settled = async (): Promise<void> => {
  await Promise.resolve();
  await Promise.resolve();
  flushSync();
};

it('asks by key, keeps the old answer meanwhile, and gives up what is overtaken', async () => {
  let key = $state('a');
  const signals: AbortSignal[] = [];
  const answers: ((text: string) => void)[] = [];
  const ask = vi.fn((signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<string>((resolve) => answers.push(resolve));
  });
  await new Promise<void>((finish) => {
    const end = $effect.root(() => {
      const found = resource(() => key, ask);
      void (async () => {
        flushSync();
        expect(found.stale).toBe(true);
        answers[0]!('first');
        await settled();
        expect([found.data, found.stale]).toEqual(['first', false]);
        key = 'b';
        flushSync();
        expect([found.data, found.stale]).toEqual(['first', true]);
        key = 'c';
        flushSync();
        expect(signals[1]!.aborted).toBe(true);
        answers[1]!('overtaken');
        answers[2]!('third');
        await settled();
        expect(found.data).toBe('third');
        end();
        finish();
      })();
    });
  });
});

it('keeps the problem, and asks again on demand', async () => {
  const ask = vi.fn(() => Promise.reject(new ApiError({ type: 't', title: 'no', status: 500 })));
  await new Promise<void>((finish) => {
    const end = $effect.root(() => {
      const found = resource(() => 'a', ask);
      void (async () => {
        flushSync();
        await settled();
        expect(found.problem?.title).toBe('no');
        found.retry();
        flushSync();
        expect(ask).toHaveBeenCalledTimes(2);
        end();
        finish();
      })();
    });
  });
});
