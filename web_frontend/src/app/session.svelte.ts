// What the page shows, as far as it is known: the runs, the span that the address names, its meta. One load at a time; a
// newer choice gives up the older one. A file that is replaced on disk gets a new id or generation, and is read anew. What a
// run in progress adds is told of, and never takes the place of what is on show.
import { is_abort, problem_from, type Api } from '../api/client';
import type { Meta, Problem, Run, Runs, Span, Status } from '../api/types';
import { choose, newcomer, type Chosen } from '../lib/selection';
import type { Address } from './address.svelte';

/** How often the log directory is looked at again, and never more than this share of the time: listing may be slow. */
const kAgainMs = 2500;
const kShare = 0.1;
/** Not signed in; too many wrong tokens from here. */
const kLocked = [401, 429];

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
  /** A span that came while another one is on show. */
  fresh: Chosen<Span> | undefined = $state.raw();
  readonly #api: Api;
  readonly #address: Address;
  /** Spans that were listed before, and that on show. */
  #known: ReadonlySet<string> | undefined;
  #held: string | undefined;
  #abort: AbortController | undefined;
  #loading: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api, address: Address) {
    this.#api = api;
    this.#address = address;
    this.chosen = $derived.by(() => choose<Span>(this.runs?.runs ?? [], address.state, this.#held));
  }

  get all_runs(): readonly Run[] {
    return this.runs?.runs ?? [];
  }

  /** The server wants a token: nothing is asked of it until there is one. */
  get locked(): boolean {
    return kLocked.includes(this.runs_problem?.status ?? 0);
  }

  /** Looks at the log directory now, and again from time to time while the page is on show and open. */
  async look(): Promise<void> {
    clearTimeout(this.#timer);
    const begun = performance.now();
    try {
      const next = await this.#api.get('/api/runs');
      // The same answer must not redraw anything.
      if (JSON.stringify(next) !== JSON.stringify(this.runs)) this.#list(next);
      this.runs_problem = undefined;
    } catch (cause) {
      this.runs_problem = problem_from(cause);
    }
    clearTimeout(this.#timer);
    if (this.locked) return;
    const took = performance.now() - begun;
    this.#timer = setTimeout(() => this.#again(), Math.max(kAgainMs, took / kShare));
  }

  #list(next: Runs): void {
    const shown = this.#held === undefined ? undefined : this.chosen;
    if (this.#known !== undefined && shown !== undefined) {
      this.fresh = newcomer<Span>(next.runs, this.#known, shown) ?? this.fresh;
      this.#pin(next, shown);
    }
    const ids = next.runs.flatMap(({ workers }) => workers.flatMap(({ spans }) => spans.map(({ id }) => id)));
    this.#known = new Set([...(this.#known ?? []), ...ids]);
    this.runs = next;
  }

  /** Names what is on show in the address where that would now lead to another span: a reload keeps the place. */
  #pin(next: Runs, { run, worker, span }: Chosen<Span>): void {
    if (choose<Span>(next.runs, this.#address.state)?.span.id === span.id) return;
    this.#address.go({ run: run.name, worker: worker.name, span: span.index });
  }

  #again(): void {
    if (document.hidden) addEventListener('visibilitychange', () => void this.look(), { once: true });
    else void this.look();
  }

  /** Reads a span's meta; `version` changes when the file behind it did. */
  open(span: Span | undefined): void {
    const wanted = span === undefined ? undefined : `${span.id} ${span.bytes} ${span.modified_unix_ms}`;
    if (wanted === this.#loading) return;
    this.#held = span?.id;
    if (span !== undefined && span.id === this.fresh?.span.id) this.fresh = undefined;
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
