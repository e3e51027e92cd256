import { afterEach, describe, expect, test, vi } from 'vitest';
import { make_writer, NotesFeed } from './notes';
import type { NoteChange, Problem } from './types';

const kBase = 'http://host/p/q/index.html#v=1';

class FakeSource {
  static all: FakeSource[] = [];
  readyState = 1;
  closed = false;
  readonly heard = new Map<string, (event: Event) => void>();
  constructor(readonly url: string) {
    FakeSource.all.push(this);
  }
  addEventListener(type: string, hear: (event: Event) => void): void {
    this.heard.set(type, hear);
  }
  close(): void {
    this.closed = true;
  }
  tell(type: string, init: MessageEventInit = {}): void {
    this.heard.get(type)?.(new MessageEvent(type, init));
  }
}

const change = (seq: number): NoteChange => ({ seq }) as NoteChange;
const data = (seq: number): MessageEventInit => ({ data: JSON.stringify(change(seq)) });

function follow(fetcher: typeof fetch = vi.fn()) {
  FakeSource.all = [];
  const seen: (number | string)[] = [];
  const feed = new NotesFeed(
    7,
    {
      on_change: ({ seq }) => seen.push(seq),
      on_reset: (seq) => seen.push(`reset ${seq}`),
      on_problem: (problem: Problem | undefined) => {
        if (problem !== undefined) seen.push(problem.title);
      },
    },
    () => kBase,
    (url) => new FakeSource(url) as unknown as EventSource,
    fetcher,
  );
  return { feed, seen };
}

function hide(hidden: boolean): void {
  Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}

afterEach(() => {
  Object.defineProperty(document, 'hidden', { value: false, configurable: true });
  vi.useRealTimers();
});

describe('following', () => {
  test('from where the list ended, each change once', () => {
    const { feed, seen } = follow();
    expect(FakeSource.all[0]?.url).toBe('http://host/p/q/api/notes/events?after=7');
    FakeSource.all[0]?.tell('change', data(8));
    FakeSource.all[0]?.tell('change', data(8)); // told again after a reconnect
    FakeSource.all[0]?.tell('change', data(9));
    expect(seen).toEqual([8, 9]);
    feed.stop();
    expect(FakeSource.all[0]?.closed).toBe(true);
  });

  test('a hidden page lets go of its connection and catches up', () => {
    const { feed, seen } = follow();
    FakeSource.all[0]?.tell('change', data(8));
    hide(true);
    expect(FakeSource.all[0]?.closed).toBe(true);
    hide(false);
    expect(FakeSource.all[1]?.url).toMatch(/after=8$/);
    expect(seen).toEqual([8]);
    feed.stop();
    hide(true);
    hide(false);
    expect(FakeSource.all).toHaveLength(2);
  });

  test('replaced notes', () => {
    const { feed, seen } = follow();
    FakeSource.all[0]?.tell('reset', { lastEventId: '2' });
    FakeSource.all[0]?.tell('change', data(3));
    expect(seen).toEqual(['reset 2', 3]);
    feed.stop();
  });

  test('without a connection it asks, and tries one again', async () => {
    vi.useFakeTimers();
    const answers = [
      () => Response.json({ seq: 8, reset: false, changes: [change(8)] }),
      () => Response.json({ title: 'Not available', status: 503 }, { status: 503 }),
    ];
    const fetcher = vi.fn(() =>
      Promise.resolve((answers.shift() ?? (() => Response.json({ seq: 8, reset: false, changes: [] })))()),
    );
    const { feed, seen } = follow(fetcher);
    const [source] = FakeSource.all;
    source?.tell('error'); // a lost connection: the browser's business
    expect(fetcher).not.toHaveBeenCalled();
    if (source !== undefined) source.readyState = 2;
    source?.tell('error');
    await vi.advanceTimersByTimeAsync(10);
    expect(seen).toEqual([8]);
    await vi.advanceTimersByTimeAsync(3000);
    expect(seen).toEqual([8, 'Not available']);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(FakeSource.all).toHaveLength(2);
    expect(FakeSource.all[1]?.url).toMatch(/after=8$/);
    feed.stop();
  });
});

describe('writing', () => {
  test('with what no form can send', async () => {
    const fetcher = vi.fn(() => Promise.resolve(Response.json({ id: 1 })));
    const writer = make_writer(() => kBase, fetcher);
    await writer.start({ text: 'x' });
    const [url, init] = fetcher.mock.calls[0] as unknown as [URL, RequestInit];
    expect(url.href).toBe('http://host/p/q/api/notes');
    expect(init.headers).toEqual({ 'content-type': 'application/json', 'x-traceglass-write': '1' });
    await writer.remove(1, 2, 'Ann & Bob');
    expect((fetcher.mock.calls[1] as unknown as [URL])[0].href).toMatch(
      /notes\/1\/2\?author=Ann%20%26%20Bob$/,
    );
  });

  test('what failed says why', async () => {
    const refuse = (answer: Response) =>
      make_writer(
        () => kBase,
        () => Promise.resolve(answer),
      ).reply(1, {});
    const full = Response.json(
      { title: 'No room left', status: 507, detail: 'The disk is full.' },
      { status: 507 },
    );
    await expect(refuse(full)).rejects.toThrow('The disk is full.');
    await expect(refuse(new Response('<html>', { status: 502 }))).rejects.toThrow('Status 502');
    const offline = make_writer(
      () => kBase,
      () => Promise.reject(new TypeError('x')),
    );
    await expect(offline.reply(1, {})).rejects.toThrow('still here');
  });
});
