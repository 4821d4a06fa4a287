import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { InspanError } from '@inspan/protocol'
import type { Terminal } from './command.ts'

/** Returns the folder for everything that inspan keeps: INSPAN_HOME, else `.inspan` in the user's own. */
export function homeOf(terminal: Pick<Terminal, 'cwd' | 'env'>): string {
  const { HOME, INSPAN_HOME, USERPROFILE } = terminal.env
  if (INSPAN_HOME !== undefined && INSPAN_HOME !== '') return resolve(terminal.cwd, INSPAN_HOME)
  const home = HOME ?? USERPROFILE ?? homedir()
  if (isAbsolute(home)) return join(home, '.inspan')
  // Relative to nothing, it would be a folder in whatever project this is.
  throw new InspanError('not-found', 'There is no home folder to keep conversations in: HOME is empty.', {
    hint: 'Set HOME, or INSPAN_HOME to a folder for them, or name a file with --db.',
  })
}
