// TensorBoard around us, if it is there. Its iframe is same-origin: we may read and replace its address, and see its theme;
// its message port gives the deep link and tells of reloads. Everything is tried and nothing is needed: without an answer
// within 300 ms, or in any other frame, the page stands alone.

const kHandshakeMs = 300;

export interface Host {
  /** Prefix of our keys in TensorBoard's address: `p.<plugin>.` */
  readonly prefix: string;
  /** Our keys of the deep link that opened TensorBoard, as a hash (with the prefix), or ''. */
  deep_link(): Promise<string>;
  /** Puts our (prefixed) keys into TensorBoard's address, beside those of others. */
  write(pairs: string): void;
  /** TensorBoard's address with these keys. */
  link(pairs: string): string | undefined;
  dark(): boolean | undefined;
  on_theme(changed: () => void): void;
  on_reload(reloaded: () => void): void;
}

interface Message {
  readonly type: string;
  readonly id: number;
  readonly payload?: unknown;
  readonly isReply: boolean;
}

/** The plugin's name in an address `…/data/plugin/<name>/index.html`. */
export function plugin_name(path: string): string | undefined {
  return /\/data\/plugin\/([A-Za-z0-9_-]+)\//.exec(path)?.[1];
}

/** TensorBoard's hash with our keys replaced: `#<tab>&other=1&p.<name>.view=…`. */
export function merged_hash(hash: string, name: string, pairs: string): string {
  const prefix = `p.${name}.`;
  const others = hash
    .replace(/^#/, '')
    .split('&')
    .filter((pair) => pair !== '' && pair !== name && !pair.startsWith(prefix));
  // A tab's name comes first and has no `=`; another tab's name there would mean that we are not on show.
  return `#${[name, ...others.filter((pair) => pair.includes('=')), pairs].filter(Boolean).join('&')}`;
}

export function find_host(self: Window = window): Host | undefined {
  const name = plugin_name(self.location.pathname);
  if (name === undefined || self.parent === self) return undefined;
  const prefix = `p.${name}.`;
  const port = new Port(self);

  /** TensorBoard's window, or undefined where the browser forbids a look at it. */
  const parent = (): Window | undefined => {
    try {
      return self.parent.location.href === '' ? undefined : self.parent;
    } catch {
      return undefined;
    }
  };
  const on_show = (): boolean => {
    const tab = parent()?.location.hash.replace(/^#/, '').split('&')[0] ?? '';
    return tab === name || tab === '' || tab.includes('=');
  };

  return {
    prefix,
    deep_link: async () => {
      const hash = parent()?.location.hash ?? '';
      if (hash.includes(prefix)) return hash;
      const data = await port.ask('experimental.GetURLPluginData');
      if (typeof data !== 'object' || data === null) return '';
      return Object.entries(data)
        .map(([key, value]) => `${prefix}${key}=${encodeURIComponent(String(value))}`)
        .join('&');
    },
    write: (pairs) => {
      const window = parent();
      if (window === undefined || !on_show()) return;
      const hash = merged_hash(window.location.hash, name, pairs);
      if (hash === window.location.hash) return;
      try {
        window.history.replaceState(window.history.state, '', hash);
      } catch {
        // Too many changes a second, or a browser that forbids it: the link in our own frame still holds.
      }
    },
    link: (pairs) => {
      const window = parent();
      if (window === undefined) return undefined;
      const url = new URL(window.location.href);
      url.hash = merged_hash(window.location.hash, name, pairs);
      return url.href;
    },
    dark: () => parent()?.document.body.classList.contains('dark-mode'),
    on_theme: (changed) => {
      const body = parent()?.document.body;
      if (body !== undefined) new MutationObserver(changed).observe(body, { attributeFilter: ['class'] });
    },
    on_reload: (reloaded) => port.listen('experimental.DataReloaded', reloaded),
  };
}

/** TensorBoard's message port: JSON text, each request answered under its id. */
class Port {
  readonly #channel = new MessageChannel();
  readonly #waits = new Map<number, (payload: unknown) => void>();
  readonly #listeners = new Map<string, () => void>();
  #next_id = 0;

  constructor(self: Window) {
    this.#channel.port1.onmessage = (event: MessageEvent<unknown>) => this.#receive(event.data);
    self.parent.postMessage('experimental.bootstrap', '*', [this.#channel.port2]);
  }

  ask(type: string): Promise<unknown> {
    const id = this.#next_id++;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waits.delete(id);
        resolve(undefined);
      }, kHandshakeMs);
      this.#waits.set(id, (payload) => {
        clearTimeout(timer);
        resolve(payload);
      });
      this.#post({ type, id, payload: null, isReply: false });
    });
  }

  listen(type: string, called: () => void): void {
    this.#listeners.set(type, called);
  }

  #post(message: Message): void {
    this.#channel.port1.postMessage(JSON.stringify({ ...message, error: null }));
  }

  #receive(data: unknown): void {
    const message = read_message(data);
    if (message === undefined) return;
    if (message.isReply) {
      this.#waits.get(message.id)?.(message.payload);
      this.#waits.delete(message.id);
      return;
    }
    this.#listeners.get(message.type)?.();
    this.#post({ type: message.type, id: message.id, payload: null, isReply: true });
  }
}

function read_message(data: unknown): Message | undefined {
  if (typeof data !== 'string') return undefined;
  try {
    const found: unknown = JSON.parse(data);
    if (typeof found !== 'object' || found === null) return undefined;
    const { type, id, payload, isReply } = found as Record<string, unknown>;
    if (typeof type !== 'string' || typeof id !== 'number') return undefined;
    return { type, id, payload, isReply: isReply === true };
  } catch {
    return undefined;
  }
}
