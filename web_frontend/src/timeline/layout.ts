// Rows to pixels. Sections hold groups (threads, streams) and counters; each becomes a band with a
// fixed height, so that nothing jumps while the view moves in time. Linear in the tracks.
import { in_order, passes, track_key, type Arrangement } from './arrangement';

export interface GroupInfo {
  readonly id: number;
  readonly section: string;
  readonly section_label: string;
  readonly type: 'host' | 'python' | 'device' | 'device_annotation' | 'sync' | 'other';
  readonly label: string;
  readonly sublabel: string;
  readonly rows: number;
  /** Rows at the top that the step band shows already. */
  readonly step_rows: number;
  readonly events: number;
}

export interface CounterInfo {
  readonly id: string;
  readonly section: string;
  readonly label: string;
  readonly unit: string;
}

/** The section of pinned groups; no trace has one of this name. */
export const kPinned = 'pinned';

export interface SectionBand {
  readonly type: 'section';
  readonly section: string;
  readonly label: string;
  readonly collapsed: boolean;
  readonly groups: readonly number[];
  readonly y: number;
  readonly h: number;
}

export interface GroupBand {
  readonly type: 'group';
  readonly group: GroupInfo;
  readonly collapsed: boolean;
  /** First row shown, and how many. */
  readonly first_row: number;
  readonly rows: number;
  /** Top of the first row shown, from the top of the content. */
  readonly row_y: number;
  readonly row_h: number;
  readonly pitch: number;
  readonly y: number;
  readonly h: number;
}

export interface CounterBand {
  readonly type: 'counter';
  readonly counter: CounterInfo;
  readonly y: number;
  readonly h: number;
}

/** Says what is not shown, and offers it. */
export interface NoteBand {
  readonly type: 'note';
  readonly note: 'more' | 'hidden' | 'none';
  /** How many tracks are meant. */
  readonly tracks: number;
  readonly y: number;
  readonly h: number;
}

export type Band = SectionBand | GroupBand | CounterBand | NoteBand;

export interface Layout {
  /** From top to bottom, without gaps. */
  readonly bands: readonly Band[];
  readonly by_group: ReadonlyMap<number, GroupBand>;
  readonly height: number;
}

export const kSectionH = 22;
export const kCounterH = 54;
export const kMaxLevels = 8;
const kHostRow = 18;
const kDeviceRow = 34;
/** A stream whose slices overlap has sub-rows; each is lower, so that the stream stays one thing. */
const kDeviceSubRow = 20;
const kRowGap = 2;
const kPadTop = 3;
const kPadBottom = 7;
/** Room for a label and its second line. */
const kLeastH = 40;
const kCollapsedH = 20;
const kSummaryH = 6;
const kNoteH = 30;
/** Groups that fit as lines into the header of their folded section. */
export const kSummaryGroups = 6;

/** Tracks, and how many more there are that are not listed. */
export interface TrackList {
  readonly groups: readonly GroupInfo[];
  readonly counters: readonly CounterInfo[];
  readonly unlisted?: number;
}

export function layout(tracks: TrackList, arrangement: Arrangement): Layout {
  const bands: Band[] = [];
  const by_group = new Map<number, GroupBand>();
  let y = 0;
  const note = (kind: NoteBand['note'], count: number): void => {
    bands.push({ type: 'note', note: kind, tracks: count, y, h: kNoteH });
    y += kNoteH;
  };
  const { sections, hidden } = sections_of(tracks, arrangement);
  for (const section of sections) {
    const collapsed = arrangement.sections.has(section.key);
    bands.push({
      type: 'section',
      section: section.key,
      label: section.label,
      collapsed,
      groups: section.groups.map((g) => g.id),
      y,
      h: kSectionH,
    });
    y += kSectionH;
    if (collapsed) continue;
    for (const group of section.groups) {
      const band = group_band(group, y, arrangement);
      bands.push(band);
      by_group.set(group.id, band);
      y += band.h;
    }
    for (const counter of section.counters) {
      bands.push({ type: 'counter', counter, y, h: kCounterH });
      y += kCounterH;
    }
  }
  if (bands.length === 0 && arrangement.filter !== '') note('none', 0);
  if (hidden > 0) note('hidden', hidden);
  const { unlisted = 0 } = tracks;
  if (unlisted > 0) note('more', unlisted);
  return { bands, by_group, height: y };
}

interface Section {
  readonly key: string;
  readonly label: string;
  readonly groups: readonly GroupInfo[];
  readonly counters: readonly CounterInfo[];
}

/** In the server's order, the pinned ones first and what is neither threads nor devices last. */
function sections_of(
  { groups, counters }: TrackList,
  { pinned, hidden, moved, filter }: Arrangement,
): { sections: Section[]; hidden: number } {
  const found = new Map<
    string,
    { label: string; groups: GroupInfo[]; counters: CounterInfo[]; rank: number }
  >();
  const section = (
    key: string,
    label: string,
  ): { groups: GroupInfo[]; counters: CounterInfo[]; rank: number } => {
    let one = found.get(key);
    if (one === undefined) found.set(key, (one = { label, groups: [], counters: [], rank: 3 }));
    return one;
  };
  section(kPinned, 'Pinned').rank = 0;
  let left_out = 0;
  for (const g of groups) {
    const own = section(g.section, g.section_label);
    own.rank = Math.min(own.rank, g.type === 'other' ? 2 : 1);
    if (!passes(filter, g.label, g.sublabel, g.section_label)) continue;
    if (hidden.has(track_key(g))) left_out++;
    else (pinned.has(g.id) ? section(kPinned, '') : own).groups.push(g);
  }
  for (const c of counters) {
    const own = section(c.section, 'Counters');
    if (!passes(filter, c.label)) continue;
    if (hidden.has(track_key(c))) left_out++;
    else own.counters.push(c);
  }
  const sections = [...found]
    .filter(([, s]) => s.groups.length + s.counters.length > 0)
    .sort(([, a], [, b]) => a.rank - b.rank)
    .map(([key, s]) => ({ key, label: s.label, groups: in_order(s.groups, moved), counters: s.counters }));
  return { sections, hidden: left_out };
}

function group_band(group: GroupInfo, y: number, arrangement: Arrangement): GroupBand {
  const collapsed = arrangement.groups.has(group.id);
  const first_row = Math.min(group.step_rows, Math.max(0, group.rows - 1));
  if (collapsed) {
    const row_y = y + (kCollapsedH - kSummaryH) / 2;
    const size = { row_y, row_h: kSummaryH, pitch: kSummaryH, y, h: kCollapsedH };
    return { type: 'group', group, collapsed, first_row, rows: 1, ...size };
  }
  const rows = shown_rows(group, first_row, arrangement.deep.has(group.id));
  const row_h = !is_device(group) ? kHostRow : rows === 1 ? kDeviceRow : kDeviceSubRow;
  const pitch = row_h + kRowGap;
  const h = Math.max(kLeastH, kPadTop + rows * pitch - kRowGap + kPadBottom);
  return { type: 'group', group, collapsed, first_row, rows, row_y: y + kPadTop, row_h, pitch, y, h };
}

/** One level more than the limit is shown rather than hidden behind a button of the same height. */
function shown_rows(group: GroupInfo, first_row: number, deep: boolean): number {
  const rows = Math.max(1, group.rows - first_row);
  return deep || rows <= kMaxLevels + 1 ? rows : kMaxLevels;
}

export function is_device(group: GroupInfo): boolean {
  return group.type === 'device';
}

/** Levels that are there but not shown. */
export function hidden_levels(band: GroupBand): number {
  return band.collapsed ? 0 : Math.max(0, band.group.rows - band.first_row - band.rows);
}

/** Top of a row in the content, if it is shown. */
export function row_top(band: GroupBand, row: number): number | undefined {
  const shown = row - band.first_row;
  if (band.collapsed) return band.row_y;
  if (shown < 0 || shown >= band.rows) return undefined;
  return band.row_y + shown * band.pitch;
}

/** Bands that touch [top, bottom) of the content. */
export function bands_between(l: Layout, top: number, bottom: number): readonly Band[] {
  let low = 0;
  let high = l.bands.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const b = l.bands[middle];
    if (b !== undefined && b.y + b.h <= top) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < l.bands.length && (l.bands[end]?.y ?? bottom) < bottom) end++;
  return l.bands.slice(low, end);
}

/** Groups whose tiles a view of [top, bottom) needs, those of collapsed sections included. */
export function groups_between(l: Layout, top: number, bottom: number): number[] {
  const ids: number[] = [];
  for (const b of bands_between(l, top, bottom)) {
    if (b.type === 'group') ids.push(b.group.id);
    if (b.type === 'section' && b.collapsed) ids.push(...b.groups.slice(0, kSummaryGroups));
  }
  return ids;
}

/** The arrangement in which a row of a group is drawn; the same one if it is already. */
export function opened(arrangement: Arrangement, l: Layout, group: GroupInfo, row: number): Arrangement {
  const section = arrangement.pinned.has(group.id) ? kPinned : group.section;
  const without = <T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> =>
    set.has(item) ? new Set([...set].filter((one) => one !== item)) : set;
  const sections = without(arrangement.sections, section);
  const groups = without(arrangement.groups, group.id);
  const hidden = without(arrangement.hidden, track_key(group));
  const filter = passes(arrangement.filter, group.label, group.sublabel, group.section_label)
    ? arrangement.filter
    : '';
  if (
    sections !== arrangement.sections ||
    groups !== arrangement.groups ||
    hidden !== arrangement.hidden ||
    filter !== arrangement.filter
  ) {
    return { ...arrangement, sections, groups, hidden, filter };
  }
  const band = l.by_group.get(group.id);
  if (band === undefined || row_top(band, row) !== undefined) return arrangement;
  return { ...arrangement, deep: new Set([...arrangement.deep, group.id]) };
}
