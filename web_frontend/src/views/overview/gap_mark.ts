// Which verdict speaks of a gap of the device: the cause of most of it leads to the verdict, and that to its number.
import type { Idle, Verdict } from '../../api/types';
import { verdict_of_cause } from '../../lib/verdicts';

interface Span {
  readonly start_ns: number;
  readonly end_ns: number;
}

const length = ({ start_ns, end_ns }: Span): number => end_ns - start_ns;

/** Of a gap in a section of the timeline. '' where none does. `firing`: those that fire, in their order. */
export type GapMark = (gap: Span, section: string) => string;

export function gap_mark(idle: Idle | undefined, firing: readonly Verdict[]): GapMark {
  return ({ start_ns, end_ns }, section) => {
    const shown = idle?.devices.filter(({ id }) => section === `device:${id}`) ?? [];
    const [most] = shown
      .flatMap((device) => device.gaps)
      .filter((gap) => gap.start_ns < end_ns && gap.end_ns > start_ns)
      .sort((a, b) => length(b) - length(a));
    const verdict = most === undefined ? undefined : verdict_of_cause(most.cause);
    const rank = firing.findIndex(({ id }) => id === verdict) + 1;
    return rank === 0 ? '' : `${rank}`;
  };
}
