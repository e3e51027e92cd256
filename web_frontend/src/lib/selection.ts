// From what the log directory holds and what the address asks for, to one span. What the address asks for and is gone falls
// back to the newest, and says so; nothing asked: the newest profile, since that is the one a person has just recorded. A
// `.json` that does not look like one (settings, results) comes last, however new it is. What is on show stays, whatever
// comes later, as long as the address asks for nothing else.

interface SpanLike {
  readonly id: string;
  readonly index: number;
  readonly file: string;
  readonly modified_unix_ms: number;
}
interface RunLike<S extends SpanLike> {
  readonly name: string;
  readonly workers: readonly { readonly name: string; readonly spans: readonly S[] }[];
}

export interface Asked {
  readonly run?: string | undefined;
  readonly worker?: string | undefined;
  readonly span?: number | undefined;
}

export interface Chosen<S extends SpanLike> {
  readonly run: RunLike<S>;
  readonly worker: RunLike<S>['workers'][number];
  readonly span: S;
  /** What was asked for and is not there: `run`, `worker` or `span`, with its value. */
  readonly missing: string | undefined;
}

/** By its name: other tools write plain `.json` too. */
const looks_like_profile = ({ file }: SpanLike): boolean =>
  /\.(json\.gz|pt\.trace\.json|pftrace)$/.test(file);

/** Of equally good ones the first stays: workers stand in the order of their ranks. */
function is_better(a: SpanLike, b: SpanLike): boolean {
  const [by_name, than] = [looks_like_profile(a), looks_like_profile(b)];
  return by_name === than ? a.modified_unix_ms > b.modified_unix_ms : by_name;
}

/** `held`: id of the span on show. */
export function choose<S extends SpanLike>(
  runs: readonly RunLike<S>[],
  asked: Asked,
  held?: string,
): Chosen<S> | undefined {
  const run = runs.find((one) => one.name === asked.run);
  const inside = run === undefined ? runs : [run];
  const has_run = asked.run === undefined || run !== undefined;
  const is_asked = ({ name }: { readonly name: string }): boolean => name === asked.worker;
  const has_worker = has_run && inside.some(({ workers }) => workers.some(is_asked));
  let best: Chosen<S> | undefined;
  for (const candidate of inside) {
    for (const worker of has_worker ? candidate.workers.filter(is_asked) : candidate.workers) {
      for (const span of worker.spans) {
        if (has_worker && span.index === asked.span) {
          return { run: candidate, worker, span, missing: undefined };
        }
        if (best?.span.id === held && held !== undefined) continue;
        if (best === undefined || span.id === held || is_better(span, best.span)) {
          best = { run: candidate, worker, span, missing: undefined };
        }
      }
    }
  }
  if (best === undefined) return undefined;
  return { ...best, missing: missing(asked, has_run, has_worker) };
}

function missing(asked: Asked, has_run: boolean, has_worker: boolean): string | undefined {
  if (!has_run) return `run ${asked.run ?? ''}`;
  if (asked.worker === undefined) return undefined;
  if (!has_worker) return `worker ${asked.worker}`;
  return asked.span === undefined ? undefined : `span ${asked.span}`;
}

/**
 * Of the spans that came since `known` the one to tell of: one of the same worker before any other, the newest of those.
 */
export function newcomer<S extends SpanLike>(
  runs: readonly RunLike<S>[],
  known: ReadonlySet<string>,
  shown: Chosen<S> | undefined,
): Chosen<S> | undefined {
  const rank = ({ run, worker }: Chosen<S>): number =>
    run.name !== shown?.run.name ? 0 : worker.name === shown.worker.name ? 2 : 1;
  let best: Chosen<S> | undefined;
  for (const run of runs) {
    for (const worker of run.workers) {
      for (const span of worker.spans) {
        if (known.has(span.id) || !looks_like_profile(span)) continue;
        const one = { run, worker, span, missing: undefined };
        const ahead = best === undefined ? 1 : rank(one) - rank(best);
        if (ahead > 0 || (ahead === 0 && best !== undefined && is_better(span, best.span))) best = one;
      }
    }
  }
  return best;
}
