// Which rows of a long table are in the document: those in sight and some around them. The library knows no runes; `version`
// counts what it reports, and everything here that reads it follows.
import {
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import { untrack } from 'svelte';

/** Up to here all rows stay in the document, where the browser's own find sees them. */
const kVirtualFrom = 300;
const kOverscan = 24;

export interface VirtualTable {
  /** The element that holds the rows. */
  readonly body: () => HTMLElement | undefined;
  readonly count: () => number;
  readonly key: (index: number) => string | number;
  readonly row_height: () => number;
}

export interface RowPlace {
  readonly index: number;
  /** px from the top of the body; 0 where rows simply follow each other. */
  readonly start: number;
}

/** To be made while a component is set up. */
export class VirtualRows {
  /** Rows are placed; else they follow each other. */
  readonly on: boolean;
  readonly places: readonly RowPlace[];
  readonly height: number;
  #version = $state(0);
  readonly #virtualizer: Virtualizer<HTMLElement, HTMLElement>;

  constructor(table: VirtualTable) {
    this.#virtualizer = new Virtualizer<HTMLElement, HTMLElement>({
      count: 0,
      getScrollElement: () => table.body()?.closest('main') ?? null,
      estimateSize: () => table.row_height(),
      overscan: kOverscan,
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      measureElement,
      // Reading the counter here would tie whoever measures to it.
      onChange: () => untrack(() => (this.#version += 1)),
    });
    this.on = $derived(table.count() > kVirtualFrom);
    this.places = $derived.by(() => {
      void this.#version;
      if (!this.on) return Array.from({ length: table.count() }, (_, index) => ({ index, start: 0 }));
      const margin = this.#virtualizer.options.scrollMargin;
      return this.#virtualizer
        .getVirtualItems()
        .map(({ index, start }) => ({ index, start: start - margin }));
    });
    this.height = $derived.by(() => {
      void this.#version;
      return this.on ? this.#virtualizer.getTotalSize() : 0;
    });

    $effect(() => {
      if (table.body() === undefined || !this.on) return;
      return untrack(() => this.#virtualizer._didMount());
    });
    $effect(() => {
      const body = table.body();
      if (body === undefined || !this.on) return;
      const main = body.closest('main');
      const margin =
        main === null
          ? 0
          : body.getBoundingClientRect().top - main.getBoundingClientRect().top + main.scrollTop;
      this.#virtualizer.setOptions({
        ...this.#virtualizer.options,
        count: table.count(),
        scrollMargin: margin,
        getItemKey: table.key,
      });
      untrack(() => {
        this.#virtualizer._willUpdate();
        this.#virtualizer.measure();
      });
    });
  }

  /** Follows the height of a row, which grows when it opens. For `{@attach}`. */
  readonly measured = (element: HTMLElement): void => {
    if (untrack(() => this.on)) this.#virtualizer.measureElement(element);
  };

  /** Brings a row into the document; it is there one frame later. */
  async reach(index: number): Promise<void> {
    if (!this.on) return;
    this.#virtualizer.scrollToIndex(index, { align: 'auto' });
    await new Promise(requestAnimationFrame);
  }
}
