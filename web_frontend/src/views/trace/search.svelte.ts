// The search of the trace view: what is asked, what the server found, and the way through the hits.
import { ApiError } from '../../api/client';
import type { SearchResult } from '../../api/types';
import type { ViewContext } from '../context';

const kUnprocessable = 422;

type How = { readonly dir: 'next' | 'prev'; readonly after?: number };

export interface SearchEvents {
  on_found(): void;
  on_cleared(): void;
  /** A hit to go to. */
  on_hit(hit: { readonly id: number }): void;
  on_error(cause: unknown): void;
}

export class SliceSearch {
  query = $state('');
  /** The field is in use: its text wins over what the address says. */
  typing = $state(false);
  result: SearchResult | undefined = $state.raw();
  /** Why the query is no regular expression. */
  wrong: string | undefined = $state();
  private asking: AbortController | undefined;

  constructor(
    private readonly ctx: ViewContext,
    private readonly events: SearchEvents,
  ) {}

  stop(): void {
    this.asking?.abort();
  }

  async find(query: string): Promise<void> {
    this.query = query;
    this.asking?.abort();
    this.wrong = undefined;
    if (query === '') {
      this.result = undefined;
      this.events.on_cleared();
      return;
    }
    if (await this.ask({ dir: 'next' })) this.ctx.announce(`${this.result?.total ?? 0} hits`);
  }

  /** To the hit after or before `selected`; without a selection the first hit comes first. */
  async step(dir: 'next' | 'prev', selected: number | undefined): Promise<void> {
    if (this.query === '') return;
    const at_first = selected === undefined && dir === 'next' && this.result?.hit !== undefined;
    const how: How = selected === undefined ? { dir } : { dir, after: selected };
    if (!at_first && !(await this.ask(how))) return;
    const hit = this.result?.hit;
    if (hit !== null && hit !== undefined) this.events.on_hit(hit);
  }

  /** True if an answer came that is still wanted. */
  private async ask(how: How): Promise<boolean> {
    this.asking?.abort();
    const abort = new AbortController();
    this.asking = abort;
    try {
      const found = await this.ctx.api.get('/api/traces/{id}/search', {
        path: { id: this.ctx.meta.id },
        query: { q: this.query, ...how },
        signal: abort.signal,
      });
      if (abort.signal.aborted) return false;
      this.result = found;
      this.events.on_found();
      return true;
    } catch (cause) {
      if (cause instanceof ApiError && cause.problem.status === kUnprocessable) {
        // Half an expression is what one types on the way to a whole one: no error of the view.
        this.wrong = cause.problem.detail;
        this.result = undefined;
        this.events.on_cleared();
        return false;
      }
      this.events.on_error(cause);
      return false;
    }
  }
}
