import { describe, expect, it, vi } from 'vitest';
import { find_host, merged_hash, plugin_name } from './host_bridge';

it('finds the plugin name below any prefix', () => {
  expect(plugin_name('/a/b/data/plugin/traceglass/index.html')).toBe('traceglass');
  expect(plugin_name('/experiment/x/data/plugin/pytorch_profiler/')).toBe('pytorch_profiler');
  expect(plugin_name('/index.html')).toBeUndefined();
});

it('replaces our keys and leaves those of others', () => {
  expect(
    merged_hash('#traceglass&p.traceglass.view=a&p.other.x=1', 'traceglass', 'p.traceglass.view=b'),
  ).toBe('#traceglass&p.other.x=1&p.traceglass.view=b');
  expect(merged_hash('', 'traceglass', 'p.traceglass.v=1')).toBe('#traceglass&p.traceglass.v=1');
});

/** A window in a TensorBoard whose messages we can answer. */
function framed(hash: string) {
  let port: MessagePort | undefined;
  const body = document.createElement('body');
  const parent = {
    location: { href: `http://host/${hash}`, hash },
    history: { state: { tb: 1 }, replaceState: vi.fn() },
    document: { body },
    postMessage: vi.fn((_: string, __: string, ports: MessagePort[]) => (port = ports[0])),
  };
  const self = { location: { pathname: '/data/plugin/traceglass/index.html' }, parent };
  return { self: self as unknown as Window, parent, body, port: () => port! };
}

describe('find_host', () => {
  it('is nothing in a window of its own, or in a foreign frame', () => {
    const alone = { location: { pathname: '/data/plugin/traceglass/' } } as unknown as Window;
    (alone as { parent: Window }).parent = alone;
    expect(find_host(alone)).toBeUndefined();
    const foreign = { location: { pathname: '/page.html' }, parent: {} } as unknown as Window;
    expect(find_host(foreign)).toBeUndefined();
  });

  it('takes the deep link from the address', async () => {
    const { self } = framed('#traceglass&p.traceglass.view=kernels');
    expect(await find_host(self)?.deep_link()).toBe('#traceglass&p.traceglass.view=kernels');
  });

  it('else asks TensorBoard for it', async () => {
    const { self, port } = framed('#traceglass');
    const host = find_host(self)!;
    port().onmessage = (event: MessageEvent<string>) => {
      const { id, type } = JSON.parse(event.data) as { id: number; type: string };
      expect(type).toBe('experimental.GetURLPluginData');
      port().postMessage(
        JSON.stringify({ type, id, payload: { view: 'memory' }, error: null, isReply: true }),
      );
    };
    expect(await host.deep_link()).toBe('p.traceglass.view=memory');
  });

  it('stands alone when nobody answers', async () => {
    const { self } = framed('#traceglass');
    expect(await find_host(self)?.deep_link()).toBe('');
  });

  it('writes only while its tab is on show, keeping the history state of its host', () => {
    const shown = framed('#traceglass&x=1');
    find_host(shown.self)?.write('p.traceglass.v=1');
    expect(shown.parent.history.replaceState).toHaveBeenCalledWith(
      { tb: 1 },
      '',
      '#traceglass&x=1&p.traceglass.v=1',
    );
    const hidden = framed('#scalars');
    find_host(hidden.self)?.write('p.traceglass.v=1');
    expect(hidden.parent.history.replaceState).not.toHaveBeenCalled();
  });

  it('follows the theme', async () => {
    const { self, body } = framed('#traceglass');
    const host = find_host(self)!;
    const changed = vi.fn();
    host.on_theme(changed);
    expect(host.dark()).toBe(false);
    body.classList.add('dark-mode');
    await Promise.resolve();
    expect(host.dark()).toBe(true);
    expect(changed).toHaveBeenCalled();
  });

  it('survives a host that forbids a look', async () => {
    const parent = {
      get location(): never {
        throw new DOMException('no', 'SecurityError');
      },
      postMessage: vi.fn(),
    };
    const self = { location: { pathname: '/data/plugin/traceglass/' }, parent } as unknown as Window;
    const host = find_host(self)!;
    expect(host.dark()).toBeUndefined();
    expect(host.link('x')).toBeUndefined();
    expect(await host.deep_link()).toBe('');
  });
});
