const KEY = 'inspan.theme'

export type ColorTheme = 'light' | 'dark' | 'system'

export function currentTheme(): ColorTheme {
  const kept = localStorage.getItem(KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

export function setTheme(theme: ColorTheme): void {
  localStorage.setItem(KEY, theme)
  applyTheme()
}

export function applyTheme(): void {
  const theme = currentTheme()
  const isDark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.classList.toggle('dark', isDark)
}
