// Single-letter shortcuts can be switched off (WCAG 2.1.4): they get in the way of speech input. Kept in the browser.
const kKey = 'traceglass.keys';

export function keys_on(): boolean {
  try {
    return localStorage.getItem(kKey) !== 'off';
  } catch {
    return true;
  }
}

export function set_keys(on: boolean): void {
  try {
    localStorage.setItem(kKey, on ? 'on' : 'off');
  } catch {
    // No storage: the shortcuts stay.
  }
}

/** Whether a key typed here is text, and no shortcut. */
export function is_typing(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
    return true;
  return target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type);
}
