// How busy the whole trace is over time, all of its tracks together, and which kinds it has: asked once, since
// ten thousand tracks cannot be added up here.
import type { BusyLane } from './minimap';
import { hue_index } from './palette';

/** Equal parts of the trace, wide screens' pixels about. */
export const kBusyParts = 2048;

export interface BusyParts {
  /** 0 to 255 for each part. */
  readonly share: readonly number[];
  /** Kind byte, as in a tile. */
  readonly kind: readonly number[];
}

export interface BusyTrace {
  readonly host: BusyParts | undefined;
  readonly device: BusyParts | undefined;
  readonly kinds: readonly number[];
}

export type FetchBusy = (signal: AbortSignal) => Promise<BusyTrace>;

export interface Lanes {
  readonly host: BusyLane | undefined;
  readonly device: BusyLane | undefined;
}

export class WholeTrace {
  private busy_trace: BusyTrace | undefined;
  private readonly abort = new AbortController();
  private waiting = true;

  constructor(fetch_busy: FetchBusy, on_busy: () => void, on_error: (error: Error) => void) {
    fetch_busy(this.abort.signal)
      .then(
        (busy) => (this.busy_trace = busy),
        (error: unknown) => {
          if (!this.abort.signal.aborted) on_error(error instanceof Error ? error : new Error(String(error)));
        },
      )
      .finally(() => {
        this.waiting = false;
        if (!this.abort.signal.aborted) on_busy();
      });
  }

  stop(): void {
    this.abort.abort();
    this.waiting = false;
  }

  get loading(): boolean {
    return this.waiting;
  }

  /** How busy threads and devices are, per pixel column; undefined while nothing is loaded. */
  lanes(columns: number): Lanes | undefined {
    if (this.busy_trace === undefined) return undefined;
    const { host, device } = this.busy_trace;
    return {
      host: host === undefined ? undefined : to_columns(host, columns),
      device: device === undefined ? undefined : to_columns(device, columns),
    };
  }

  /** Colour families that are in it, by index. */
  hues(): Set<number> {
    return new Set((this.busy_trace?.kinds ?? []).map(hue_index));
  }
}

/** Parts to columns: each column the mean of the parts that it covers, in the colour of the fullest. */
export function to_columns({ share, kind }: BusyParts, columns: number): BusyLane {
  const out = { share: new Float32Array(columns), hue: new Uint8Array(columns) };
  const per_column = share.length / Math.max(1, columns);
  for (let c = 0; c < columns; c++) {
    const from = c * per_column;
    const to = Math.min(share.length, from + per_column);
    let most = -1;
    for (let part = Math.floor(from); part < to; part++) {
      const inside = Math.min(to, part + 1) - Math.max(from, part);
      const value = share[part] ?? 0;
      out.share[c] = (out.share[c] ?? 0) + ((value / 255) * inside) / per_column;
      if (value * inside > most) {
        most = value * inside;
        out.hue[c] = hue_index(kind[part] ?? 0);
      }
    }
  }
  return out;
}
