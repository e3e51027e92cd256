// Rows to pixels. Sections hold groups (threads, streams) and counters; each becomes a band with a
// fixed height, so that nothing jumps while the view moves in time.

export interface GroupInfo {
  readonly id: number;
  readonly section: string;
  readonly section_label: string;
  readonly type: 'host' | 'python' | 'device' | 'device_annotation' | 'sync' | 'other';
  readonly label: string;
  readonly sublabel: string;
  readonly rows: number;
  readonly events: number;
}

export interface CounterInfo {
  readonly id: string;
  readonly section: string;
  readonly label: string;
  readonly unit: string;
}

/** What the user folded and unfolded. */
export interface Folding {
  readonly sections: ReadonlySet<string>;
  readonly groups: ReadonlySet<number>;
  /** Groups that show all of their levels, not only the first kMaxLevels. */
  readonly deep: ReadonlySet<number>;
  /** Groups kept above all others. */
  readonly pinned: ReadonlySet<number>;
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

export type Band = SectionBand | GroupBand | CounterBand;

export interface Layout {
  readonly bands: readonly Band[];
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

export function layout(
  groups: readonly GroupInfo[],
  counters: readonly CounterInfo[],
  folding: Folding,
  /** Rows at the top of a group that the step band already shows. */
  hidden_rows: (group: number) => number = () => 0,
): Layout {
  const bands: Band[] = [];
  let y = 0;
  for (const section of sections_of(groups, counters, folding.pinned)) {
    const collapsed = folding.sections.has(section.key);
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
      const band = group_band(group, y, folding, hidden_rows(group.id));
      bands.push(band);
      y += band.h;
    }
    for (const counter of section.counters) {
      bands.push({ type: 'counter', counter, y, h: kCounterH });
      y += kCounterH;
    }
  }
  return { bands, height: y };
}

interface Section {
  readonly key: string;
  readonly label: string;
  readonly groups: readonly GroupInfo[];
  readonly counters: readonly CounterInfo[];
}

/** In the server's order, the pinned ones first and what is neither threads nor devices last. */
function sections_of(
  groups: readonly GroupInfo[],
  counters: readonly CounterInfo[],
  pinned: ReadonlySet<number>,
): Section[] {
  const labels = new Map([[kPinned, 'Pinned']]);
  for (const g of groups) labels.set(g.section, g.section_label);
  for (const c of counters) if (!labels.has(c.section)) labels.set(c.section, 'Counters');
  const rank = (s: Section): number => {
    if (s.key === kPinned) return 0;
    if (!groups.some((g) => g.section === s.key)) return 3;
    return groups.some((g) => g.section === s.key && g.type !== 'other') ? 1 : 2;
  };
  return [...labels]
    .map(([key, label]) => ({
      key,
      label,
      groups: groups.filter((g) => (pinned.has(g.id) ? kPinned : g.section) === key),
      counters: counters.filter((c) => c.section === key),
    }))
    .filter((s) => s.groups.length + s.counters.length > 0)
    .sort((a, b) => rank(a) - rank(b));
}

function group_band(group: GroupInfo, y: number, folding: Folding, hidden: number): GroupBand {
  const collapsed = folding.groups.has(group.id);
  const first_row = Math.min(hidden, Math.max(0, group.rows - 1));
  if (collapsed) {
    const row_y = y + (kCollapsedH - kSummaryH) / 2;
    const size = { row_y, row_h: kSummaryH, pitch: kSummaryH, y, h: kCollapsedH };
    return { type: 'group', group, collapsed, first_row, rows: 1, ...size };
  }
  const rows = shown_rows(group, first_row, folding.deep.has(group.id));
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

export function band_of_group(l: Layout, group: number): GroupBand | undefined {
  return l.bands.find((b): b is GroupBand => b.type === 'group' && b.group.id === group);
}

/** Bands that touch [top, bottom) of the content. */
export function bands_between(l: Layout, top: number, bottom: number): readonly Band[] {
  return l.bands.filter((b) => b.y < bottom && b.y + b.h > top);
}

/** Groups whose tiles a view of [top, bottom) needs, those of collapsed sections included. */
export function groups_between(l: Layout, top: number, bottom: number): number[] {
  const ids: number[] = [];
  for (const b of bands_between(l, top, bottom)) {
    if (b.type === 'group') ids.push(b.group.id);
    if (b.type === 'section' && b.collapsed) ids.push(...b.groups);
  }
  return ids;
}

/** A group of Python frames with less than this share of the largest one's starts folded. */
const kPythonShare = 0.1;

/** With many threads only the busiest start open; the rest, and what is no work, are one thin line each. */
export function initial_folding(groups: readonly GroupInfo[], open_hosts = 6): Folding {
  const of_type = (type: GroupInfo['type']): GroupInfo[] =>
    groups.filter((g) => g.type === type).sort((a, b) => b.events - a.events);
  const python = of_type('python');
  const most = python[0]?.events ?? 0;
  const folded = [
    ...of_type('host').slice(open_hosts),
    ...python.filter((g, n) => n > 0 && g.events < kPythonShare * most),
    ...of_type('sync'),
    ...of_type('other'),
  ];
  return {
    sections: new Set(),
    groups: new Set(folded.map((g) => g.id)),
    deep: new Set(),
    pinned: new Set(),
  };
}

/** The folding with one section, one group, or one group's depth turned over. */
export function toggled<K extends keyof Folding>(
  folding: Folding,
  what: K,
  key: K extends 'sections' ? string : number,
): Folding {
  const set = new Set<string | number>(folding[what]);
  if (!set.delete(key)) set.add(key);
  return { ...folding, [what]: set };
}

/** The folding in which a row of a group is drawn; the same one if it is already. */
export function opened(folding: Folding, l: Layout, group: GroupInfo, row: number): Folding {
  const section = folding.pinned.has(group.id) ? kPinned : group.section;
  const without = <T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> =>
    set.has(item) ? new Set([...set].filter((one) => one !== item)) : set;
  const sections = without(folding.sections, section);
  const groups = without(folding.groups, group.id);
  if (sections !== folding.sections || groups !== folding.groups) return { ...folding, sections, groups };
  const band = band_of_group(l, group.id);
  if (band === undefined || row_top(band, row) !== undefined) return folding;
  return { ...folding, deep: new Set([...folding.deep, group.id]) };
}

export const kNothingFolded: Folding = {
  sections: new Set(),
  groups: new Set(),
  deep: new Set(),
  pinned: new Set(),
};
