// Notes over the wire: read and written, and followed live. Events come by server-sent events, which say where they were
// when they come back; where no connection can be held open, the changes are asked for from time to time.
import { ApiError, problem_from } from './client';
import type { NoteChange, NoteThread, NoteHistory, Problem } from './types';

export interface NotesWriter {
  start(body: Record<string, unknown>): Promise<NoteThread>;
  reply(thread: number, body: Record<string, unknown>): Promise<NoteThread>;
  resolve(thread: number, body: Record<string, unknown>): Promise<NoteThread>;
  edit(thread: number, note: number, body: Record<string, unknown>): Promise<NoteThread>;
  remove(thread: number, note: number, author: string | undefined): Promise<NoteThread>;
  history(thread: number, note: number): Promise<NoteHistory>;
  sign_in(token: string): Promise<void>;
}

export function make_writer(
  base: () => string = () => document.baseURI,
  fetcher: typeof fetch = fetch.bind(globalThis),
): NotesWriter {
  const send = async (method: string, path: string, body?: Record<string, unknown>): Promise<unknown> => {
    const url = new URL(path, base());
    url.hash = '';
    const init: RequestInit = { method };
    if (method !== 'GET') {
      // No form of another site can send either of them.
      init.headers = { 'content-type': 'application/json', 'x-traceglass-write': '1' };
      if (body !== undefined) init.body = JSON.stringify(body);
    }
    let answer: Response;
    try {
      answer = await fetcher(url, init);
    } catch {
      throw new ApiError({
        type: 'about:blank',
        title: 'The server does not answer',
        status: 0,
        code: 'offline',
        detail: 'It could not be sent. Your text is still here: try again.',
      });
    }
    const read: unknown = await answer.json().catch(() => undefined);
    if (answer.ok) return read;
    const problem =
      typeof read === 'object' && read !== null && 'title' in read
        ? (read as Problem)
        : { type: 'about:blank', title: `Status ${answer.status}`, status: answer.status };
    throw new ApiError(problem);
  };
  const thread = async (...asked: Parameters<typeof send>): Promise<NoteThread> =>
    (await send(...asked)) as NoteThread;
  return {
    start: (body) => thread('POST', 'api/notes', body),
    reply: (id, body) => thread('POST', `api/notes/${id}`, body),
    resolve: (id, body) => thread('PATCH', `api/notes/${id}`, body),
    edit: (id, note, body) => thread('PATCH', `api/notes/${id}/${note}`, body),
    remove: (id, note, author) =>
      thread(
        'DELETE',
        `api/notes/${id}/${note}${author === undefined ? '' : `?author=${encodeURIComponent(author)}`}`,
      ),
    history: async (id, note) => (await send('GET', `api/notes/${id}/${note}/history`)) as NoteHistory,
    sign_in: async (token) => {
      await send('POST', 'api/session', { token });
    },
  };
}

export interface FeedEvents {
  on_change(change: NoteChange): void;
  /** What is known is of another file: list anew. */
  on_reset(seq: number): void;
  on_problem(problem: Problem | undefined): void;
}

type Source = Pick<EventSource, 'addEventListener' | 'close' | 'readyState'>;

const kPollMs = 3000;
/** How many answers by asking before a connection is tried again. */
const kPolls = 20;
const kClosed = 2;

/** Follows the changes after a number while the page is on show; a page that is hidden catches up when it is seen again. */
export class NotesFeed {
  #source: Source | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #polls = 0;
  #stopped = false;

  constructor(
    private seq: number,
    private readonly events: FeedEvents,
    private readonly base: () => string = () => document.baseURI,
    private readonly make: (url: string) => Source = (url) => new EventSource(url),
    private readonly fetcher: typeof fetch = fetch.bind(globalThis),
  ) {
    document.addEventListener('visibilitychange', this.#seen);
    this.#seen();
  }

  stop(): void {
    this.#stopped = true;
    document.removeEventListener('visibilitychange', this.#seen);
    this.#close();
  }

  // A browser holds six connections to a server: tabs that nobody sees must not hold them all.
  #seen = (): void => {
    this.#close();
    if (!document.hidden && !this.#stopped) this.#open();
  };

  #close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
  }

  #url(path: string): string {
    const url = new URL(path, this.base());
    url.hash = '';
    url.searchParams.set('after', this.seq.toString());
    return url.href;
  }

  #open(): void {
    const source = this.make(this.#url('api/notes/events'));
    this.#source = source;
    source.addEventListener('change', (event) => {
      this.#take(JSON.parse((event as MessageEvent<string>).data) as NoteChange);
    });
    source.addEventListener('reset', (event) => this.#reset(Number(event.lastEventId)));
    source.addEventListener('open', () => this.events.on_problem(undefined));
    source.addEventListener('error', () => {
      // A lost connection comes back by itself; an answer that is none does not.
      if (source.readyState !== kClosed) return;
      this.#close();
      this.#polls = kPolls;
      void this.#poll();
    });
  }

  #take(change: NoteChange): void {
    if (change.seq <= this.seq) return;
    this.seq = change.seq;
    this.events.on_change(change);
  }

  #reset(seq: number): void {
    this.seq = seq;
    this.events.on_reset(seq);
  }

  async #poll(): Promise<void> {
    try {
      const answer = await this.fetcher(this.#url('api/notes/changes'));
      if (!answer.ok) throw new ApiError((await answer.json()) as Problem);
      const found = (await answer.json()) as { seq: number; reset: boolean; changes: NoteChange[] };
      if (found.reset) this.#reset(found.seq);
      for (const change of found.changes) this.#take(change);
      this.events.on_problem(undefined);
    } catch (cause) {
      this.events.on_problem(problem_from(cause));
    }
    if (this.#stopped || document.hidden) return;
    this.#timer = setTimeout(() => {
      if (--this.#polls > 0) void this.#poll();
      else this.#open();
    }, kPollMs);
  }
}
