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
  const isDark = theme === 'dark' || (theme === 'system' && systemDark().matches)
  document.documentElement.classList.toggle('dark', isDark)
}

/** Systems change between light and dark at dusk, while the page is open. Returns a function that ends it. */
export function followSystemTheme(): () => void {
  const system = systemDark()
  applyTheme()
  system.addEventListener('change', applyTheme)
  return () => system.removeEventListener('change', applyTheme)
}

function systemDark(): MediaQueryList {
  return matchMedia('(prefers-color-scheme: dark)')
}
