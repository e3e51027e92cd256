// Input shapes as people read them: `[[16, 16, 559, 64], [1, 1, 559, 64], [], []]` → `16×16×559×64, 1×1×559×64`. What has no
// dimensions (scalars, options) is left out at the end and a dot between. Text that is no list of lists stays as it is.

export function shapes_text(json: string | undefined): string {
  if (json === undefined || json === '') return '';
  let list: unknown;
  try {
    list = JSON.parse(json);
  } catch {
    return json;
  }
  if (!Array.isArray(list)) return json;
  const parts = list.map(shape);
  while (parts.at(-1) === '·') parts.pop();
  return parts.join(', ');
}

function shape(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number') return value.toString();
  if (!Array.isArray(value)) return '·';
  if (value.length === 0) return '·';
  // A list of tensors is a list of shapes.
  if (value.some(Array.isArray)) return `(${value.map(shape).join(', ')})`;
  return value.join('×');
}
