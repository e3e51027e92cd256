import { describe, expect, it, vi } from 'vitest';
import { tile_bytes, type TestTile } from './tile_bytes';
import {
  plan,
  plan_sides,
  StaleGenerationError,
  TileCache,
  type FetchTiles,
  type TileRequest,
} from './tile_cache';

const tile = (k: number, i: number, group: number, slices = 1): TestTile => ({
  k,
  i,
  group,
  rows: 1,
  slices: Array.from({ length: slices }, (_, n) => ({ start: n * 2, end: n * 2 + 1 })),
});

/** Answers by hand, in any order. */
class Server {
  readonly asked: {
    request: TileRequest;
    signal: AbortSignal;
    answer: (slices?: number) => void;
    fail: (e: Error) => void;
  }[] = [];
  readonly fetch: FetchTiles = (request, signal) =>
    new Promise((resolve, reject) => {
      const answer = (slices = 1): void => {
        const tiles: TestTile[] = [];
        for (const g of request.groups) {
          for (let i = request.first; i <= request.last; i++) tiles.push(tile(request.k, i, g, slices));
        }
        resolve(tile_bytes(tiles));
      };
      signal.addEventListener('abort', () => reject(new DOMException('given up', 'AbortError')));
      this.asked.push({ request, signal, answer, fail: reject });
    });
}

function cache_of(
  server: Server,
  max_bytes?: number,
): { cache: TileCache; events: Record<'on_tiles' | 'on_stale' | 'on_error', ReturnType<typeof vi.fn>> } {
  const events = { on_tiles: vi.fn(), on_stale: vi.fn(), on_error: vi.fn() };
  return { cache: new TileCache(server.fetch, events, max_bytes), events };
}
const settled = async (): Promise<void> => {
  for (let n = 0; n < 8; n++) await Promise.resolve();
};

describe('the plan of requests', () => {
  const none = (): boolean => false;
  it('asks for all groups and tiles of the view at once, then for one tile on each side', () => {
    const wanted = { k: 5, first: 2, last: 4, groups: [1, 2], end: 9 };
    expect([...plan(wanted, none), ...plan_sides(wanted, none)]).toEqual([
      { k: 5, first: 2, last: 4, groups: [1, 2] },
      { k: 5, first: 5, last: 5, groups: [1, 2] },
      { k: 5, first: 1, last: 1, groups: [1, 2] },
    ]);
  });
  it('asks only for what is missing, nearest the centre first', () => {
    const have = new Set(['3/1', '3/2', '0/1']);
    const requests = plan({ k: 5, first: 0, last: 6, groups: [1, 2], end: 6 }, (t) =>
      have.has(`${t.i}/${t.group}`),
    );
    expect(requests).toEqual([
      { k: 5, first: 1, last: 2, groups: [1, 2] },
      { k: 5, first: 4, last: 6, groups: [1, 2] },
      { k: 5, first: 0, last: 0, groups: [2] },
    ]);
  });
  it('splits what is more than a window shows', () => {
    const groups = Array.from({ length: 150 }, (_, n) => n);
    const requests = plan({ k: 5, first: 0, last: 2, groups, end: 2 }, none);
    expect(requests.map((r) => r.groups.length)).toEqual([64, 64, 22]);
    expect(requests.flatMap((r) => r.groups)).toEqual(groups);
  });
  it('does not leave the trace', () => {
    const wanted = { k: 5, first: 0, last: 0, groups: [1], end: 0 };
    expect(plan(wanted, none)).toHaveLength(1);
    expect(plan_sides(wanted, none)).toEqual([]);
  });
});

describe('the cache', () => {
  it('asks once, keeps the answer, and says when it is there', async () => {
    const server = new Server();
    const { cache, events } = cache_of(server);
    const wanted = { k: 5, first: 0, last: 1, groups: [1, 2], end: 1 };
    cache.want(wanted);
    cache.want(wanted);
    expect(server.asked).toHaveLength(1);
    expect(cache.busy).toBe(true);
    server.asked[0]?.answer();
    await settled();
    expect(cache.get(5, 1, 2)?.i).toBe(1);
    expect(events.on_tiles).toHaveBeenCalledTimes(1);
    expect(cache.busy).toBe(false);
    cache.want(wanted);
    expect(server.asked).toHaveLength(1);
  });

  it('has at most four requests in flight', () => {
    const server = new Server();
    const { cache } = cache_of(server);
    const groups = Array.from({ length: 600 }, (_, g) => g);
    cache.want({ k: 5, first: 0, last: 0, groups, end: 0 });
    expect(server.asked.filter((a) => !a.signal.aborted)).toHaveLength(4);
  });

  it('gives up what the view has left', async () => {
    const server = new Server();
    const { cache, events } = cache_of(server);
    cache.want({ k: 5, first: 0, last: 0, groups: [1], end: 0 });
    cache.want({ k: 4, first: 0, last: 1, groups: [1], end: 1 });
    await settled();
    expect(server.asked[0]?.signal.aborted).toBe(true);
    expect(server.asked.at(-1)?.request.k).toBe(4);
    expect(events.on_error).not.toHaveBeenCalled();
  });

  it('gives up tracks that were scrolled away', () => {
    const server = new Server();
    const { cache } = cache_of(server);
    cache.want({ k: 5, first: 0, last: 0, groups: [1, 2], end: 0 });
    cache.want({ k: 5, first: 0, last: 0, groups: [2, 3], end: 0 });
    expect(server.asked[0]?.signal.aborted).toBe(false);
    cache.want({ k: 5, first: 0, last: 0, groups: [7], end: 0 });
    expect(server.asked[0]?.signal.aborted).toBe(true);
  });

  it('asks for the whole trace of the tracks in view too, after the view itself', () => {
    const server = new Server();
    const { cache } = cache_of(server);
    cache.pin_level(9);
    cache.want({ k: 5, first: 3, last: 3, groups: [1], end: 9 });
    expect(server.asked.map(({ request: r }) => [r.k, r.first])).toEqual([
      [5, 3],
      [9, 0],
      [5, 4],
      [5, 2],
    ]);
  });

  it('does not ask again for what failed, until told to', async () => {
    const server = new Server();
    const { cache, events } = cache_of(server);
    const wanted = { k: 5, first: 0, last: 0, groups: [1], end: 0 };
    cache.want(wanted);
    server.asked[0]?.fail(new Error('no'));
    await settled();
    cache.want(wanted);
    expect(server.asked).toHaveLength(1);
    expect(events.on_error).toHaveBeenCalledTimes(1);
    cache.retry();
    expect(server.asked).toHaveLength(2);
  });

  it('says when the server has another trace by now, and stops', async () => {
    const server = new Server();
    const { cache, events } = cache_of(server);
    cache.want({ k: 5, first: 0, last: 0, groups: [1], end: 0 });
    server.asked[0]?.fail(new StaleGenerationError());
    await settled();
    expect(events.on_stale).toHaveBeenCalledTimes(1);
    cache.want({ k: 4, first: 0, last: 0, groups: [1], end: 1 });
    expect(server.asked).toHaveLength(1);
  });

  it('drops what was used longest ago, never the pinned level', async () => {
    const server = new Server();
    const one = tile_bytes([tile(5, 0, 1, 100)]).byteLength;
    const { cache } = cache_of(server, 3 * one);
    cache.pin_level(9);
    cache.want({ k: 9, first: 0, last: 0, groups: [1], end: 0 });
    server.asked[0]?.answer(100);
    await settled();
    for (let i = 0; i < 5; i++) {
      cache.want({ k: 5, first: i, last: i, groups: [1], end: i });
      server.asked.at(-1)?.answer(100);
      await settled();
    }
    expect(cache.bytes).toBeLessThanOrEqual(3 * one);
    expect(cache.get(9, 0, 1)).toBeDefined();
    expect(cache.get(5, 0, 1)).toBeUndefined();
    expect(cache.get(5, 4, 1)).toBeDefined();
  });
});

describe('what is drawn while waiting', () => {
  async function filled(tiles: readonly [k: number, i: number][]): Promise<TileCache> {
    const server = new Server();
    const { cache } = cache_of(server);
    for (const [k, i] of tiles) {
      cache.want({ k, first: i, last: i, groups: [1], end: 0 });
      server.asked.at(-1)?.answer();
      await settled();
    }
    await settled();
    return cache;
  }
  const width = (k: number): number => 1024 * 2 ** k;

  it('the tile itself', async () => {
    const cache = await filled([
      [5, 3],
      [6, 1],
    ]);
    expect(cache.cover(5, 3, 3, 1)).toEqual([
      { tile: cache.get(5, 3, 1), start_ns: 3 * width(5), end_ns: 4 * width(5) },
    ]);
  });
  it('else a parent, cut to the place, once for neighbours that share it', async () => {
    const cache = await filled([[7, 0]]);
    expect(cache.cover(5, 0, 3, 1)).toEqual([
      { tile: cache.get(7, 0, 1), start_ns: 0, end_ns: 4 * width(5) },
    ]);
  });
  it('else its children, rather than a far parent', async () => {
    const cache = await filled([
      [12, 0],
      [4, 0],
      [4, 1],
    ]);
    expect(cache.cover(5, 0, 0, 1).map((c) => c.tile?.k)).toEqual([4, 4]);
  });
  it('else a far parent', async () => {
    const cache = await filled([
      [12, 0],
      [4, 0],
    ]);
    expect(cache.cover(5, 0, 0, 1).map((c) => c.tile?.k)).toEqual([12]);
  });
  it('else nothing, with its place', async () => {
    const cache = await filled([]);
    expect(cache.cover(5, 0, 1, 1)).toEqual([{ tile: undefined, start_ns: 0, end_ns: 2 * width(5) }]);
  });
});
