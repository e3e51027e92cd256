// From what the log directory holds and what the address asks for, to one span. What the address asks for and is gone falls
// back to the newest, and says so; nothing asked: the newest profile, since that is the one a person has just recorded.

interface SpanLike {
  readonly id: string;
  readonly index: number;
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

export function choose<S extends SpanLike>(runs: readonly RunLike<S>[], asked: Asked): Chosen<S> | undefined {
  const run = runs.find((one) => one.name === asked.run);
  const inside = run === undefined ? runs : [run];
  const worker = run?.workers.find((one) => one.name === asked.worker);
  let best: Chosen<S> | undefined;
  for (const candidate of inside) {
    for (const one of worker === undefined ? candidate.workers : [worker]) {
      for (const span of one.spans) {
        if (worker !== undefined && span.index === asked.span) {
          return { run: candidate, worker: one, span, missing: undefined };
        }
        // Of equally new files the first: workers stand in the order of their ranks.
        if (best === undefined || span.modified_unix_ms > best.span.modified_unix_ms) {
          best = { run: candidate, worker: one, span, missing: undefined };
        }
      }
    }
  }
  if (best === undefined) return undefined;
  return { ...best, missing: missing(asked, run !== undefined, worker !== undefined) };
}

function missing(asked: Asked, has_run: boolean, has_worker: boolean): string | undefined {
  if (asked.run === undefined) return undefined;
  if (!has_run) return `run ${asked.run}`;
  if (asked.worker === undefined) return undefined;
  if (!has_worker) return `worker ${asked.worker}`;
  return asked.span === undefined ? undefined : `span ${asked.span}`;
}
