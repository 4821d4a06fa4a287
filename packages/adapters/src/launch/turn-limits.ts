import type { ErrorData } from '@inspan/protocol'
import { failure } from './run-failure.ts'

const DEFAULT_DEADLINE_MS = 4 * 60 * 60_000
const DEFAULT_STALL_MS = 5 * 60_000

export interface LimitOptions {
  readonly deadlineMs?: number | null
  readonly stallMs?: number | null
  readonly onStall?: 'warn' | 'abort'
}

/** How long a turn may last and be silent, and the messages for exceeding either. */
export interface TurnLimits {
  readonly deadlineMs: number | null
  readonly stallMs: number | null
  readonly late: ErrorData
  /** If it returns a `failure`, the turn has to be stopped. */
  readonly silence: (silentMs: number) => { readonly warning: string; readonly failure?: ErrorData }
}

export function turnLimits(title: string, options: LimitOptions): TurnLimits {
  const { deadlineMs = DEFAULT_DEADLINE_MS, stallMs = DEFAULT_STALL_MS, onStall = 'warn' } = options
  return {
    deadlineMs,
    stallMs,
    late: failure('deadline', `${title} did not finish within ${deadlineMs} ms and was stopped.`),
    silence: (silentMs) => {
      const message = `${title} has printed nothing for ${silentMs} ms`
      const stops = onStall === 'abort' ? { failure: failure('stall', `${message} and was stopped.`) } : {}
      return { warning: `${message}.`, ...stops }
    },
  }
}
