// Memory blocks as a table wants them: grouped by who allocated them and how large they are, each group with its lives.

export interface BlockLike {
  readonly bytes: number;
  readonly operator: string;
  readonly allocated_ns?: number;
  readonly freed_ns?: number;
}

export interface Life {
  /** Clamped to the range; what began before or ended after it touches its edge. */
  readonly from: number;
  readonly to: number;
}

export interface BlockGroup {
  readonly operator: string;
  readonly bytes: number;
  readonly blocks: number;
  readonly total_bytes: number;
  /** Of the blocks whose beginning and end were both recorded. */
  readonly median_life_ns: number | undefined;
  readonly lives: readonly Life[];
  /** Some were there before the recording. */
  readonly before: number;
}

export function life_of(block: BlockLike, range: { readonly t0: number; readonly t1: number }): Life {
  const from = Math.max(range.t0, Math.min(range.t1, block.allocated_ns ?? range.t0));
  const to = Math.max(from, Math.min(range.t1, block.freed_ns ?? range.t1));
  return { from, to };
}

export function group_blocks(
  blocks: readonly BlockLike[],
  range: { readonly t0: number; readonly t1: number },
): BlockGroup[] {
  const groups = new Map<string, BlockLike[]>();
  for (const block of blocks) {
    const key = `${block.bytes} ${block.operator}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [block]);
    else group.push(block);
  }
  return [...groups.values()].map((members) => {
    const [first] = members as [BlockLike];
    return {
      operator: first.operator,
      bytes: first.bytes,
      blocks: members.length,
      total_bytes: first.bytes * members.length,
      median_life_ns: median(members.flatMap(whole_life)),
      lives: members.map((block) => life_of(block, range)),
      before: members.filter(({ allocated_ns }) => allocated_ns === undefined).length,
    };
  });
}

const whole_life = ({ allocated_ns, freed_ns }: BlockLike): number[] =>
  allocated_ns === undefined || freed_ns === undefined ? [] : [freed_ns - allocated_ns];

export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}
