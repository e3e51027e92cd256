// Holds decoded tiles and asks for missing ones. The view says every frame what it would like to
// draw (`want`); the cache turns that into few requests, since each costs a connection behind
// TensorBoard: one request covers all groups of adjacent missing tiles.
import { decode_tiles, kTileBuckets, type Tile } from './tile_decoder';

export interface TileRequest {
  readonly k: number;
  readonly first: number;
  readonly last: number;
  readonly groups: readonly number[];
}

/** Fetches tiles; rejects with StaleGenerationError when the server knows another trace by now. */
export type FetchTiles = (request: TileRequest, signal: AbortSignal) => Promise<ArrayBuffer>;

export class StaleGenerationError extends Error {}

export interface Wanted {
  readonly k: number;
  readonly first: number;
  readonly last: number;
  readonly groups: readonly number[];
  /** Last tile there is at this level, for the tiles fetched ahead. */
  readonly end: number;
}

export interface TileCacheEvents {
  on_tiles(): void;
  on_stale(): void;
  on_error(error: Error): void;
}

/** A part of a row to draw: `tile` where there is one, else a place that is still empty. */
export interface Cover {
  readonly tile: Tile | undefined;
  readonly start_ns: number;
  readonly end_ns: number;
}

interface InFlight {
  readonly request: TileRequest;
  readonly abort: AbortController;
}

const kMaxInFlight = 4;
/** Levels above within which a stretched parent still reads better than finer children. */
const kNearParent = 3;
const kChildDepth = 3;
const kMaxLevel = 52;

export class TileCache {
  private readonly tiles = new Map<string, Tile>(); // in order of last use
  private readonly failed = new Set<string>();
  private in_flight: InFlight[] = [];
  private wanted: Wanted | undefined;
  private pinned = -1;
  private held_bytes = 0;
  private stopped = false;

  constructor(
    private readonly fetch_tiles: FetchTiles,
    private readonly events: TileCacheEvents,
    private readonly max_bytes = 128 * 2 ** 20,
  ) {}

  /** Tiles of this level stay: they show the whole trace and are everyone's last fallback. */
  pin_level(k: number): void {
    this.pinned = k;
  }

  get bytes(): number {
    return this.held_bytes;
  }
  get busy(): boolean {
    return this.in_flight.length > 0;
  }

  /** Whether a tile is here; asking so does not count as using it. */
  has(k: number, i: number, group: number): boolean {
    return this.tiles.has(key(k, i, group));
  }

  get(k: number, i: number, group: number): Tile | undefined {
    const id = key(k, i, group);
    const tile = this.tiles.get(id);
    if (tile !== undefined) {
      this.tiles.delete(id);
      this.tiles.set(id, tile);
    }
    return tile;
  }

  /** Replaces what should be loaded: drops requests that no longer matter, starts missing ones. */
  want(wanted: Wanted): void {
    this.wanted = wanted;
    const groups = new Set(wanted.groups);
    for (const f of this.in_flight) {
      const seen = f.request.k === this.pinned || overlaps(f.request, wanted);
      if (!seen || !f.request.groups.some((g) => groups.has(g))) f.abort.abort();
    }
    this.pump();
  }

  /** Forgets failures, so that they are tried again. */
  retry(): void {
    this.failed.clear();
    this.pump();
  }

  stop(): void {
    this.stopped = true;
    for (const f of this.in_flight) f.abort.abort();
    this.in_flight = [];
  }

  /** What to draw for `group` in tiles first…last of level k, left to right. */
  cover(k: number, first: number, last: number, group: number): Cover[] {
    const out: Cover[] = [];
    for (let i = first; i <= last; i++) this.cover_tile(k, i, group, out);
    return out;
  }

  private cover_tile(k: number, i: number, group: number, out: Cover[]): void {
    const width_ns = kTileBuckets * 2 ** k;
    const start_ns = i * width_ns;
    const end_ns = start_ns + width_ns;
    const own = this.get(k, i, group);
    const tile = own ?? this.parent(k, i, group, kNearParent);
    if (tile !== undefined) {
      push(out, { tile, start_ns, end_ns });
      return;
    }
    if (this.has_children(k, i, group, kChildDepth)) {
      this.cover_tile(k - 1, 2 * i, group, out);
      this.cover_tile(k - 1, 2 * i + 1, group, out);
      return;
    }
    push(out, { tile: this.parent(k, i, group, kMaxLevel), start_ns, end_ns });
  }

  private parent(k: number, i: number, group: number, levels: number): Tile | undefined {
    let at = i;
    for (let up = 1; up <= levels && k + up <= kMaxLevel; up++) {
      at = Math.floor(at / 2);
      const tile = this.get(k + up, at, group);
      if (tile !== undefined) return tile;
    }
    return undefined;
  }

  private has_children(k: number, i: number, group: number, depth: number): boolean {
    if (depth === 0 || k === 0) return false;
    return [2 * i, 2 * i + 1].every(
      (child) =>
        this.tiles.has(key(k - 1, child, group)) || this.has_children(k - 1, child, group, depth - 1),
    );
  }

  private pump(): void {
    const wanted = this.wanted;
    if (wanted === undefined || this.stopped) return;
    const settled = (id: TileId): boolean => this.settled(id);
    const whole = { k: this.pinned, first: 0, last: 0, groups: wanted.groups, end: 0 };
    const requests = [
      ...plan(wanted, settled),
      ...(this.pinned < 0 || this.pinned === wanted.k ? [] : plan(whole, settled)),
      ...plan_sides(wanted, settled),
    ];
    for (const request of requests) {
      if (this.in_flight.filter((f) => !f.abort.signal.aborted).length >= kMaxInFlight) return;
      void this.start(request);
    }
  }

  /** A tile that need not be asked for: here, on its way, or known to fail. */
  private settled(tile: TileId): boolean {
    const id = key(tile.k, tile.i, tile.group);
    if (this.tiles.has(id) || this.failed.has(id)) return true;
    return this.in_flight.some((f) => !f.abort.signal.aborted && includes(f.request, tile));
  }

  private async start(request: TileRequest): Promise<void> {
    const flight: InFlight = { request, abort: new AbortController() };
    this.in_flight.push(flight);
    try {
      const tiles = decode_tiles(await this.fetch_tiles(request, flight.abort.signal));
      if (!this.stopped) for (const tile of tiles) this.put(tile);
      this.give_up(request); // what an answer leaves out is not asked for again
    } catch (error) {
      if (!flight.abort.signal.aborted) this.fail(request, error);
    } finally {
      this.in_flight = this.in_flight.filter((f) => f !== flight);
      if (!this.stopped) {
        this.evict();
        this.events.on_tiles();
        this.pump();
      }
    }
  }

  private fail(request: TileRequest, error: unknown): void {
    if (error instanceof StaleGenerationError) {
      this.stop();
      this.events.on_stale();
      return;
    }
    this.give_up(request);
    this.events.on_error(error instanceof Error ? error : new Error(String(error)));
  }

  /** Tiles of the request that are not here will not come: a coarser one stands for them. */
  private give_up(request: TileRequest): void {
    for (const group of request.groups) {
      for (let i = request.first; i <= request.last; i++) {
        if (!this.has(request.k, i, group)) this.failed.add(key(request.k, i, group));
      }
    }
  }

  private put(tile: Tile): void {
    const id = key(tile.k, tile.i, tile.group);
    const old = this.tiles.get(id);
    if (old !== undefined) this.held_bytes -= old.bytes;
    this.tiles.delete(id);
    this.tiles.set(id, tile);
    this.held_bytes += tile.bytes;
  }

  /** Drops the tiles used longest ago. Tiles of one answer share its buffer, and age together. */
  private evict(): void {
    for (const [id, tile] of this.tiles) {
      if (this.held_bytes <= this.max_bytes) return;
      if (tile.k === this.pinned) continue;
      this.tiles.delete(id);
      this.held_bytes -= tile.bytes;
    }
  }
}

interface TileId {
  readonly k: number;
  readonly i: number;
  readonly group: number;
}

function key(k: number, i: number, group: number): string {
  return `${k}/${i}/${group}`;
}

/**
 * Requests for what is missing of the tiles in view, the one nearest the centre at their head.
 * Neighbours that miss the same groups travel together.
 */
export function plan(wanted: Wanted, settled: (tile: TileId) => boolean): TileRequest[] {
  const missing = (i: number): number[] => missing_at(wanted, i, settled);
  const centre = (wanted.first + wanted.last) / 2;
  const distance = (r: TileRequest): number => Math.abs((r.first + r.last) / 2 - centre);
  const runs: TileRequest[] = [];
  for (let i = wanted.first; i <= wanted.last; i++) {
    const groups = missing(i);
    if (groups.length === 0) continue;
    const before = runs.at(-1);
    if (before?.last === i - 1 && same(before.groups, groups)) {
      runs[runs.length - 1] = { ...before, last: i };
    } else {
      runs.push({ k: wanted.k, first: i, last: i, groups });
    }
  }
  runs.sort((a, b) => distance(a) - distance(b));
  return runs.flatMap(in_parts);
}

/** One tile on each side, ahead of a pan. */
export function plan_sides(wanted: Wanted, settled: (tile: TileId) => boolean): TileRequest[] {
  const runs: TileRequest[] = [];
  for (const i of [wanted.last + 1, wanted.first - 1]) {
    if (i < 0 || i > wanted.end) continue;
    const groups = missing_at(wanted, i, settled);
    if (groups.length > 0) runs.push({ k: wanted.k, first: i, last: i, groups });
  }
  return runs.flatMap(in_parts);
}

function missing_at({ k, groups }: Wanted, i: number, settled: (tile: TileId) => boolean): number[] {
  return groups.filter((group) => !settled({ k, i, group }));
}

/** What the window shows at once fits into one or two requests; more would make the first rows wait for the last. */
const kMostGroups = 64;

function in_parts(request: TileRequest): TileRequest[] {
  return chunks(request.groups).map((groups) => ({ ...request, groups }));
}

export function chunks(groups: readonly number[]): number[][] {
  const out: number[][] = [];
  for (let n = 0; n < groups.length; n += kMostGroups) out.push(groups.slice(n, n + kMostGroups));
  return out;
}

function push(out: Cover[], next: Cover): void {
  const before = out.at(-1);
  if (before !== undefined && before.tile === next.tile && before.end_ns === next.start_ns) {
    out[out.length - 1] = { tile: next.tile, start_ns: before.start_ns, end_ns: next.end_ns };
  } else {
    out.push(next);
  }
}

function same(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((x, n) => x === b[n]);
}
function includes(r: TileRequest, t: TileId): boolean {
  return r.k === t.k && t.i >= r.first && t.i <= r.last && r.groups.includes(t.group);
}
function overlaps(r: TileRequest, w: Wanted): boolean {
  return r.k === w.k && r.last >= w.first - 1 && r.first <= w.last + 1;
}
