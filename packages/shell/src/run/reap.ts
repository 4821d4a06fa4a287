import { hostTable } from './capabilities.ts'
import type { KillOptions, KillReceipt } from './kill-receipt.ts'
import { killTree } from './kill-tree.ts'

/** What to store about a run when it is started. */
export interface RunRecord {
  readonly runId: string
  readonly pid: number
  readonly startTime: number | null
  readonly bootId: string | null
}

export interface ReapReceipt extends Omit<KillReceipt, 'how'> {
  /** `unverified`: the platform cannot tell whether the pid is still the recorded process, so nothing was done. */
  readonly how: KillReceipt['how'] | 'unverified'
}

/** Ends what is left of a run that an earlier host process started. After a reboot there is nothing to end. */
export async function reap(record: RunRecord, options: KillOptions = {}): Promise<ReapReceipt> {
  const { runId, pid, startTime, bootId } = record
  const currentBootId = hostTable.bootId()
  if (bootId === null || currentBootId === null) return { how: 'unverified', killed: [], left: [] }
  if (bootId !== currentBootId) return { how: 'gone', killed: [], left: [] }
  return killTree({ ...options, runId, root: { pid, startTime } })
}
