import { describe, expect, it } from 'vitest';
import { kUntouched, moved, toggled } from '../../timeline/arrangement';
import { arrangement_state, groups_named, read_arrangement, same_arrangement } from './arrangement';

const kNothing = { fold: undefined, pin: undefined, hide: undefined, move: undefined, filter: '' };

describe('the arrangement in the address', () => {
  const first = toggled(kUntouched, 'groups', 4);
  it('says nothing of what one starts with', () => expect(arrangement_state(first, first)).toEqual(kNothing));
  it('comes back as it was', () => {
    let a = toggled(first, 'sections', 'host:12');
    a = toggled(toggled(a, 'deep', 7), 'pinned', 3);
    a = toggled(toggled(a, 'groups', 4), 'groups', 9);
    a = toggled(toggled(a, 'hidden', 'g5'), 'hidden', 'cqueue:0');
    a = { ...moved(moved(a, 5, 2), 6, undefined), filter: 'stream' };
    const state = arrangement_state(a, first);
    expect(state).toEqual({
      fold: ['shost:12', 't4', 't9', 'd7'],
      pin: ['3'],
      hide: ['g5', 'cqueue:0'],
      move: ['5.2', '6.'],
      filter: 'stream',
    });
    expect(read_arrangement(state, first)).toEqual(a);
    expect(groups_named(a, first)).toEqual([2, 3, 4, 5, 6, 7, 9]);
    expect(same_arrangement(a, first)).toBe(false);
    expect(same_arrangement(first, first)).toBe(true);
  });
  it('is short however many groups are folded at first', () => {
    const many = { ...kUntouched, groups: new Set(Array.from({ length: 500 }, (_, n) => n)) };
    expect(arrangement_state(toggled(many, 'groups', 44), many).fold).toEqual(['t44']);
  });
  it('reads links that list the folded groups', () => {
    expect(read_arrangement({ ...kNothing, fold: ['-'] }, first).groups).toEqual(new Set());
    expect(read_arrangement({ ...kNothing, fold: ['g8'] }, first).groups).toEqual(new Set([8]));
    expect(read_arrangement(kNothing, first)).toEqual(first);
  });
  it('leaves out what is no track', () =>
    expect(
      read_arrangement(
        { ...kNothing, fold: ['tx', 't-1', 'd2', '?'], pin: ['evil'], hide: ['x1'], move: ['1'] },
        first,
      ),
    ).toEqual({ ...first, deep: new Set([2]) }));
});
