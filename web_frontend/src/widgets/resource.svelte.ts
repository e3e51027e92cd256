// One answer of the API as reactive state: asked when its key changes, given up when a newer key or the end of its component
// comes first. Old data stays on show, marked, while newer data is on its way: a click on a step must not blank a table.
import { is_abort, problem_from } from '../api/client';
import type { Problem } from '../api/types';

export interface Resource<T> {
  readonly data: T | undefined;
  /** `data` belongs to an older key; the newer is being fetched. */
  readonly stale: boolean;
  readonly problem: Problem | undefined;
  readonly retry: () => void;
}

/** To be called while a component is set up. `key` is reactive; undefined: nothing to ask. */
export function resource<T>(
  key: () => string | undefined,
  ask: (signal: AbortSignal) => Promise<T>,
): Resource<T> {
  let data: T | undefined = $state.raw();
  let problem: Problem | undefined = $state.raw();
  let stale = $state(false);
  let tries = $state(0);

  $effect(() => {
    const wanted = key();
    void tries;
    if (wanted === undefined) return;
    const control = new AbortController();
    stale = true;
    ask(control.signal).then(
      (answer) => {
        if (control.signal.aborted) return;
        data = answer;
        problem = undefined;
        stale = false;
      },
      (cause: unknown) => {
        if (control.signal.aborted || is_abort(cause)) return;
        problem = problem_from(cause);
        data = undefined;
        stale = false;
      },
    );
    return () => control.abort();
  });

  return {
    get data() {
      return data;
    },
    get stale() {
      return stale;
    },
    get problem() {
      return problem;
    },
    retry: () => void tries++,
  };
}
