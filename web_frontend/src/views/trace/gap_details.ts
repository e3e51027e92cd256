// A gap on a device row: its exact edges, its neighbours, and what the host did meanwhile.
import type { Area, Idle, TraceEvent } from '../../api/types';
import { decode_tiles } from '../../timeline/tile_decoder';
import { slice_after, slice_before, type LoadTile } from '../../timeline/gap';
import { id_list, tile_source } from '../../timeline/api_source';
import type { GroupInfo } from '../../timeline/layout';
import { level_of_whole, type Limits } from '../../timeline/viewport';
import type { ViewContext } from '../context';

export interface GapNeighbour {
  readonly id: number;
  readonly name: string;
}

export interface GapDetails {
  readonly group: GroupInfo;
  readonly start_ns: number;
  readonly end_ns: number;
  readonly before: GapNeighbour | undefined;
  readonly after: GapNeighbour | undefined;
  /** What host threads were in, longest first; steps left out. */
  readonly host: Area['rows'];
  /** Runtime calls that put work on a device, within the gap. */
  readonly launches: number;
  readonly why: Why;
}

export type IdlePiece = Idle['devices'][number]['gaps'][number];

/** Why the device was idle, as far as the API explains it. */
export interface Why {
  readonly pieces: readonly IdlePiece[];
  /** Without pieces: a sentence that says why there are none. */
  readonly none: string;
}

interface Where {
  readonly limits: Limits;
  readonly groups: readonly GroupInfo[];
}

const kMostRows = 4;

export async function find_gap(
  ctx: ViewContext,
  where: Where,
  group: GroupInfo,
  row: number,
  at_ns: number,
  signal: AbortSignal,
): Promise<GapDetails> {
  const fetch_tiles = tile_source(ctx.api, ctx.meta);
  const load: LoadTile = async (k, i) =>
    decode_tiles(await fetch_tiles({ k, first: i, last: i, groups: [group.id] }, signal))[0];
  const whole = level_of_whole(where.limits.end_ns - where.limits.start_ns);
  const [before, after] = await Promise.all([
    slice_before(load, row, at_ns, whole, where.limits),
    slice_after(load, row, at_ns, whole, where.limits),
  ]);
  const [left, right] = await Promise.all([before, after].map((n) => event_of(ctx, n?.id, signal)));
  const origin = ctx.meta.range.start_ns;
  // Tiles round; the events themselves have the edges to the ns.
  const start_ns = left === undefined ? where.limits.start_ns : left.start_ns + left.dur_ns - origin;
  const end_ns = right === undefined ? where.limits.end_ns : right.start_ns - origin;
  const [host, idle] = await Promise.all([
    host_rows(ctx, where.groups, start_ns, end_ns, signal),
    idle_of(ctx, signal),
  ]);
  return {
    group,
    start_ns,
    end_ns,
    before: left,
    after: right,
    host: host.filter((r) => !/^ProfilerStep\b/.test(r.key)).slice(0, kMostRows),
    launches: host
      .filter((r) => r.kind === 'runtime' && /launch|memcpy|memset/i.test(r.key))
      .reduce((n, r) => n + r.count, 0),
    why: why_idle(idle, group.section, origin + start_ns, origin + end_ns),
  };
}

function idle_of(ctx: ViewContext, signal: AbortSignal): Promise<Idle> {
  const query = ctx.steps === undefined ? {} : { steps: ctx.steps };
  return ctx.api.get('/api/traces/{id}/idle', { path: { id: ctx.meta.id }, query, signal });
}

/** The pieces of idleness in [start, end] of the device that a section shows. */
export function why_idle(idle: Idle, section: string, start_ns: number, end_ns: number): Why {
  const of_section = (id: number): boolean => section === `device:${id}`;
  const device = idle.devices.find((one) => one.type !== 'cpu' && of_section(one.id));
  if (device === undefined) return { pieces: [], none: 'not explained for this device' };
  const pieces = device.gaps
    .filter((gap) => gap.start_ns < end_ns && gap.end_ns > start_ns)
    .sort((a, b) => b.end_ns - b.start_ns - (a.end_ns - a.start_ns));
  if (pieces.length > 0) return { pieces, none: '' };
  if (end_ns <= idle.range.start_ns || start_ns >= idle.range.end_ns) {
    return { pieces, none: 'outside of the selected steps' };
  }
  return {
    pieces,
    none:
      device.gaps.length < device.gap_count
        ? `only the ${device.gaps.length} longest of ${device.gap_count} are explained`
        : 'the device was busy on another stream',
  };
}

function event_of(
  ctx: ViewContext,
  id: number | undefined,
  signal: AbortSignal,
): Promise<TraceEvent | undefined> {
  if (id === undefined) return Promise.resolve(undefined);
  return ctx.api.get('/api/traces/{id}/events/{event}', { path: { id: ctx.meta.id, event: id }, signal });
}

async function host_rows(
  ctx: ViewContext,
  groups: readonly GroupInfo[],
  start_ns: number,
  end_ns: number,
  signal: AbortSignal,
): Promise<Area['rows']> {
  const hosts = groups.filter((g) => g.type === 'host').map((g) => g.id);
  if (hosts.length === 0 || end_ns <= start_ns) return [];
  const origin = ctx.meta.range.start_ns;
  const answer = await ctx.api.get('/api/traces/{id}/area', {
    path: { id: ctx.meta.id },
    query: { t0: origin + start_ns, t1: origin + end_ns, g: id_list(hosts), by: 'name' },
    signal,
  });
  return answer.rows;
}
