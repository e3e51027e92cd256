// The one place that fetches. Typed by the contract's paths: a path, its parameters and its answer belong together.
//
// - Every address is relative to the document, so that a path prefix and TensorBoard need no knowledge here.
// - 202 is a trace that is still being read: it is asked for again, and its progress reported, until it is there.
// - The browser's own cache does the ETags: `no-cache` means "ask whether it changed", never "do not keep".
// - What fails is an `ApiError` that carries the server's problem+json: which file, where, what to do.
import type { paths } from './schema';
import type { Problem, Status } from './types';

/** Operations of the contract that answer JSON to GET. */
type Path = keyof paths;
type Get<P extends Path> = paths[P] extends { get: infer Operation } ? Operation : never;
type QueryOf<P extends Path> = Get<P> extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never;
type PathOf<P extends Path> = Get<P> extends { parameters: { path: infer Q } } ? Q : never;
export type Answer<P extends Path> =
  Get<P> extends { responses: { 200: { content: { 'application/json': infer Body } } } } ? Body : never;

export interface Ask<P extends Path> {
  path?: PathOf<P>;
  query?: QueryOf<P>;
  signal?: AbortSignal;
  /** Told of each 202: bytes and events so far. */
  progress?: (status: Status) => void;
}

export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(readonly problem: Problem) {
    super(problem.detail ?? problem.title);
  }
}

/** First wait after a 202, growing to the longest; a load of seconds is followed closely, one of minutes politely. */
const kFirstWaitMs = 60;
const kLongestWaitMs = 600;

export interface Api {
  /** Any JSON answer of the contract. */
  get<P extends Path>(path: P, ask?: Ask<P>): Promise<Answer<P>>;
  /** A binary answer (tiles). */
  bytes<P extends Path>(path: P, ask?: Ask<P>): Promise<ArrayBuffer>;
  /** The address that `get` would ask, for links and tests. */
  url<P extends Path>(path: P, ask?: Ask<P>): URL;
}

export function make_api(
  base: () => string = () => document.baseURI,
  fetcher: typeof fetch = fetch.bind(globalThis),
): Api {
  const url = <P extends Path>(path: P, ask: Ask<P> = {}): URL => {
    const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => {
      const value = (ask.path as Record<string, unknown> | undefined)?.[key];
      return encodeURIComponent(text_of(value));
    });
    const address = new URL(filled.replace(/^\//, ''), base());
    address.hash = '';
    for (const [key, value] of Object.entries(ask.query ?? {})) {
      if (value !== undefined) address.searchParams.set(key, text_of(value));
    }
    return address;
  };

  const response = async <P extends Path>(path: P, ask: Ask<P>): Promise<Response> => {
    const init: RequestInit = { headers: { accept: 'application/json, application/octet-stream' } };
    if (ask.signal !== undefined) init.signal = ask.signal;
    for (let wait = kFirstWaitMs; ; wait = Math.min(wait * 1.6, kLongestWaitMs)) {
      let answer: Response;
      try {
        answer = await fetcher(url(path, ask), init);
      } catch (cause) {
        if (is_abort(cause)) throw cause;
        throw new ApiError({
          type: 'about:blank',
          title: 'The server does not answer',
          status: 0,
          code: 'offline',
          detail:
            'The page could not reach its server. Is `traceglass serve` (or TensorBoard) still running?',
        });
      }
      if (answer.status === 202) {
        const status = (await answer.json()) as Status;
        if (status.phase === 'error' && status.error !== undefined) throw new ApiError(status.error);
        ask.progress?.(status);
        await pause(wait, ask.signal);
        continue;
      }
      if (answer.ok) return answer;
      throw new ApiError(await problem_of(answer));
    }
  };

  return {
    url,
    get: async <P extends Path>(path: P, ask: Ask<P> = {}) =>
      (await (await response(path, ask)).json()) as Answer<P>,
    bytes: async (path, ask = {}) => (await response(path, ask)).arrayBuffer(),
  };
}

export function is_abort(cause: unknown): boolean {
  return typeof cause === 'object' && cause !== null && 'name' in cause && cause.name === 'AbortError';
}

/** What any failure looks like to a panel. */
export function problem_from(cause: unknown): Problem {
  if (cause instanceof ApiError) return cause.problem;
  return {
    type: 'about:blank',
    title: 'The page failed',
    status: 0,
    code: 'page',
    detail: cause instanceof Error ? cause.message : String(cause),
  };
}

async function problem_of(answer: Response): Promise<Problem> {
  const type = answer.headers.get('content-type') ?? '';
  if (type.includes('json')) {
    try {
      const body: unknown = await answer.json();
      if (typeof body === 'object' && body !== null && 'title' in body) return body as Problem;
    } catch {
      // Not JSON after all: fall through to what the status line says.
    }
  }
  return {
    type: 'about:blank',
    title: answer.statusText === '' ? `Status ${answer.status}` : answer.statusText,
    status: answer.status,
  };
}

function text_of(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? value.toString() : '';
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer);
      reject(new DOMException('The request was given up', 'AbortError'));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }, ms);
    if (signal?.aborted === true) aborted();
    else signal?.addEventListener('abort', aborted, { once: true });
  });
}
