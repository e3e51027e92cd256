// Copying text. The clipboard API exists only on https and localhost; a page served from a plain address of the network uses
// the old way.
export async function copy_text(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'visually-hidden';
    area.readOnly = true;
    document.body.append(area);
    const before = document.activeElement;
    area.select();
    // Deprecated, and the only way where there is no secure context.
    const done = (document as { execCommand(command: string): boolean }).execCommand('copy');
    area.remove();
    if (before instanceof HTMLElement) before.focus();
    return done;
  }
}

/** Hands text to the browser as a file. The address of a blob is same-origin, and nothing is fetched. */
export function download_text(name: string, text: string, type = 'text/csv'): void {
  download(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
