// The notes of the run on show, kept live: listed once, then followed change by change. What is written goes to the server
// and comes back as a change like everybody else's.
import type { Api } from '../api/client';
import { is_abort, problem_from } from '../api/client';
import { make_writer, NotesFeed, type NotesWriter } from '../api/notes';
import type {
  Meta,
  NoteAnchorFound,
  NoteChange,
  NoteHistory,
  NotePlace,
  NoteSession,
  NoteThread,
  Problem,
} from '../api/types';
import { format_hash, kDefaults, parse_hash, type UrlState } from '../lib/url_state';
import type { NotesDesk } from '../widgets/notes/desk';
import type { Address } from './address.svelte';

const kNameKey = 'traceglass.name';
const kMostListed = 500;
/** A list that could not be had is asked for again after this long, twice as long each time, up to the longest. */
const kFirstAgainMs = 2000;
const kLongestAgainMs = 60_000;

/** A note that is being written. */
export interface Adding {
  readonly place: NotePlace;
  readonly label: string;
}

function stored_name(): string | undefined {
  try {
    return localStorage.getItem(kNameKey) ?? undefined;
  } catch {
    return undefined; // no storage in this frame
  }
}

export class NoteBook implements NotesDesk {
  threads: readonly NoteThread[] = $state.raw([]);
  found: ReadonlyMap<number, NoteAnchorFound> = $state.raw(new Map());
  seq = $state(0);
  session: NoteSession | undefined = $state.raw();
  problem: Problem | undefined = $state.raw();
  open = $state(false);
  adding: Adding | undefined = $state.raw();
  /** The thread that the panel was opened for. */
  shown: number | undefined = $state();
  /** Name of the run whose notes these are. */
  run: string | undefined = $state();
  #name: string | undefined = $state(stored_name());
  #meta: Meta | undefined;
  #span: number | undefined;
  #feed: NotesFeed | undefined;
  #asking: AbortController | undefined;
  #finding: ReturnType<typeof setTimeout> | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  #again_ms = kFirstAgainMs;
  /** The list of the run on show is still to be had. */
  #owed = false;

  constructor(
    private readonly api: Api,
    private readonly address: Address,
    private readonly writer: NotesWriter = make_writer(),
  ) {}

  get user(): string | undefined {
    return this.session?.user ?? this.#name;
  }

  set_user(name: string): void {
    this.#name = name;
    try {
      localStorage.setItem(kNameKey, name);
    } catch {
      // Asked for again next time.
    }
  }

  /** Another profile is on show, or the page is open again. */
  async look_at(meta: Meta | undefined, span: number | undefined): Promise<void> {
    this.#span = span;
    if (meta === undefined) return;
    const same_trace = meta.id === this.#meta?.id && meta.generation === this.#meta.generation;
    if (same_trace && !this.#owed) return;
    const same_run = meta.run === this.#meta?.run;
    this.#meta = meta;
    if (!same_run || this.#owed) await this.list();
    this.#find();
  }

  /** Lists anew, and follows from there. */
  async list(): Promise<void> {
    const run = this.#meta?.run;
    if (run === undefined) return;
    this.#asking?.abort();
    clearTimeout(this.#again);
    const asking = new AbortController();
    this.#asking = asking;
    const { signal } = asking;
    try {
      const [session, page] = await Promise.all([
        this.api.get('/api/session', { signal }),
        this.api.get('/api/notes', { query: { run, limit: kMostListed }, signal }),
      ]);
      this.session = session;
      this.run = run;
      this.threads = page.threads;
      this.seq = page.seq;
      this.problem = undefined;
      this.#owed = false;
      this.#again_ms = kFirstAgainMs;
      this.#follow(page.seq);
    } catch (cause) {
      if (is_abort(cause)) return;
      this.problem = problem_from(cause);
      this.#owed = true;
      // Who is not signed in gets the same answer until he is, and is looked at then.
      if (this.problem.status === 401) return;
      this.#again = setTimeout(() => void this.#list_again(), this.#again_ms);
      this.#again_ms = Math.min(2 * this.#again_ms, kLongestAgainMs);
    }
  }

  async #list_again(): Promise<void> {
    await this.list();
    this.#find();
  }

  add(place: NotePlace, label: string): void {
    this.adding = { place, label };
    this.open = true;
  }

  show(thread: number): void {
    this.adding = undefined;
    this.shown = thread;
    this.open = true;
  }

  /** The note that is being written, written. */
  async start(adding: Adding, text: string): Promise<void> {
    const meta = this.#meta;
    if (meta === undefined) return;
    const { state } = this.address;
    this.#take(
      await this.writer.start({
        ...this.#by(),
        text,
        anchor: {
          trace: meta.id,
          generation: meta.generation,
          view: state.view,
          link: format_hash(state),
          label: adding.label,
          ...adding.place,
        },
      }),
    );
    this.adding = undefined;
  }

  async reply(thread: NoteThread, text: string): Promise<void> {
    this.#take(await this.writer.reply(thread.id, { ...this.#by(), text }));
  }

  async edit(thread: NoteThread, note: number, text: string): Promise<void> {
    this.#take(await this.writer.edit(thread.id, note, { ...this.#by(), text }));
  }

  async remove(thread: NoteThread, note: number): Promise<void> {
    this.#take(await this.writer.remove(thread.id, note, this.user));
  }

  async resolve(thread: NoteThread, resolved: boolean): Promise<void> {
    this.#take(await this.writer.resolve(thread.id, { ...this.#by(), resolved }));
  }

  history(thread: NoteThread, note: number): Promise<NoteHistory> {
    return this.writer.history(thread.id, note);
  }

  href(thread: NoteThread): string {
    return `#${format_hash(this.#state_of(thread))}`;
  }

  go_to(thread: NoteThread): void {
    this.address.go(this.#state_of(thread), { push: true });
  }

  stop(): void {
    this.#feed?.stop();
    this.#asking?.abort();
    clearTimeout(this.#again);
    clearTimeout(this.#finding);
  }

  /** In the profile on show where the place is in it, else in the one that it was pinned in. */
  #state_of(thread: NoteThread): UrlState {
    const { anchor } = thread;
    const then = parse_hash(anchor.link ?? '');
    const found = this.found.get(thread.id);
    const meta = this.#meta;
    const here = found !== undefined && found.state !== 'lost' && meta !== undefined;
    const base = { ...kDefaults, ...then, run: anchor.run };
    if (!here) return { ...base, worker: anchor.worker ?? then.worker, span: anchor.span ?? then.span };
    const state = { ...base, worker: meta.worker, span: this.#span };
    const origin = meta.range.start_ns;
    if (anchor.kind === 'event' && found.event !== undefined) {
      return { ...state, view: 'trace', sel: found.event, area: undefined, t: undefined };
    }
    if (anchor.kind === 'range' && found.start_ns !== undefined && found.end_ns !== undefined) {
      const area = { t0: found.start_ns - origin, t1: found.end_ns - origin };
      const margin = Math.max(1000, area.t1 - area.t0);
      return {
        ...state,
        view: 'trace',
        sel: undefined,
        area,
        t: { t0: area.t0 - margin, t1: area.t1 + margin },
      };
    }
    return state;
  }

  #by(): Record<string, unknown> {
    return this.session?.user === undefined ? { author: this.#name ?? '' } : {};
  }

  #follow(seq: number): void {
    this.#feed?.stop();
    this.#feed = new NotesFeed(seq, {
      on_change: (change: NoteChange) => {
        this.seq = change.seq;
        this.#take(change.thread);
      },
      on_reset: () => void this.list(),
      on_problem: (problem) => (this.problem = problem),
    });
  }

  /** A thread as it is now. The answer to a write and its event may come in either order. */
  #take(thread: NoteThread): void {
    if (thread.anchor.run !== this.run) return;
    const known = this.threads.find(({ id }) => id === thread.id);
    if (known !== undefined && known.changed > thread.changed) return;
    this.threads = [thread, ...this.threads.filter(({ id }) => id !== thread.id)].sort(
      (a, b) => b.changed - a.changed,
    );
    if (known === undefined) this.#find();
  }

  /** Asks where the notes are in the profile on show; several at once are one question. */
  #find(): void {
    clearTimeout(this.#finding);
    this.#finding = setTimeout(() => void this.#ask_where(), 50);
  }

  async #ask_where(): Promise<void> {
    const meta = this.#meta;
    if (meta === undefined || this.threads.length === 0) {
      this.found = new Map();
      return;
    }
    try {
      const { anchors } = await this.api.get('/api/notes/anchors', { query: { id: meta.id } });
      if (meta === this.#meta) this.found = new Map(anchors.map((one) => [one.thread, one]));
    } catch {
      // The notes are there all the same; where they are is not known.
    }
  }
}
