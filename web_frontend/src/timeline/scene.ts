// What the user has chosen, pointed at or looked for: the state that the overlay draws.

export interface EventSelection {
  readonly type: 'event';
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  readonly group: number;
  readonly row: number;
  readonly start_ns: number;
  readonly end_ns: number;
}

export interface GapSelection {
  readonly type: 'gap';
  readonly group: number;
  readonly row: number;
  readonly start_ns: number;
  readonly end_ns: number;
}

export type Selection = EventSelection | GapSelection;

export interface Area {
  readonly start_ns: number;
  readonly end_ns: number;
  readonly groups: readonly number[];
}

/** One end of an arrow: an edge of a slice. */
export interface ArrowEnd {
  readonly group: number;
  readonly row: number;
  readonly ns: number;
}

export interface Arrow {
  readonly from: ArrowEnd;
  readonly to: ArrowEnd;
  /** Written beside the arrow: what the way took. */
  readonly text: string;
}
