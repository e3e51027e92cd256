import { render, screen, within } from '@testing-library/svelte';
import { describe, expect, it, vi } from 'vitest';
import type { Verdict } from '../../api/types';
import type { ViewContext } from '../context';
import { verdict } from './verdict_fixture';
import Verdicts from './Verdicts.svelte';

const show_report = vi.fn();
const ctx = (views: string[] = ['trace']): ViewContext =>
  ({
    meta: { views, trust: { grade: 'C', sentence: 'some of the file was left out' } },
    href: (patch: object) => `#${JSON.stringify(patch)}`,
    show_report,
  }) as unknown as ViewContext;
const shown = (verdicts: Verdict[], all = false, given = ctx()) =>
  render(Verdicts, { ctx: given, verdicts, all, whole: 'step' });
const plain = (element: HTMLElement): string => element.textContent.replace(/\s+/g, ' ').trim();

describe('a card', () => {
  it('says what was seen, what to try, the ceiling and where it shows', () => {
    shown([verdict('data_loading')]);
    const card = screen.getByRole('listitem', { name: /Data loading/ });
    expect(plain(card)).toMatch(/waits 45.3 ms a step.*Load ahead.*up to 30.0 ms.*20.0\s% of the step/);
    const link = within(card).getByRole('link', { name: 'Show in trace: data loading' });
    expect(link.getAttribute('href')).toBe('#{"view":"trace","verdict":"data_loading","sel":7}');
    const guide = within(card).getByRole('link', { name: 'How to find and fix this' });
    expect(guide.getAttribute('href')).toBe('guide.html#data-loading');
    expect(within(card).getByText('trust A')).toBeTruthy();
    // Nothing was lost: nothing to look up.
    expect(within(card).queryByRole('button', { name: /trust/ })).toBeNull();
  });
  it('says why it is trusted less, and leads to the report', () => {
    shown([verdict('memory', { trust: 'C' })]);
    screen.getByRole('button', { name: 'trust C: some of the file was left out' }).click();
    expect(show_report).toHaveBeenCalledOnce();
  });
  it('without a ceiling says so; without events or a trace view leads nowhere', () => {
    const given = verdict('inefficient_operators', { events: [] });
    delete given.gain_ceiling_ns;
    delete given.share_pct;
    shown([given]);
    screen.getByText('gain unknown');
    expect(screen.queryByRole('link', { name: /Show in trace/ })).toBeNull();
  });
});

it('folds what does not fire, and says what nobody could judge', () => {
  shown([
    verdict('data_loading'),
    verdict('communication', { severity: 'ok', sentence: 'One rank.' }),
    verdict('memory', { severity: 'unknown', sentence: 'Record with profile_memory=True.' }),
  ]);
  screen.getByText(/communication/, { selector: 'summary' });
  expect(screen.getByText(/profile_memory=True/)).toBeTruthy();
});

it('opens the first three, and the rest on demand', async () => {
  const ids: Verdict['id'][] = [
    'data_loading',
    'synchronization',
    'small_kernels',
    'memory',
    'low_utilization',
  ];
  shown(ids.map((id) => verdict(id)));
  expect(screen.getAllByText(/up to/, { selector: 'p' })).toHaveLength(3);
  screen.getByRole('button', { name: /2\ssmaller ones: memory, low utilisation, up to 30.0/ }).click();
  await vi.waitFor(() => expect(screen.getAllByText(/up to/, { selector: 'p' })).toHaveLength(5));
});

it('says that nothing is worth a change', () => {
  shown([verdict('memory', { severity: 'ok' })]);
  screen.getByText(/Nothing that was checked/);
});
