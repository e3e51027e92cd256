// Light or dark: TensorBoard's choice inside it, else the user's, else the system's.
import type { Host } from './host_bridge';

export type Theme = 'light' | 'dark';
const kKey = 'traceglass.theme';

export class ThemeChoice {
  now: Theme = $state('light');
  /** Inside TensorBoard its own switch decides, and ours is hidden. */
  readonly follows_host: boolean;
  readonly #system = matchMedia('(prefers-color-scheme: dark)');

  constructor(host: Host | undefined) {
    const hosted = host?.dark();
    this.follows_host = hosted !== undefined;
    if (host !== undefined && hosted !== undefined) {
      this.#show(hosted ? 'dark' : 'light');
      host.on_theme(() => this.#show(host.dark() === true ? 'dark' : 'light'));
      return;
    }
    this.#show(stored() ?? this.#of_system());
    this.#system.addEventListener('change', () => {
      if (stored() === undefined) this.#show(this.#of_system());
    });
  }

  toggle(): void {
    this.#show(this.now === 'dark' ? 'light' : 'dark');
    try {
      localStorage.setItem(kKey, this.now);
    } catch {
      // No storage: the choice lasts as long as the page.
    }
  }

  #of_system(): Theme {
    return this.#system.matches ? 'dark' : 'light';
  }

  #show(theme: Theme): void {
    this.now = theme;
    document.documentElement.dataset['theme'] = theme;
  }
}

function stored(): Theme | undefined {
  try {
    const value = localStorage.getItem(kKey);
    return value === 'light' || value === 'dark' ? value : undefined;
  } catch {
    return undefined;
  }
}
