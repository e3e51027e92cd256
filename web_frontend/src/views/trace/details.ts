// What an event's details say, as rows of words and links. Pure: markup is made elsewhere.
import type { EventRef, TraceEvent } from '../../api/types';
import { format_duration } from '../../timeline/ticks';

export interface LaunchConfig {
  readonly grid: string | undefined;
  readonly block: string | undefined;
  readonly registers: string | undefined;
  readonly shared_bytes: number | undefined;
  readonly occupancy_pct: number | undefined;
  readonly blocks_per_sm: number | undefined;
}

/** An argument under any of the spellings that dialects use. */
export function arg_of(event: TraceEvent, ...keys: readonly string[]): unknown {
  const wanted = keys.map((key) => key.toLowerCase());
  return event.args.find((a) => wanted.includes(a.key.toLowerCase()))?.value;
}

export function text_of_value(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return `${value}`;
  return JSON.stringify(value);
}

export function launch_config(event: TraceEvent): LaunchConfig {
  return {
    grid: dims(arg_of(event, 'grid')),
    block: dims(arg_of(event, 'block')),
    registers: word(arg_of(event, 'registers per thread')),
    shared_bytes: number_of(arg_of(event, 'shared memory')),
    occupancy_pct: number_of(arg_of(event, 'est. achieved occupancy %')),
    blocks_per_sm: number_of(arg_of(event, 'blocks per SM')),
  };
}

/** Input shapes as a person writes them: `32×256×56×56, 512×256×1×1`; scalars and absent ones as –. */
export function input_dims(event: TraceEvent): string | undefined {
  const value = arg_of(event, 'Input Dims', 'Input dims');
  if (!Array.isArray(value)) return word(value);
  const shapes = value.map((shape): string => {
    if (!Array.isArray(shape)) return text_of_value(shape);
    if (shape.length === 0) return '–';
    if (shape.some((d) => Array.isArray(d))) {
      return `[${shape.map((d) => (Array.isArray(d) ? d.join('×') : text_of_value(d))).join(', ')}]`;
    }
    return shape.join('×');
  });
  while (shapes.at(-1) === '–') shapes.pop();
  return shapes.length === 0 ? undefined : shapes.join(', ');
}

/**
 * How long work waited behind its launch, in words. Work before its launch did not: the clocks of host
 * and device disagree, or it has no true time.
 */
export function queued(launch: EventRef, work: { readonly start_ns: number }): string {
  const ns = work.start_ns - launch.start_ns;
  return ns < 0 ? `${format_duration(-ns)} before its launch` : `queued ${format_duration(ns)}`;
}

/** "number 5 of 6 of this name (496 to 503 µs)". */
export function among_same(event: TraceEvent): string {
  const { count, index, min_ns, max_ns } = event.same_name;
  if (count <= 1) return 'the only one of this name';
  return `number ${index} of ${count} of this name (${format_duration(min_ns)} to ${format_duration(max_ns)})`;
}

/** `ProfilerStep#12` as a person says it. */
export function step_words(name: string): string {
  return name.replace(/^ProfilerStep#(\d+)$/, 'step $1');
}

/** A stack frame without where Python is installed. */
export function short_frame(frame: string): string {
  return frame.replace(/^.*\/(?:site-packages|dist-packages|lib\/python[\d.]+)\//, '');
}

/** Spoken when it is selected: "aten::conv2d, 1.24 ms, Main thread, step 12". */
export function spoken(event: TraceEvent): string {
  const step = event.step === undefined ? '' : `, ${step_words(event.step)}`;
  return `${event.name}, ${format_duration(event.dur_ns)}, ${event.track}${step}`;
}

/** Arguments that the rows above do not show yet. */
export function other_args(event: TraceEvent): { key: string; text: string }[] {
  const shown = new Set(['call stack', 'grid', 'block', 'registers per thread', 'shared memory']);
  return event.args
    .filter((a) => !shown.has(a.key.toLowerCase()))
    .map((a) => ({ key: a.key, text: text_of_value(a.value) }));
}

function dims(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(text_of_value).join('×');
  return word(value);
}
function word(value: unknown): string | undefined {
  const text = text_of_value(value);
  return text === '' ? undefined : text;
}
function number_of(value: unknown): number | undefined {
  const n = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof n === 'number' && Number.isFinite(n) ? n : undefined;
}
