import { createSignal } from 'solid-js';

export type Theme = 'system' | 'light' | 'dark';
export const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const KEY = 'baton.theme';
const isTheme = (text: string | null): text is Theme => THEMES.some((one) => one === text);

const stored = localStorage.getItem(KEY);
const [theme, set] = createSignal<Theme>(isTheme(stored) ? stored : 'system');
export { theme };

export function applyTheme(): void {
  if (theme() === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme();
}

export function setTheme(chosen: Theme): void {
  set(chosen);
  localStorage.setItem(KEY, chosen);
  applyTheme();
}
