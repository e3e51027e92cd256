// The exact sums of a marked area, from the API: asked anew when the area or the key changes.
import type { Area as AreaAnswer } from '../../api/types';
import type { Area } from '../../timeline/scene';
import { id_list } from '../../timeline/api_source';
import type { ViewContext } from '../context';

export type AreaKey = 'name' | 'kind' | 'track';

export class AreaSums {
  answer: AreaAnswer | undefined = $state.raw();
  by: AreaKey = $state('name');
  private area: Area | undefined;
  private asking: AbortController | undefined;

  constructor(
    private readonly ctx: ViewContext,
    private readonly on_error: (cause: unknown) => void,
  ) {}

  set_by(by: AreaKey): void {
    this.by = by;
    void this.sum(this.area);
  }

  async sum(area: Area | undefined): Promise<void> {
    this.area = area;
    this.asking?.abort();
    if (area === undefined || area.groups.length === 0) {
      this.answer = undefined;
      return;
    }
    const abort = new AbortController();
    this.asking = abort;
    const { id, range } = this.ctx.meta;
    try {
      const answer = await this.ctx.api.get('/api/traces/{id}/area', {
        path: { id },
        query: {
          t0: Math.floor(range.start_ns + area.start_ns),
          t1: Math.ceil(range.start_ns + area.end_ns),
          g: id_list(area.groups),
          by: this.by,
        },
        signal: abort.signal,
      });
      if (!abort.signal.aborted) this.answer = answer;
    } catch (cause) {
      this.on_error(cause);
    }
  }

  stop(): void {
    this.asking?.abort();
  }
}
