// What a note is pinned to, in the terms of the API.

export interface RangePlace {
  readonly place: { readonly kind: 'range'; readonly start_ns: number; readonly end_ns: number };
  readonly label: string;
}

/** A range that counts from the trace's start, `origin` after its base. */
export function area_place(
  origin: number,
  area: { readonly start_ns: number; readonly end_ns: number },
): RangePlace {
  const start_ns = Math.round(origin + area.start_ns);
  const end_ns = Math.round(origin + area.end_ns);
  const ms = (ns: number): string => (ns / 1e6).toFixed(3);
  return {
    place: { kind: 'range', start_ns, end_ns },
    label: `${ms(area.start_ns)} – ${ms(area.end_ns)} ms`,
  };
}
