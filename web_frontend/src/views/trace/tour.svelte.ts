// From event to event of a verdict: which verdict the address names, where in its events one is, and the way on.
import type { Verdict } from '../../api/types';
import { fires } from '../../lib/verdicts';
import type { ViewContext } from '../context';

export interface TourEvents {
  /** The events to point out; none when the tour is over. */
  on_events(ids: ReadonlySet<number>): void;
  on_go(id: number): void;
  on_error(cause: unknown): void;
}

export class Tour {
  verdict: Verdict | undefined = $state.raw();
  /** Among those that fire, from 1; 0: it does not. */
  rank = $state(0);
  /** Place among the verdict's events, from 0. */
  at = $state(0);
  /** undefined: it was not answered. */
  private asked: string | undefined = '';
  private asking: AbortController | undefined;

  constructor(
    private readonly ctx: ViewContext,
    private readonly events: TourEvents,
  ) {}

  stop(): void {
    this.asking?.abort();
  }

  /** The address names a verdict, or none; other steps make other verdicts. */
  async follow(id: string | undefined): Promise<void> {
    const { steps } = this.ctx;
    const asked = id === undefined ? '' : `${id} ${steps}`;
    if (asked === this.asked) return;
    this.asked = asked;
    this.asking?.abort();
    if (id === undefined) {
      this.show(undefined, 0);
      return;
    }
    const abort = new AbortController();
    this.asking = abort;
    try {
      const { verdicts } = await this.ctx.api.get('/api/traces/{id}/overview', {
        path: { id: this.ctx.meta.id },
        query: steps === undefined ? {} : { steps },
        signal: abort.signal,
      });
      if (abort.signal.aborted) return;
      const verdict = verdicts.find((one) => one.id === id);
      this.show(verdict, verdicts.filter(fires).findIndex((one) => one.id === id) + 1);
    } catch (cause) {
      if (abort.signal.aborted) return;
      this.asked = undefined;
      this.events.on_error(cause);
    }
  }

  /** A slice was selected by other means: if it is one of the events, the tour goes on from there. */
  selected(id: number): void {
    const at = this.verdict?.events.indexOf(id) ?? -1;
    if (at >= 0) this.at = at;
  }

  go(by: 1 | -1): void {
    const events = this.verdict?.events ?? [];
    if (events.length === 0) return;
    this.at = (this.at + by + events.length) % events.length;
    const id = events[this.at];
    if (id !== undefined) this.events.on_go(id);
  }

  private show(verdict: Verdict | undefined, rank: number): void {
    this.verdict = verdict;
    this.rank = rank;
    this.at = 0;
    this.events.on_events(new Set(verdict?.events));
    if (this.ctx.state.sel !== undefined) this.selected(this.ctx.state.sel);
  }
}
