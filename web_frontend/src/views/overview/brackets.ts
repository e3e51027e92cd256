// Where the verdicts' ceilings stand over the mean step: each over the part that it would take away, those that
// would cover each other in lanes above. All in shares of the bar, but for the words' room.
import type { Part, Parts } from '../../lib/breakdown';

export interface Ceiling {
  readonly id: string;
  readonly ns: number;
  readonly over: readonly Part['key'][];
  /** Room of its words, in px. */
  readonly words_px: number;
}

export interface Bracket {
  readonly id: string;
  /** Both ends, 0 to 1. */
  readonly from: number;
  readonly to: number;
  /** 0 is nearest to the bar. */
  readonly lane: number;
  /** Where its words start, in px. */
  readonly words_at: number;
}

/** Parts in the bar's order with their lengths; `width_px` of the bar. */
export function place_brackets(
  order: readonly Part['key'][],
  parts: Parts,
  ceilings: readonly Ceiling[],
  width_px: number,
): Bracket[] {
  const total = order.reduce((sum, key) => sum + parts[key], 0);
  if (total <= 0 || width_px <= 0) return [];
  const placed: Bracket[] = [];
  const taken: { lane: number; from: number; to: number }[] = [];
  for (const { id, ns, over, words_px } of ceilings) {
    const share = Math.min(1, ns / total);
    if (share <= 0) continue;
    const from = start_of(order, parts, over, total, share);
    const x0 = from * width_px;
    const x1 = x0 + share * width_px;
    const words_at = Math.max(0, Math.min(x0, width_px - words_px));
    const reach = { from: Math.min(x0, words_at), to: Math.max(x1, words_at + words_px) - kTouch };
    let lane = 0;
    while (taken.some((one) => one.lane === lane && one.from < reach.to && reach.from < one.to)) lane++;
    taken.push({ lane, ...reach });
    placed.push({ id, from, to: from + share, lane, words_at });
  }
  return placed;
}

/** Neighbours in the bar may touch. */
const kTouch = 0.5;

function start_of(
  order: readonly Part['key'][],
  parts: Parts,
  over: readonly Part['key'][],
  total: number,
  share: number,
): number {
  let left = 0;
  let first: number | undefined;
  let last = 0;
  for (const key of order) {
    const right = left + parts[key] / total;
    if (over.includes(key)) {
      first ??= left;
      last = right;
    }
    left = right;
  }
  // What the device does is taken away from its end, what it waits for from its start; what is longer than its
  // parts reaches over what follows, and at the end of the bar over what comes before.
  const from = over[0] === 'kernel_ns' ? last - share : (first ?? 1 - share);
  return Math.max(0, Math.min(from, 1 - share));
}
