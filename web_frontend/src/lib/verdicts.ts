// The verdicts in words and colours: what each is called, which part of a step it would take away, and how its sentence
// and its code are set. Which of them fire, in which order and with what ceiling, the server says.
import type { Part } from './breakdown';

interface Judged {
  readonly id: string;
  readonly severity: string;
  readonly gain_ceiling_ns?: number;
}

interface Kind {
  readonly title: string;
  /** In the middle of a sentence, or over a bracket. */
  readonly short: string;
  /** Colour of the data that it speaks of. */
  readonly kind: string;
  /** What of the mean step a fix would take away, in the order of the bar. */
  readonly over: readonly Part['key'][];
}

const kKinds: Readonly<Record<string, Kind>> = {
  data_loading: { title: 'Data loading', short: 'data loading', kind: 'loader', over: ['dataloader_ns'] },
  synchronization: {
    title: 'CPU–GPU synchronisation',
    short: 'synchronisation',
    kind: 'runtime',
    over: ['runtime_ns', 'other_ns'],
  },
  small_kernels: {
    title: 'Many small kernels',
    short: 'small kernels',
    kind: 'op',
    over: ['cpu_ns', 'runtime_ns', 'other_ns'],
  },
  inefficient_operators: {
    title: 'Inefficient operators',
    short: 'inefficient operators',
    kind: 'kernel',
    over: ['kernel_ns'],
  },
  memory: { title: 'Memory', short: 'memory', kind: 'memset', over: ['runtime_ns', 'other_ns'] },
  communication: {
    title: 'Communication',
    short: 'communication',
    kind: 'comm',
    over: ['communication_ns'],
  },
  low_utilization: {
    title: 'Low utilisation',
    short: 'low utilisation',
    kind: 'other',
    over: ['other_ns'],
  },
};

/** An id of a newer server still has a name. */
export function verdict_kind(id: string): Kind {
  const words = id.replace(/_/g, ' ');
  return kKinds[id] ?? { title: words.replace(/^./, upper), short: words, kind: 'other', over: ['other_ns'] };
}
const upper = (letter: string): string => letter.toUpperCase();

/** Where the guide writes of it. */
export const guide_href = (id: string): string => `guide.html#${id.replace(/_/g, '-')}`;

const kFires: readonly string[] = ['high', 'medium', 'low'];
export const fires = ({ severity }: Judged): boolean => kFires.includes(severity);

/** The verdict that speaks of a cause of idleness, if one does: as the server judges it. */
export function verdict_of_cause(cause: string): string | undefined {
  if (cause === 'launch') return 'small_kernels';
  if (cause === 'python' || cause === 'unknown') return 'low_utilization';
  return cause in kKinds ? cause : undefined;
}

export interface Run {
  readonly text: string;
  readonly as?: 'figure' | 'code';
}

const kFigure = /\d[\d \u202f]*(?:\.\d+)?[ \u00a0\u202f]?(?:%|ns\b|[µu]s\b|ms\b|s\b|[KMGT]?i?B(?:\/s)?\b)/;
const kRich = new RegExp(`\`([^\`]+)\`|(${kFigure.source})`, 'g');

/** A sentence of the server as runs: its figures, what stands in backticks, the words between. */
export function rich(sentence: string): Run[] {
  const runs: Run[] = [];
  let at = 0;
  for (const found of sentence.matchAll(kRich)) {
    if (found.index > at) runs.push({ text: sentence.slice(at, found.index) });
    const [whole, code] = found;
    runs.push(
      code === undefined ? { text: whole.replace(/us$/, 'µs'), as: 'figure' } : { text: code, as: 'code' },
    );
    at = found.index + whole.length;
  }
  if (at < sentence.length) runs.push({ text: sentence.slice(at) });
  return runs;
}

export interface CodeRun {
  readonly text: string;
  readonly as?: 'essential' | 'comment';
}

/** Named arguments in a row: what a person changes in a call that is there already. */
const kArgument = /\b\w+=[\w"'-][\w."'-]*(?:\([^()]*\))?/;
const kArguments = new RegExp(`${kArgument.source}(?:, *${kArgument.source})*`, 'g');
/** Else the call itself: what a person adds. */
const kCall = /\b(?:torch|libtrace|optim|dist|nn)(?:(?:\.|::)\w+)+/g;

/** A suggestion's code as runs: the part that matters, comments, the rest. */
export function code_runs(code: string): CodeRun[] {
  const lines = code.split('\n').map(split_comment);
  const named = lines.some(([before]) => before.match(kArguments) !== null);
  const runs: CodeRun[] = [];
  lines.forEach(([before, comment], n) => {
    if (n > 0) runs.push({ text: '\n' });
    let at = 0;
    for (const found of before.matchAll(named ? kArguments : kCall)) {
      if (found.index > at) runs.push({ text: before.slice(at, found.index) });
      runs.push({ text: found[0], as: 'essential' });
      at = found.index + found[0].length;
    }
    if (at < before.length) runs.push({ text: before.slice(at) });
    if (comment !== '') runs.push({ text: comment, as: 'comment' });
  });
  return runs;
}

function split_comment(line: string): [string, string] {
  const at = /(?:^|\s)(?:#|\/\/)\s/.exec(line)?.index ?? line.length;
  return [line.slice(0, at), line.slice(at)];
}
