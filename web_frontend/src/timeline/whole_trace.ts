// What is known from the tiles of the whole trace, one per group, which are loaded first and kept: how
// busy it is over time, which kinds it has, and which rows only repeat the step band.
import type { GroupInfo } from './layout';
import { busy_lane, host_lane_rows, type BusyLane } from './minimap';
import { hue_index } from './palette';
import { chunks, type TileCache } from './tile_cache';
import type { Tile } from './tile_decoder';
import { level_of_whole, type Limits } from './viewport';

export interface Lanes {
  readonly host: BusyLane;
  readonly device: BusyLane | undefined;
}

/** Steps by name; the band above the tracks shows them. */
const kStepName = /^ProfilerStep\b/;

export class WholeTrace {
  private readonly k: number;

  constructor(
    private readonly limits: Limits,
    private readonly groups: readonly GroupInfo[],
    private readonly cache: TileCache,
    private readonly name_of: (id: number) => string | undefined,
  ) {
    this.k = level_of_whole(limits.end_ns - limits.start_ns);
    cache.pin_level(this.k);
  }

  load(): void {
    for (const groups of chunks(this.groups.map((g) => g.id))) {
      this.cache.load({ k: this.k, first: 0, last: 0, groups });
    }
  }

  get complete(): boolean {
    return this.groups.every((g) => this.cache.has(this.k, 0, g.id));
  }

  /** Rows at the top of a group that hold nothing but steps. */
  step_rows(): Map<number, number> {
    const rows = new Map<number, number>();
    for (const group of this.groups) {
      if (group.type !== 'host' || group.rows < 2) continue;
      const tile = this.tile(group);
      const end = tile?.row_begin[1] ?? 0;
      let only_steps = end > 0;
      for (let n = 0; n < end; n++) {
        if ((tile?.count[n] ?? 1) > 1 || !this.is_step(tile?.name[n] ?? 0)) only_steps = false;
      }
      if (only_steps) rows.set(group.id, 1);
    }
    return rows;
  }

  /** How busy threads and devices are, per pixel column; undefined while nothing is loaded. */
  lanes(columns: number): Lanes | undefined {
    const host = this.tiles_of('host').flatMap((tile) => host_lane_rows(tile, this.is_step));
    const device = this.tiles_of('device').map((tile) => ({ tile, first_row: 0, rows: tile.rows }));
    if (host.length === 0 && device.length === 0) return undefined;
    return {
      host: busy_lane(host, this.limits, columns),
      device: device.length === 0 ? undefined : busy_lane(device, this.limits, columns),
    };
  }

  /** Colour families that are in it, by index. */
  hues(): Set<number> {
    const seen = new Set<number>();
    for (const group of this.groups) {
      for (const kind of this.tile(group)?.kind ?? []) seen.add(hue_index(kind));
    }
    return seen;
  }

  private readonly is_step = (name: number): boolean => kStepName.test(this.name_of(name) ?? '');

  private tile(group: GroupInfo): Tile | undefined {
    return this.cache.get(this.k, 0, group.id);
  }

  private tiles_of(type: GroupInfo['type']): Tile[] {
    return this.groups.flatMap((g) => (g.type === type ? (this.tile(g) ?? []) : []));
  }
}
