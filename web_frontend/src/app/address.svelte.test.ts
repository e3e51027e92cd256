import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Address } from './address.svelte';
import type { Host } from './host_bridge';

beforeEach(() => {
  vi.useFakeTimers();
  history.replaceState(null, '', '/');
});
afterEach(() => void vi.useRealTimers());

describe('Address', () => {
  it('reads what it was opened with', () => {
    history.replaceState(null, '', '#v=1&view=kernels&filter=gemm');
    expect(new Address(undefined).state).toMatchObject({ view: 'kernels', filter: 'gemm' });
  });

  it('pushes a click and replaces a keystroke, the latter not at once', () => {
    const address = new Address(undefined);
    const before = history.length;
    address.go({ view: 'kernels' }, { push: true });
    expect(location.hash).toBe('#v=1&view=kernels');
    expect(history.length).toBe(before + 1);
    address.go({ filter: 'g' });
    address.go({ filter: 'ge' });
    expect(address.state.filter).toBe('ge');
    expect(location.hash).toBe('#v=1&view=kernels');
    vi.advanceTimersByTime(300);
    expect(location.hash).toBe('#v=1&view=kernels&filter=ge');
    expect(history.length).toBe(before + 1);
  });

  it('writes a pending keystroke into the entry that a click leaves', () => {
    const address = new Address(undefined);
    const replace = vi.spyOn(history, 'replaceState');
    address.go({ filter: 'late' });
    address.go({ view: 'memory' }, { push: true });
    expect(replace).toHaveBeenCalledWith(null, '', '#v=1&filter=late');
    expect(location.hash).toBe('#v=1&view=memory');
  });

  it('follows Back', () => {
    const address = new Address(undefined);
    address.go({ view: 'memory' }, { push: true });
    history.replaceState(null, '', '#v=1&view=operators');
    dispatchEvent(new PopStateEvent('popstate'));
    expect(address.state.view).toBe('operators');
  });

  it('does nothing for what is already so', () => {
    const address = new Address(undefined);
    const push = vi.spyOn(history, 'pushState');
    address.go({ view: 'overview' }, { push: true });
    expect(push).not.toHaveBeenCalled();
  });

  it('takes the deep link of TensorBoard and keeps it up to date', async () => {
    const write = vi.fn();
    const host: Host = {
      prefix: 'p.traceglass.',
      deep_link: () => Promise.resolve('#traceglass&p.traceglass.view=memory'),
      write,
      link: (pairs) => `http://tb/#${pairs}`,
      dark: () => false,
      on_theme: vi.fn(),
      on_reload: vi.fn(),
    };
    const address = new Address(host);
    await address.open();
    expect(address.state.view).toBe('memory');
    expect(write).toHaveBeenLastCalledWith('p.traceglass.v=1&p.traceglass.view=memory');
    expect(address.links().tensorboard).toBe('http://tb/#p.traceglass.v=1&p.traceglass.view=memory');
  });
});
