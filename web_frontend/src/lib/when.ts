// When something was said, in few words; the exact time belongs into a title.

const kMinute = 60_000;
const kHour = 60 * kMinute;
const kDay = 24 * kHour;

/** "just now", "5 min ago", "3 h ago", then the day. */
export function when(at_ms: number, now_ms: number): string {
  const ago = now_ms - at_ms;
  if (ago < kMinute) return 'just now';
  if (ago < kHour) return `${Math.floor(ago / kMinute)} min ago`;
  if (ago < kDay) return `${Math.floor(ago / kHour)} h ago`;
  return new Date(at_ms).toISOString().slice(0, 10);
}

export const exactly = (at_ms: number): string =>
  `${new Date(at_ms).toISOString().replace('T', ' ').slice(0, 19)} UTC`;
