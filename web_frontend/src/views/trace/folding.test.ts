import { describe, expect, it } from 'vitest';
import { kNothingFolded, toggled } from '../../timeline/layout';
import { folding_state, read_folding } from './folding';

describe('folding in the address', () => {
  const first = toggled(kNothingFolded, 'groups', 4);
  it('says nothing of what one starts with', () =>
    expect(folding_state(first, first)).toEqual({ fold: undefined, pin: undefined }));
  it('comes back as it was', () => {
    let folding = toggled(first, 'sections', 'host:12');
    folding = toggled(toggled(folding, 'deep', 7), 'pinned', 3);
    const state = folding_state(folding, first);
    expect(state).toEqual({ fold: ['shost:12', 'g4', 'd7'], pin: ['3'] });
    expect(read_folding(state, first)).toEqual(folding);
  });
  it('tells "nothing folded" from "not said"', () => {
    const state = folding_state(kNothingFolded, first);
    expect(read_folding(state, first)).toEqual(kNothingFolded);
    expect(read_folding({ fold: undefined, pin: undefined }, first)).toBe(first);
  });
  it('leaves out what is no track', () =>
    expect(read_folding({ fold: ['gx', 'g-1', 'd2', '?'], pin: ['evil'] }, first)).toEqual({
      ...kNothingFolded,
      deep: new Set([2]),
    }));
});
