// What the view says of the answer: the sentence's parts, places of bars on the common axis, labels of the heat map.
import type { Distributed, DistributedCollective, DistributedRank, Meta } from '../../api/types';
import type { StepChoice } from '../../lib/steps';

/** Beyond so many ranks the bars show only those that the others waited for most. */
export const kBars = 16;

/** Steps as the route wants them: by number, since positions differ between ranks. undefined: all. */
export function step_numbers(meta: Pick<Meta, 'steps'>, choice: StepChoice): string | undefined {
  const first = meta.steps[choice.range.first];
  const last = meta.steps[choice.range.last];
  if (choice.all || first === undefined || last === undefined || first.synthetic) return undefined;
  return first.index === last.index ? `${first.index}` : `${first.index}-${last.index}`;
}

/** Ranks with bars, in order of rank: all, or those that caused most waiting. */
export function barred(ranks: readonly DistributedRank[]): readonly DistributedRank[] {
  if (ranks.length <= kBars) return ranks;
  return [...ranks]
    .sort((a, b) => b.caused_wait_ns - a.caused_wait_ns || a.rank - b.rank)
    .slice(0, kBars)
    .sort((a, b) => a.rank - b.rank);
}

/** The end of the axis that the bars share. */
export const axis_end = (ranks: readonly DistributedRank[]): number =>
  ranks.reduce((most, { starts_ns, step_ns }) => Math.max(most, starts_ns + step_ns), 1);

const kShort: Readonly<Record<string, string>> = {
  all_reduce: 'reduce',
  all_gather: 'gather',
  reduce_scatter: 'scatter',
  all_to_all: 'a2a',
  broadcast: 'bcast',
  send_recv: 'p2p',
};

/** Head of a column of the heat map: "1 a2a", "step 4", "1–20". */
export function column_label(data: Pick<Distributed, 'heat' | 'collectives'>, column: number): string {
  const band = data.heat.columns[column];
  if (band === undefined) return '';
  if (data.heat.by === 'step') return band.label;
  const one = data.collectives.find(({ number }) => number === band.first + 1);
  if (one === undefined || band.first !== band.last) return band.label;
  return `${band.label} ${kShort[one.op] ?? one.op}`;
}

/** Figures of a cell are readable (4.5 : 1) in ink up to the first share of its colour, in the colour's own ink from the
    second, in both themes; between them neither is, so no cell is filled that way. */
const kInk = 0.66;
export const kFull = 0.86;
const kTurn = 0.7;

/** 0 … 1: how strongly a cell is filled. Square root: small waits beside one large one still show. */
export function heat(ns: number, most: number): number {
  if (ns <= 0 || most <= 0) return 0;
  const share = Math.min(1, Math.sqrt(ns / most));
  return share <= kTurn ? (share / kTurn) * kInk : kFull + ((share - kTurn) / (1 - kTurn)) * (1 - kFull);
}

/** The longest of the heat map. */
export const most_wait = (rows: readonly (readonly number[])[]): number =>
  rows.reduce((most, row) => row.reduce((max, ns) => Math.max(max, ns), most), 0);

/** Where the charts of the collectives begin and end. */
export function collective_axis(rows: readonly DistributedCollective[]): { start: number; end: number } {
  const start = rows.reduce((least, { start_ns }) => Math.min(least, start_ns), Infinity);
  const end = rows.reduce((most, { end_ns }) => Math.max(most, end_ns), -Infinity);
  return Number.isFinite(start)
    ? { start: Math.min(0, start), end: Math.max(end, start + 1) }
    : { start: 0, end: 1 };
}

export interface Lines {
  /** Path data of all waiting, and of all transfer, in a box of 1000 × `bands`. */
  readonly wait: string;
  readonly transfer: string;
}

/** One line a band of ranks: light while it waits, dark while data moves. */
export function entered_lines(
  row: DistributedCollective,
  axis: { readonly start: number; readonly end: number },
): Lines {
  const x = (ns: number): number => ((ns - axis.start) / (axis.end - axis.start)) * 1000;
  let wait = '';
  let transfer = '';
  row.entered.row.forEach((band, at) => {
    const start = row.entered.start_ns[at] ?? 0;
    const moved = start + (row.entered.wait_ns[at] ?? 0);
    const from = x(start);
    const turn = x(moved);
    const to = Math.max(x(moved + row.transfer_ns), turn + 1.5);
    if (turn > from) wait += box(from, band, turn);
    transfer += box(turn, band, to);
  });
  return { wait, transfer };
}

const box = (from: number, band: number, to: number): string =>
  `M${from.toFixed(1)} ${band + 0.15}H${to.toFixed(1)}V${band + 0.85}H${from.toFixed(1)}Z`;

/** Size as "6 144 × float32" needs it: elements and their type, or nothing known. */
export const elements_text = (row: DistributedCollective, count: (n: number) => string): string =>
  row.elements === undefined
    ? ''
    : `${count(row.elements)}${row.dtype === undefined ? '' : ` × ${row.dtype}`}`;

const kMatched: Readonly<Record<Distributed['matched_by'], string>> = {
  sequence: ' by sequence number',
  order: ' by order in their group',
  both: ' by sequence number, some by order',
  nothing: '',
};

/** What stands beside the head of the collectives: how many, of how many, matched how. */
export function collectives_line(
  data: Pick<Distributed, 'collectives' | 'matched' | 'matched_by' | 'ranks' | 'unmatched'>,
): string {
  const [first] = data.ranks;
  const shown = data.collectives.length;
  if (data.ranks.length < 2 && first !== undefined) {
    const of = shown < data.unmatched ? `the ${shown} longest of ${data.unmatched}` : `${shown}`;
    return `${of} of rank ${first.rank}; without the other ranks a duration holds the waiting too`;
  }
  const of =
    shown < data.matched ? `the ${shown} with the longest wait of ${data.matched}` : `${data.matched}`;
  return `${of} matched over ${data.ranks.length} ranks${kMatched[data.matched_by]}`;
}
