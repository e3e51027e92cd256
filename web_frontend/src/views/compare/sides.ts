// The traces that can be compared, and which of them A is when nobody chose: the span before the one on show, else the next
// one, else another worker of its run, else another run.
import type { Run } from '../../api/types';
import type { StepRange } from '../../lib/url_state';

export interface Side {
  readonly id: string;
  readonly run: string;
  readonly worker: string;
  readonly span: number;
  /** Without what all have in common. */
  readonly text: string;
}

export function all_sides(runs: readonly Run[]): readonly Side[] {
  const workers = new Set(runs.flatMap((run) => run.workers.map(({ name }) => name)));
  const sides: Side[] = [];
  for (const run of runs) {
    for (const worker of run.workers) {
      for (const span of worker.spans) {
        const words = [
          runs.length > 1 ? (run.name === '.' ? '(log directory)' : run.name) : '',
          workers.size > 1 || (runs.length === 1 && worker.spans.length === 1) ? worker.name : '',
          worker.spans.length > 1 ? `span ${span.index}` : '',
        ].filter(Boolean);
        const text = words.length === 0 ? worker.name || span.file : words.join(' · ');
        sides.push({ id: span.id, run: run.name, worker: worker.name, span: span.index, text });
      }
    }
  }
  return sides;
}

export function usual_opponent(sides: readonly Side[], id: string): Side | undefined {
  const here = sides.find((side) => side.id === id);
  const others = sides.filter((side) => side.id !== id);
  if (here === undefined) return others[0];
  const of_worker = others.filter(({ run, worker }) => run === here.run && worker === here.worker);
  return (
    of_worker.filter(({ span }) => span < here.span).at(-1) ??
    of_worker[0] ??
    others.find(({ run }) => run === here.run) ??
    others.find(({ worker }) => worker === here.worker) ??
    others[0]
  );
}

/** First and second half of `count` steps, without the first step where it is set aside. */
export function halves(first: number, count: number): readonly [StepRange, StepRange] | undefined {
  const each = Math.floor((count - first) / 2);
  if (each < 1) return undefined;
  return [
    { first, last: first + each - 1 },
    { first: count - each, last: count - 1 },
  ];
}
