// Interned names by their ids, in blocks, asked for when they are first wanted: a trace may have a million, of which a
// view shows some hundred. Ids follow the order of appearance, so those of a view lie together.
import { is_abort, type Api } from '../api/client';

/** Names of one request. */
export const kNameBlock = 4096;

export class NameTable {
  private readonly blocks = new Map<number, readonly string[]>();
  private readonly asked = new Set<number>();
  private readonly abort = new AbortController();

  constructor(
    private readonly api: Api,
    private readonly id: string,
    private readonly count: number,
    /** More names are known. */
    private readonly on_names: () => void,
    private readonly on_error: (cause: unknown) => void = () => undefined,
  ) {}

  stop(): void {
    this.abort.abort();
  }

  get busy(): boolean {
    return this.asked.size > 0;
  }

  /** A name; undefined while it is on its way. */
  readonly of = (id: number): string | undefined => {
    const block = Math.floor(id / kNameBlock);
    const known = this.blocks.get(block);
    if (known !== undefined) return known[id - block * kNameBlock];
    if (id < this.count && !this.asked.has(block) && !this.abort.signal.aborted) void this.ask(block);
    return undefined;
  };

  private async ask(block: number): Promise<void> {
    this.asked.add(block);
    try {
      const { names } = await this.api.get('/api/traces/{id}/names', {
        path: { id: this.id },
        query: { from: block * kNameBlock, n: kNameBlock },
        signal: this.abort.signal,
      });
      this.blocks.set(block, names);
    } catch (cause) {
      if (!is_abort(cause)) {
        this.blocks.set(block, []);
        this.on_error(cause);
      }
    }
    this.asked.delete(block);
    if (!this.abort.signal.aborted) this.on_names();
  }
}
