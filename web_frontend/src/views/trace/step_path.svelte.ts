// The critical path of one step: which one is looked at, its answer from the API, and as pieces for the timeline.
import type { CriticalPath } from '../../api/types';
import type { PathPiece } from '../../timeline/path';
import type { Viewport } from '../../timeline/viewport';
import type { ViewContext } from '../context';

export interface StepPathEvents {
  on_pieces(pieces: readonly PathPiece[] | undefined): void;
  on_error(cause: unknown): void;
}

/** A view of more steps than this shows no one of them. */
const kMostSteps = 1.5;

export class StepPath {
  on = $state(false);
  answer: CriticalPath | undefined = $state.raw();
  waiting = $state(false);
  private asked: string | undefined;
  private asking: AbortController | undefined;

  constructor(
    private readonly ctx: ViewContext,
    private readonly events: StepPathEvents,
  ) {}

  stop(): void {
    this.asking?.abort();
  }

  set(on: boolean, view: Viewport): void {
    this.on = on;
    if (on) this.follow(view);
    else this.events.on_pieces(undefined);
  }

  /** The view moved, or other steps were chosen: another step may be the one to show. */
  follow(view: Viewport): void {
    if (!this.on) return;
    const step = step_in_view(this.ctx, view);
    const shown = this.answer?.step?.position;
    const { steps } = this.ctx;
    // Looking at several keeps what is shown; nothing shown yet: the server chooses.
    const wanted = step ?? (this.asked?.startsWith(`${steps} `) === true ? shown : undefined);
    const key = `${steps} ${wanted}`;
    if (key !== this.asked) void this.ask(key, wanted);
    else if (this.answer !== undefined) this.events.on_pieces(pieces_of(this.answer, this.ctx));
  }

  private async ask(key: string, step: number | undefined): Promise<void> {
    this.asking?.abort();
    const abort = new AbortController();
    this.asking = abort;
    this.asked = key;
    this.waiting = true;
    const { steps } = this.ctx;
    try {
      const answer = await this.ctx.api.get('/api/traces/{id}/critical-path', {
        path: { id: this.ctx.meta.id },
        query: {
          ...(steps === undefined ? {} : { steps }),
          ...(step === undefined ? {} : { step }),
        },
        signal: abort.signal,
      });
      if (abort.signal.aborted) return;
      this.answer = answer;
      // Where the server's choice stands already, it need not be asked for.
      this.asked = `${steps} ${answer.step?.position}`;
      this.waiting = false;
      if (this.on) this.events.on_pieces(pieces_of(answer, this.ctx));
    } catch (cause) {
      if (abort.signal.aborted) return;
      this.waiting = false;
      this.asked = undefined;
      this.events.on_error(cause);
    }
  }
}

/** Position of the step that fills the view; undefined if there are several, or none. */
export function step_in_view(ctx: Pick<ViewContext, 'meta'>, view: Viewport): number | undefined {
  const { meta } = ctx;
  const middle = (view.start_ns + view.end_ns) / 2 + meta.range.start_ns;
  const at = meta.steps.findIndex(
    ({ host, synthetic }) => !synthetic && middle >= host.start_ns && middle < host.end_ns,
  );
  const step = meta.steps[at];
  if (step === undefined) return undefined;
  const length = step.extended.end_ns - step.extended.start_ns;
  return view.end_ns - view.start_ns <= kMostSteps * length ? at : undefined;
}

export function pieces_of(answer: CriticalPath, ctx: Pick<ViewContext, 'meta'>): PathPiece[] {
  const origin = ctx.meta.range.start_ns;
  const threads = new Map(ctx.meta.groups.map((g) => [g.id, `${g.section} ${g.label}`]));
  return answer.path.map(({ group, row, start_ns, end_ns }) => ({
    at:
      group === undefined || row === undefined ? undefined : { group, row, thread: threads.get(group) ?? '' },
    start_ns: start_ns - origin,
    end_ns: end_ns - origin,
  }));
}
