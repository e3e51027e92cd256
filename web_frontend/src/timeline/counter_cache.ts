// Keeps the counters of a range wider than the view, and asks again when the view leaves it or needs
// a finer picture. One request at a time; the old picture stays until the new one is there.
import type { CounterData } from './counter_painter';
import { span_ns, type Viewport } from './viewport';

export interface CounterRange {
  readonly start_ns: number;
  readonly end_ns: number;
  /** Buckets over the range. */
  readonly buckets: number;
}

export type FetchCounters = (
  range: CounterRange,
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, CounterData>>;

const kMostBuckets = 4096;
/** The range asked for is this many views wide. */
const kViews = 3;
/** Zoomed in by more than this, the picture is too coarse. */
const kCoarse = 1.9;

export class CounterCache {
  data: ReadonlyMap<string, CounterData> = new Map();
  private held: CounterRange | undefined;
  private asked: CounterRange | undefined;
  private abort: AbortController | undefined;
  private failed = false;

  constructor(
    private readonly fetch_counters: FetchCounters,
    private readonly on_data: () => void,
    private readonly on_error: (error: Error) => void,
  ) {}

  get busy(): boolean {
    return this.asked !== undefined;
  }

  want(v: Viewport): void {
    if (this.failed || v.width_px < 1) return;
    const good = (r: CounterRange | undefined): boolean => r !== undefined && serves(r, v);
    if (good(this.held) && !(this.asked !== undefined && !good(this.asked))) return;
    if (this.asked !== undefined) {
      if (good(this.asked)) return;
      this.abort?.abort();
    }
    if (good(this.held)) {
      this.asked = undefined;
      return;
    }
    void this.start(range_for(v));
  }

  stop(): void {
    this.failed = true;
    this.abort?.abort();
  }

  private async start(range: CounterRange): Promise<void> {
    const abort = new AbortController();
    this.abort = abort;
    this.asked = range;
    try {
      const data = await this.fetch_counters(range, abort.signal);
      if (abort.signal.aborted) return;
      this.data = data;
      this.held = range;
    } catch (error) {
      if (abort.signal.aborted) return;
      this.failed = true;
      this.on_error(error instanceof Error ? error : new Error(String(error)));
    } finally {
      if (this.asked === range) this.asked = undefined;
      if (!abort.signal.aborted) this.on_data();
    }
  }
}

/** Whether a picture of `range` is still sharp and wide enough for the view. */
export function serves(range: CounterRange, v: Viewport): boolean {
  const px_per_bucket = (range.end_ns - range.start_ns) / range.buckets / (span_ns(v) / v.width_px);
  return (
    range.start_ns <= v.start_ns &&
    range.end_ns >= v.end_ns &&
    px_per_bucket <= 1.5 * kCoarse &&
    px_per_bucket >= 1 / 8
  );
}

/** Three views around the view; buckets of about 1.5 px as far as the server's limit allows. */
export function range_for(v: Viewport): CounterRange {
  const margin = (span_ns(v) * (kViews - 1)) / 2;
  const start_ns = Math.floor(v.start_ns - margin);
  const end_ns = Math.ceil(v.end_ns + margin);
  const buckets = Math.min(kMostBuckets, Math.max(64, Math.ceil((v.width_px * kViews) / 1.5)));
  return { start_ns, end_ns, buckets };
}
