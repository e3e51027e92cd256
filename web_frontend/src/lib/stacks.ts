// Which line of a call stack says the most.

const kLibrary =
  /site-packages|dist-packages|^<built-in|^<string>|^<frozen|^nn\.Module: |(^|\/)(torch|torchvision|lightning|accelerate|transformers)\/|^(threading|runpy|contextlib|functools)\.py/;

/** The innermost line of the user's own code: the wrappers below it belong to libraries. Innermost first. */
export const head_frame = (frames: readonly string[]): string =>
  frames.find((frame) => !kLibrary.test(frame)) ?? frames[0] ?? '';
