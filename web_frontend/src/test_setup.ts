// What jsdom lacks and our libraries ask for when imported. Unit tests only.
import { vi } from 'vitest';

// uPlot asks for the pixel ratio's media query when its module is loaded.
if (typeof window.matchMedia !== 'function') {
  window.matchMedia = (media: string): MediaQueryList => ({
    matches: false,
    media,
    onchange: null,
    addListener: vi.fn(),
    removeListener: vi.fn(),
    addEventListener: vi.fn(),
    removeEventListener: vi.fn(),
    dispatchEvent: () => false,
  });
}

class NoResizeObserver implements ResizeObserver {
  observe(): void {
    // jsdom has no layout: nothing ever changes size.
  }
  unobserve(): void {
    // see observe
  }
  disconnect(): void {
    // see observe
  }
}
globalThis.ResizeObserver ??= NoResizeObserver;

if (!('scrollIntoView' in Element.prototype)) {
  Object.assign(Element.prototype, { scrollIntoView: () => undefined });
}
