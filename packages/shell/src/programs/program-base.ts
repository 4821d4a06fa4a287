import { fold } from '../judge/patterns/fold.ts'

/** Returns the program that a name runs, whatever its folder and spelling. */
export function programBase(name: string): string {
  const base = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
  // To zsh `=rm` is the path of rm.
  return fold(base)
    .replace(/^=/, '')
    .replace(/\.(?:exe|cmd|bat|com)$/, '')
}
