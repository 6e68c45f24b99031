const stored = 'sluice-theme';
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const isTheme = (value: unknown): value is Theme => themes.some((theme) => theme === value);

export function currentTheme(): Theme {
  const value = localStorage.getItem(stored);
  return value === 'light' || value === 'dark' ? value : 'system';
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(stored, theme);
  applyTheme();
}

export function applyTheme(): void {
  const theme = currentTheme();
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}
