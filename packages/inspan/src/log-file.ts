import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Terminal } from './command.ts'
import { homeOf } from './home.ts'

const MOST_BYTES = 1024 * 1024

export function logFile(terminal: Pick<Terminal, 'env' | 'cwd'>): string {
  return join(homeOf(terminal), 'logs', 'inspan.log')
}

/**
 * Notes what a command did, for bug reports: its name, how it ended, and errors. No prompts, no answers, no options: they
 * may hold anything. The file is kept small, and a log that cannot be written disturbs nobody.
 */
export function note(terminal: Pick<Terminal, 'env' | 'cwd'>, words: string): void {
  try {
    const file = logFile(terminal)
    // Only where there is something of ours already: `inspan help` must not create anything.
    mkdirSync(dirname(file), { mode: 0o700 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) return
  }
  try {
    const file = logFile(terminal)
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MOST_BYTES) renameSync(file, `${file}.1`)
    appendFileSync(file, `${new Date().toISOString()} ${process.pid} ${words}\n`, { mode: 0o600 })
  } catch {
    // The disk may be full, or the folder not ours.
  }
}
