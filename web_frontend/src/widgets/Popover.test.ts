import { fireEvent, render, screen } from '@testing-library/svelte';
import { createRawSnippet } from 'svelte';
import { expect, it } from 'vitest';
import Popover from './Popover.svelte';

const props = {
  label: 'Report',
  face: createRawSnippet(() => ({ render: () => '<span>open me</span>' })),
  children: createRawSnippet(() => ({ render: () => '<p>inside</p>' })),
};

it('opens on a click; Escape closes it and returns the focus', async () => {
  render(Popover, props);
  const button = screen.getByRole('button', { name: 'Report' });
  expect(screen.queryByText('inside')).toBeNull();
  await fireEvent.click(button);
  expect(button.getAttribute('aria-expanded')).toBe('true');
  await fireEvent.keyDown(screen.getByText('inside'), { key: 'Escape' });
  expect(screen.queryByText('inside')).toBeNull();
  expect(document.activeElement).toBe(button);
});

it('closes when something else is pressed', async () => {
  render(Popover, props);
  await fireEvent.click(screen.getByRole('button', { name: 'Report' }));
  await fireEvent.pointerDown(document.body);
  expect(screen.queryByText('inside')).toBeNull();
});
