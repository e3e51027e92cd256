// The timeline's sources from the API: times become ns from the trace's start here, and nowhere else.
import { ApiError, type Api } from '../api/client';
import type { Group, Meta, Step } from '../api/types';
import type { CounterData } from './counter_painter';
import type { FetchCounters } from './counter_cache';
import type { GroupInfo } from './layout';
import type { StepInfo } from './ruler';
import { StaleGenerationError, type FetchTiles } from './tile_cache';
import type { TraceInfo } from './timeline';

const kStale = 409;

export function tile_source(api: Api, meta: Meta): FetchTiles {
  return async ({ k, first, last, groups }, signal) => {
    const query = {
      k,
      i: first === last ? `${first}` : `${first}-${last}`,
      g: groups.join(','),
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

/** Interned names, filled by `load`. */
export class NameTable {
  private names: readonly string[] = [];

  constructor(
    private readonly api: Api,
    private readonly id: string,
  ) {}

  async load(signal?: AbortSignal): Promise<void> {
    const ask = { path: { id: this.id }, query: { from: 0 } };
    const answer = await this.api.get(
      '/api/traces/{id}/names',
      signal === undefined ? ask : { ...ask, signal },
    );
    this.names = answer.names;
  }

  readonly of = (id: number): string | undefined => this.names[id];

  /** Ids of the names that contain `text`, whatever the case. */
  matching(text: string): Set<number> {
    const wanted = text.toLowerCase();
    const found = new Set<number>();
    this.names.forEach((name, id) => {
      if (name.toLowerCase().includes(wanted)) found.add(id);
    });
    return found;
  }
}

export function trace_info(meta: Meta, selected: (position: number) => boolean): TraceInfo {
  return {
    limits: { start_ns: 0, end_ns: Math.max(1, meta.range.end_ns - meta.range.start_ns) },
    groups: meta.groups.map(group_info),
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
    events: g.events,
  };
}
