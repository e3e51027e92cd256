// The address as reactive state. A click pushes an entry, so that Back undoes it; a drag or a keystroke replaces the entry,
// at most every 300 ms (browsers limit how often). In TensorBoard the same keys are mirrored into its address.
import { format_hash, kDefaults, parse_hash, patched, type UrlState } from '../lib/url_state';
import type { Go } from '../views/context';
import type { Host } from './host_bridge';

const kReplaceMs = 300;

export class Address {
  state: UrlState = $state.raw(kDefaults);
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #host: Host | undefined;

  constructor(host: Host | undefined) {
    this.#host = host;
    this.state = parse_hash(location.hash);
    addEventListener('popstate', () => this.#read());
    addEventListener('hashchange', () => this.#read());
    // Coming back to our tab: TensorBoard has forgotten our keys meanwhile.
    // It hides a tab by giving it no height.
    if (host !== undefined) {
      new ResizeObserver(() => {
        if (innerHeight > 0) this.#mirror();
      }).observe(document.documentElement);
    }
  }

  /** Takes TensorBoard's deep link, unless our own frame already has one (a reload of the frame, Back). */
  async open(): Promise<void> {
    if (this.#host === undefined || location.hash.length > 1) return;
    const link = await this.#host.deep_link();
    if (link !== '') this.state = parse_hash(link, this.#host.prefix);
    this.#write(false);
  }

  go(patch: Partial<UrlState>, how: Go = {}): void {
    const next = patched(this.state, patch);
    const before = format_hash(this.state);
    if (format_hash(next) === before) return;
    if (how.push === true) {
      // What a pending replacement would have written belongs to the entry that we leave.
      if (this.#timer !== undefined) this.#write(false);
      this.state = next;
      this.#write(true);
      return;
    }
    this.state = next;
    this.#timer ??= setTimeout(() => this.#write(false), kReplaceMs);
  }

  href(patch: Partial<UrlState>): string {
    return `#${format_hash(patched(this.state, patch))}`;
  }

  /** Links to what is on show: this page's own and, inside TensorBoard, TensorBoard's. */
  links(): { page: string; tensorboard: string | undefined } {
    const page = new URL(location.href);
    page.hash = format_hash(this.state);
    const host = this.#host;
    return { page: page.href, tensorboard: host?.link(format_hash(this.state, host.prefix)) };
  }

  #read(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const state = parse_hash(location.hash);
    if (format_hash(state) !== format_hash(this.state)) this.state = state;
    this.#mirror();
  }

  #write(push: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const hash = `#${format_hash(this.state)}`;
    if (push) history.pushState(null, '', hash);
    else history.replaceState(null, '', hash);
    this.#mirror();
  }

  #mirror(): void {
    if (this.#host !== undefined) this.#host.write(format_hash(this.state, this.#host.prefix));
  }
}
