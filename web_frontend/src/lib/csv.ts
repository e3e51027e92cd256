// CSV by RFC 4180, for what a table shows. A text cell that a spreadsheet would run as a formula is led by an apostrophe:
// names come from traces, and a trace is hostile text. Numbers keep full precision.

export type Cell = string | number | undefined;

export function to_csv(head: readonly string[], rows: Iterable<readonly Cell[]>): string {
  const lines = [head.map(cell).join(',')];
  for (const row of rows) lines.push(row.map(cell).join(','));
  return `${lines.join('\r\n')}\r\n`;
}

function cell(value: Cell): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return Number.isFinite(value) ? value.toString() : '';
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
