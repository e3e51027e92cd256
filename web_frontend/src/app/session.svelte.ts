// What the page shows, as far as it is known: the runs, the span that the address names, its meta. One load at a time; a
// newer choice gives up the older one. A file that is replaced on disk gets a new id or generation, and is read anew.
import { is_abort, problem_from, type Api } from '../api/client';
import type { Meta, Problem, Run, Runs, Span, Status } from '../api/types';
import { choose, type Chosen } from '../lib/selection';
import type { Address } from './address.svelte';

/** How often an empty log directory, and one with profiles, is looked at again. */
const kEmptyMs = 5000;
const kFilledMs = 15_000;

export type Load =
  | { readonly state: 'none' }
  | { readonly state: 'loading'; readonly status: Status | undefined }
  | { readonly state: 'ready'; readonly meta: Meta }
  | { readonly state: 'failed'; readonly problem: Problem };

export class Session {
  runs: Runs | undefined = $state.raw();
  /** The list of runs cannot be had (again). */
  runs_problem: Problem | undefined = $state.raw();
  load: Load = $state.raw({ state: 'none' });
  readonly chosen: Chosen<Span> | undefined;
  readonly #api: Api;
  #abort: AbortController | undefined;
  #loading: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api, address: Address) {
    this.#api = api;
    this.chosen = $derived.by(() => choose<Span>(this.runs?.runs ?? [], address.state));
  }

  get all_runs(): readonly Run[] {
    return this.runs?.runs ?? [];
  }

  /** Looks at the log directory now, and again from time to time while the page is on show. */
  async look(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const next = await this.#api.get('/api/runs');
      // The same answer must not redraw anything.
      if (JSON.stringify(next) !== JSON.stringify(this.runs)) this.runs = next;
      this.runs_problem = undefined;
    } catch (cause) {
      this.runs_problem = problem_from(cause);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#again(), this.all_runs.length === 0 ? kEmptyMs : kFilledMs);
  }

  #again(): void {
    if (document.hidden) addEventListener('visibilitychange', () => void this.look(), { once: true });
    else void this.look();
  }

  /** Reads a span's meta; `version` changes when the file behind it did. */
  open(span: Span | undefined): void {
    const wanted = span === undefined ? undefined : `${span.id} ${span.bytes} ${span.modified_unix_ms}`;
    if (wanted === this.#loading) return;
    this.#abort?.abort();
    this.#loading = wanted;
    if (span === undefined) {
      this.load = { state: 'none' };
      return;
    }
    const control = new AbortController();
    this.#abort = control;
    // A file that grew is read anew behind what is shown; another one starts from its skeleton.
    if (this.load.state !== 'ready' || this.load.meta.id !== span.id)
      this.load = { state: 'loading', status: undefined };
    void this.#read(span, control.signal);
  }

  retry(): void {
    this.#loading = undefined;
    this.open(this.chosen?.span);
    void this.look();
  }

  async #read(span: Span, signal: AbortSignal): Promise<void> {
    try {
      const meta = await this.#api.get('/api/traces/{id}/meta', {
        path: { id: span.id },
        signal,
        progress: (status) => {
          if (this.load.state === 'loading') this.load = { state: 'loading', status };
        },
      });
      if (!signal.aborted) this.load = { state: 'ready', meta };
    } catch (cause) {
      if (!is_abort(cause) && !signal.aborted) this.load = { state: 'failed', problem: problem_from(cause) };
    }
  }
}
