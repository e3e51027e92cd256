import { render, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ModuleRow } from '../../api/types';
import { make_tree } from '../../lib/tree';
import Icicle from './Icicle.svelte';

/** Each module calls the next: all of the host's time goes through every level. */
const nested = (levels: number): ModuleRow[] =>
  Array.from({ length: levels }, (_, id) => ({
    id,
    ...(id === 0 ? {} : { parent: id - 1 }),
    depth: id,
    name: `Block_${id}`,
    calls: 1,
    host_self_ns: 1,
    host_total_ns: levels - id,
    device_self_ns: 0,
    device_total_ns: 0,
    backward_host_self_ns: 0,
    backward_host_total_ns: 0,
    backward_device_self_ns: 0,
    backward_device_total_ns: 0,
    operators: 0,
  }));
const shown = async (levels: number, root?: number) => {
  const on_root = vi.fn();
  render(Icicle, {
    tree: make_tree(nested(levels)),
    root,
    bars: 'host',
    total: levels,
    on_root,
    href: () => '#',
    note: '',
    announce: () => undefined,
  });
  await tick();
  return on_root;
};
// Nothing is laid out here.
beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(1000);
});
afterEach(() => {
  vi.restoreAllMocks();
});
const kDeeper = 'Further levels lie below: click a box of the last to see them.';

it('shows the outermost of a thousand levels, says that there are more, and leads to them', async () => {
  const on_root = await shown(1000);
  expect(screen.getByText(kDeeper)).toBeTruthy();
  const boxes = screen.getAllByRole('button', { name: /^Block_/ });
  expect(boxes).toHaveLength(14);
  boxes.at(-1)?.click();
  expect(on_root).toHaveBeenCalledExactlyOnceWith(13);
});

it('of a box far down shows the levels below, by a path of its last few', async () => {
  await shown(1000, 500);
  expect(screen.getByText(kDeeper)).toBeTruthy();
  expect(screen.getAllByRole('button', { name: /^Block_/ })[0]?.getAttribute('aria-label')).toMatch(
    /^Block_500,/,
  );
  expect(screen.getAllByRole('link').map(({ textContent }) => textContent)).toEqual([
    'all',
    ...Array.from({ length: 7 }, (_, i) => `Block_${493 + i}`),
  ]);
});

it('says nothing of further levels where the last is shown', async () => {
  await shown(1000, 990);
  expect(screen.queryByText(kDeeper)).toBeNull();
});
