// The filter box of a table: plain text is found anywhere, case-insensitively; `/…/` or `/…/i` is a regular expression.

export interface Filter {
  readonly matches: (text: string) => boolean;
  /** Why the expression is not one; then everything matches. */
  readonly error: string | undefined;
}

export function make_filter(source: string): Filter {
  const typed = source.trim();
  const pattern = /^\/(.+)\/([a-z]*)$/s.exec(typed);
  if (pattern?.[1] !== undefined) {
    try {
      // `g` and `y` would make the test remember where it was.
      const expression = new RegExp(pattern[1], (pattern[2] ?? '').replace(/[gy]/g, ''));
      return { matches: (text) => expression.test(text), error: undefined };
    } catch (cause) {
      return {
        matches: () => true,
        error: cause instanceof Error ? cause.message : 'not a regular expression',
      };
    }
  }
  const needle = typed.toLowerCase();
  return { matches: (text) => needle === '' || text.toLowerCase().includes(needle), error: undefined };
}
