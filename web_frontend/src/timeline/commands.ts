// Keys of the trace view: one table, from which both the handler and the help are made.

export type Command =
  | 'fit_selection'
  | 'show_all'
  | 'mark'
  | 'next'
  | 'previous'
  | 'next_same'
  | 'previous_same'
  | 'flow_in'
  | 'flow_out'
  | 'parent'
  | 'below'
  | 'search'
  | 'help'
  | 'escape'
  | 'mode_select'
  | 'mode_pan'
  | 'mode_zoom'
  | 'mode_measure'
  | 'page_up'
  | 'page_down'
  | 'table'
  | 'path'
  | 'event_next'
  | 'event_previous';

export interface KeyPress {
  readonly key: string;
  readonly ctrl: boolean;
  readonly meta: boolean;
  readonly alt: boolean;
}

interface Binding {
  readonly keys: readonly string[];
  readonly command: Command;
}

const kBindings: readonly Binding[] = [
  { keys: ['f', 'F'], command: 'fit_selection' },
  { keys: ['0', 'z', 'Z'], command: 'show_all' },
  { keys: ['m', 'M'], command: 'mark' },
  { keys: ['.', 'ArrowRight'], command: 'next' },
  { keys: [',', 'ArrowLeft'], command: 'previous' },
  { keys: ['>'], command: 'next_same' },
  { keys: ['<'], command: 'previous_same' },
  { keys: ['['], command: 'flow_in' },
  { keys: [']'], command: 'flow_out' },
  { keys: ['p', 'P', 'ArrowUp'], command: 'parent' },
  { keys: ['c', 'C', 'ArrowDown'], command: 'below' },
  { keys: ['/'], command: 'search' },
  { keys: ['?'], command: 'help' },
  { keys: ['Escape'], command: 'escape' },
  { keys: ['1'], command: 'mode_select' },
  { keys: ['2'], command: 'mode_pan' },
  { keys: ['3'], command: 'mode_zoom' },
  { keys: ['4'], command: 'mode_measure' },
  { keys: ['PageUp'], command: 'page_up' },
  { keys: ['PageDown'], command: 'page_down' },
  { keys: ['t', 'T'], command: 'table' },
  { keys: ['x', 'X'], command: 'path' },
  { keys: ['n'], command: 'event_next' },
  { keys: ['N'], command: 'event_previous' },
];

/** The command of a key; none with Ctrl, Meta or Alt held: those belong to the browser. */
export function command_of(press: KeyPress): Command | undefined {
  if (press.ctrl || press.meta || press.alt) return undefined;
  return kBindings.find((b) => b.keys.includes(press.key))?.command;
}

export interface HelpRow {
  readonly keys: readonly string[];
  readonly does: string;
}
export interface HelpGroup {
  readonly title: string;
  readonly rows: readonly HelpRow[];
}

export const kHelp: readonly HelpGroup[] = [
  {
    title: 'Move',
    rows: [
      { keys: ['W', 'S'], does: 'zoom in, out at the pointer; hold to fly, Shift for four times the speed' },
      { keys: ['A', 'D'], does: 'pan left, right' },
      { keys: ['wheel'], does: 'zoom at the pointer (also Ctrl + wheel and pinch)' },
      { keys: ['Shift + wheel'], does: 'pan; so does a sideways wheel' },
      { keys: ['Alt + wheel'], does: 'scroll the tracks; so does the wheel over the track names' },
      { keys: ['Space + drag'], does: 'pan, also with the middle button or Shift' },
      { keys: ['F'], does: 'fit the selection, or the area' },
      { keys: ['0', 'Z'], does: 'show the whole trace' },
      { keys: ['drag'], does: 'on the ruler: zoom to that range; on the minimap: move or resize the view' },
    ],
  },
  {
    title: 'Select',
    rows: [
      { keys: ['click'], does: 'a slice, or a gap on a device track' },
      { keys: ['double click'], does: 'select and fit' },
      { keys: ['drag'], does: 'an area: its totals stand in the table below' },
      { keys: ['M'], does: 'mark the selection’s time as the area' },
      { keys: [',', '.'], does: 'previous, next slice of the row (also ← →)' },
      { keys: ['<', '>'], does: 'previous, next slice of the same name, wherever it is' },
      { keys: ['[', ']'], does: 'along the arrow: to the launch, to the kernel' },
      { keys: ['P', 'C'], does: 'the parent, the first child or the track below (also ↑ ↓)' },
      { keys: ['Esc'], does: 'let go: area, then selection' },
    ],
  },
  {
    title: 'Find',
    rows: [
      { keys: ['/'], does: 'search names, by a text or /regex/; ticks on the minimap show where' },
      { keys: ['Enter', 'Shift + Enter'], does: 'next, previous hit' },
      { keys: ['X'], does: 'the critical path of the step in view: what its length is made of' },
      { keys: ['N', 'Shift + N'], does: 'next, previous event of the verdict that one came from' },
    ],
  },
  {
    title: 'Pointer',
    rows: [
      { keys: ['1'], does: 'select (drag takes an area)' },
      { keys: ['2'], does: 'pan' },
      { keys: ['3'], does: 'zoom (drag up and down)' },
      { keys: ['4'], does: 'measure (drag over all tracks)' },
      { keys: ['T'], does: 'show the visible slices as a table' },
      { keys: ['?'], does: 'this list' },
    ],
  },
  {
    title: 'Tracks (at their names)',
    rows: [
      { keys: ['Enter'], does: 'fold, unfold' },
      { keys: ['drag', 'Alt + ↑ ↓'], does: 'move up, down within the section' },
      { keys: ['Delete'], does: 'hide; the end of the list brings hidden ones back, Reset everything' },
    ],
  },
];
