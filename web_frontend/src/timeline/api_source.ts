// The timeline's sources from the API: times become ns from the trace's start here, and nowhere else.
import { ApiError, type Api } from '../api/client';
import type { Group, Meta, Step } from '../api/types';
import type { CounterData } from './counter_painter';
import type { FetchCounters } from './counter_cache';
import type { GroupInfo } from './layout';
import type { StepInfo } from './ruler';
import { StaleGenerationError, type FetchTiles } from './tile_cache';
import type { TraceInfo } from './timeline';
import { kBusyParts, type BusyParts, type FetchBusy } from './whole_trace';

const kStale = 409;

export function tile_source(api: Api, meta: Meta): FetchTiles {
  return async ({ k, first, last, groups }, signal) => {
    const query = {
      k,
      i: first === last ? `${first}` : `${first}-${last}`,
      g: id_list(groups),
      gen: meta.generation,
    };
    try {
      return await api.bytes('/api/traces/{id}/tiles', { path: { id: meta.id }, query, signal });
    } catch (error) {
      if (error instanceof ApiError && error.problem.status === kStale) throw new StaleGenerationError();
      throw error;
    }
  };
}

export function counter_source(api: Api, meta: Meta): FetchCounters {
  const origin = meta.range.start_ns;
  return async ({ start_ns, end_ns, buckets }, signal) => {
    const { tracks } = await api.get('/api/traces/{id}/counters', {
      path: { id: meta.id },
      query: { t0: origin + start_ns, t1: origin + end_ns, n: buckets },
      signal,
    });
    const data = new Map<string, CounterData>();
    for (const t of tracks) {
      data.set(t.id, {
        info: { id: t.id, section: t.section, label: t.label, unit: t.unit },
        at_ns: t.at_ns.map((ns) => ns - origin),
        min: t.min,
        max: t.max,
        last: t.last,
        hue: t.id.startsWith('queue:') ? 'runtime' : t.id.startsWith('allocated:') ? 'memset' : 'other',
      });
    }
    return data;
  };
}

/** Ids as an address spells them: `0,3-17`. */
export function id_list(ids: readonly number[]): string {
  const parts: string[] = [];
  for (let n = 0; n < ids.length;) {
    const first = ids[n] ?? 0;
    let last = first;
    while (++n < ids.length && ids[n] === last + 1) last++;
    parts.push(first === last ? `${first}` : `${first}-${last}`);
  }
  return parts.join(',');
}

export function busy_source(api: Api, meta: Meta): FetchBusy {
  const parts = (lane: BusyParts | null): BusyParts | undefined => lane ?? undefined;
  return async (signal) => {
    const { host, device, kinds } = await api.get('/api/traces/{id}/busy', {
      path: { id: meta.id },
      query: { n: kBusyParts },
      signal,
    });
    return { host: parts(host), device: parts(device), kinds };
  };
}

/** Groups that are not listed yet: the next busiest, those with a text in their names, or some by their ids. */
export class GroupSource {
  /** How many of the busiest are known. */
  private listed: number;

  constructor(
    private readonly api: Api,
    private readonly meta: Meta,
  ) {
    this.listed = meta.groups.length;
  }

  async more(signal: AbortSignal): Promise<readonly GroupInfo[]> {
    const found = await this.ask({ from: this.listed }, signal);
    this.listed += found.length;
    return found;
  }
  matching(q: string, signal: AbortSignal): Promise<readonly GroupInfo[]> {
    return this.ask({ q }, signal);
  }
  by_id(ids: readonly number[], signal: AbortSignal): Promise<readonly GroupInfo[]> {
    return this.ask({ ids: id_list(ids) }, signal);
  }

  private async ask(
    query: { from?: number; q?: string; ids?: string },
    signal: AbortSignal,
  ): Promise<readonly GroupInfo[]> {
    const { groups } = await this.api.get('/api/traces/{id}/groups', {
      path: { id: this.meta.id },
      query,
      signal,
    });
    return groups.map(group_info);
  }
}

export function trace_info(meta: Meta, selected: (position: number) => boolean): TraceInfo {
  return {
    limits: { start_ns: 0, end_ns: Math.max(1, meta.range.end_ns - meta.range.start_ns) },
    groups: meta.groups.map(group_info),
    group_count: meta.group_count,
    steps: step_infos(meta, selected),
  };
}

export function step_infos(meta: Meta, selected: (position: number) => boolean): StepInfo[] {
  return meta.steps
    .filter((s) => !s.synthetic)
    .map((s, position) => ({
      label: step_label(s),
      start_ns: s.host.start_ns - meta.range.start_ns,
      end_ns: s.host.end_ns - meta.range.start_ns,
      set_aside: !selected(position),
      incomplete: s.incomplete,
    }));
}

function step_label(step: Step): string {
  return /#(\d+)\s*$/.exec(step.name)?.[1] ?? step.name;
}

function group_info(g: Group): GroupInfo {
  return {
    id: g.id,
    section: g.section,
    section_label: g.section_label,
    type: g.type,
    label: g.label,
    sublabel: g.sublabel,
    rows: g.rows,
    step_rows: g.step_rows,
    events: g.events,
  };
}
