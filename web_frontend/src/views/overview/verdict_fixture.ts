// Verdicts as the contract writes them, for tests.
import type { Verdict } from '../../api/types';

export function verdict(id: Verdict['id'], more: Partial<Verdict> = {}): Verdict {
  return {
    id,
    severity: 'high',
    share_pct: 20,
    gain_ceiling_ns: 30_000_000,
    sentence: 'The main thread waits 45.3 ms a step.',
    evidence: ['6 waits, the longest 46.2 ms.'],
    advice: 'Load ahead.',
    suggestions: [{ text: 'Load ahead.', code: 'DataLoader(set, num_workers=4)' }],
    events: [7, 8],
    trust: 'A',
    ...more,
  };
}
