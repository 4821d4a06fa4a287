import { homedir } from 'node:os'
import { join } from 'node:path'

/** Returns a folder of ours in the user's: where `INSPAN_HOME` is, or in `.inspan`. */
export function inspanHome(name: string): string {
  return join(process.env['INSPAN_HOME'] ?? join(homedir(), '.inspan'), name)
}
