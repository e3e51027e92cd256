// The API's answers out of the page itself, as `traceglass report` wrote them (tb_backend/api/report_page.cc): a page in one
// file that asks nobody. What the page would fetch is looked up; what is not there is a problem as a server would send it.
import type { Problem } from '../../api/types';
import { TileStore } from './tile_store';

export interface Embedded {
  readonly fetch: typeof fetch;
}

interface Answers {
  readonly format: number;
  readonly answers: readonly { readonly at: readonly string[]; readonly body: unknown }[];
}

/** Raised with the meaning of the parts. */
const kFormat = 1;

/** An address that nothing is ever sent to: it only makes relative paths whole. */
export const kNowhere = 'http://report.invalid/';

/** Undefined where the document holds no answers: the page was opened as it was built. */
export async function read_embedded(from: Document): Promise<Embedded | undefined> {
  const answers = new Map<string, unknown>();
  for (const bytes of await parts(from, 'answers')) {
    const found = JSON.parse(new TextDecoder().decode(bytes)) as Answers;
    if (found.format !== kFormat) return undefined;
    for (const { at, body } of found.answers) for (const key of at) answers.set(key, body);
  }
  if (answers.size === 0) return undefined;
  const tiles = new TileStore(await parts(from, 'tiles'));
  return {
    fetch: (input) => {
      const url = new URL(input instanceof Request ? input.url : input);
      if (url.pathname.endsWith('/tiles'))
        return Promise.resolve(new Response(tiles.answer(url.searchParams)));
      const body = part_of(answers.get(key_of(url)), url);
      return Promise.resolve(body === undefined ? refusal() : Response.json(body));
    },
  };
}

/** What an answer is kept under: its path and, in their order, its parameters, each on a line. */
export function key_of(url: URL): string {
  // Counters and names are there once, of the whole trace, whatever part of it is looked at.
  const query = /\/(counters|names)$/.test(url.pathname) ? [] : [...url.searchParams];
  return [decodeURI(url.pathname), ...query.map(([name, value]) => `${name}=${value}`).sort()].join('\n');
}

/** Of names those from `from` on, at most `n`. */
function part_of(body: unknown, url: URL): unknown {
  if (!url.pathname.endsWith('/names') || body === undefined) return body;
  const { names } = body as { readonly names: readonly string[] };
  const from = Number(url.searchParams.get('from') ?? 0);
  const n = Number(url.searchParams.get('n') ?? names.length);
  return { from, names: names.slice(from, from + n) };
}

function refusal(): Response {
  const problem: Problem = {
    type: 'about:blank',
    title: 'Not in this report',
    status: 404,
    code: 'not_in_report',
    detail:
      'A report holds the tables, and a cut of the timeline. For every detail open the trace with `traceglass serve`.',
  };
  return new Response(JSON.stringify(problem), {
    status: 404,
    headers: { 'content-type': 'application/problem+json' },
  });
}

/** The parts of a kind, unpacked; they leave the document, which need not hold them twice. */
async function parts(from: Document, kind: string): Promise<Uint8Array<ArrayBuffer>[]> {
  const found = [...from.querySelectorAll(`script[data-report="${kind}"]`)];
  return Promise.all(
    found.map(async (element) => {
      const packed = Uint8Array.from(atob(element.textContent.trim()), (letter) => letter.charCodeAt(0));
      element.remove();
      const unpacked = new Response(packed).body?.pipeThrough(new DecompressionStream('gzip'));
      return new Uint8Array(await new Response(unpacked).arrayBuffer());
    }),
  );
}
