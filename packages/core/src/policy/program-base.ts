import { fold } from './fold.ts'

/** What a name runs wherever it lies and however it is spelled. */
export function programBase(name: string): string {
  const base = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
  // To zsh `=rm` is the path of rm.
  return fold(base)
    .replace(/^=/, '')
    .replace(/\.(?:exe|cmd|bat|com)$/, '')
}
