import { homedir } from 'node:os'
import { join } from 'node:path'

/** Returns where we keep what is the user's, or a folder in it: `INSPAN_HOME`, or else `.inspan` of the user's folder. */
export function inspanHome(...names: readonly string[]): string {
  const { INSPAN_HOME: home = '' } = process.env
  return join(home === '' ? join(homedir(), '.inspan') : home, ...names)
}
