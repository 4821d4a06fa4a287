import { procfs } from './procfs.ts'
import type { ProcessTable } from './procfs.ts'

/** What we can find and end on this platform. */
export interface RunCapabilities {
  /**
   * `tree`: every process of a run, also those in sessions of their own and re-parented ones (Linux with /proc).
   * `group`: only the process group the run was started in (other Unix systems).
   * `process`: only the process that was started (Windows).
   */
  readonly reach: 'tree' | 'group' | 'process'
  /** Start times and boot id are known, so that a recorded run can be reaped after a restart of the host. */
  readonly reapAfterRestart: boolean
}

export const hostTable: ProcessTable = procfs()

export const capabilities: RunCapabilities = {
  reach: hostTable.available ? 'tree' : process.platform === 'win32' ? 'process' : 'group',
  reapAfterRestart: hostTable.available,
}
