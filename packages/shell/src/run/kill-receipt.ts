import type { ProcessRef } from './membership.ts'

export interface KillOptions {
  /** The polite signal. Default SIGTERM. */
  readonly signal?: NodeJS.Signals
  /** How long they have to go by themselves before SIGKILL. 0 kills at once. Default 3000. */
  readonly graceMs?: number
}

export interface KillReceipt {
  /** `gone`: nothing was alive. `clean`: all went without SIGKILL. `killed`: SIGKILL was needed. */
  readonly how: 'clean' | 'killed' | 'gone'
  /** Whom SIGKILL was sent to. */
  readonly killed: readonly ProcessRef[]
  /** Who is alive in spite of that: another user's process, or one that is stuck in the kernel. */
  readonly left: readonly ProcessRef[]
}

export const defaultGraceMs = 3000
/** Nothing survives SIGKILL for so long unless it is stuck in the kernel. */
export const giveUpMs = 10_000

export function receipt(killed: readonly ProcessRef[], left: readonly ProcessRef[]): KillReceipt {
  return { how: killed.length + left.length > 0 ? 'killed' : 'clean', killed: killed.map(toRef), left: left.map(toRef) }
}

export function toRef({ pid, startTime, name }: ProcessRef): ProcessRef {
  return { pid, startTime, name }
}
