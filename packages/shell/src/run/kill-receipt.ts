import type { ProcessRef } from './membership.ts'

export interface KillOptions {
  /** The first signal, which lets processes exit by themselves. Default: SIGTERM. */
  readonly signal?: NodeJS.Signals
  /** How long processes have before SIGKILL. 0 kills at once. Default: 3000. */
  readonly graceMs?: number
}

export interface KillReceipt {
  /** `gone`: nothing was alive. `clean`: all ended without SIGKILL. `killed`: SIGKILL was needed. */
  readonly how: 'clean' | 'killed' | 'gone'
  /** The processes that got SIGKILL. */
  readonly killed: readonly ProcessRef[]
  /** The processes that are still alive: another user's, or stuck in the kernel. */
  readonly left: readonly ProcessRef[]
}

export const defaultGraceMs = 3000
/** Only a process that is stuck in the kernel survives SIGKILL for so long. */
export const giveUpMs = 10_000

export function receipt(killed: readonly ProcessRef[], left: readonly ProcessRef[]): KillReceipt {
  return { how: killed.length + left.length > 0 ? 'killed' : 'clean', killed: killed.map(toRef), left: left.map(toRef) }
}

export function toRef({ pid, startTime, name }: ProcessRef): ProcessRef {
  return { pid, startTime, name }
}
