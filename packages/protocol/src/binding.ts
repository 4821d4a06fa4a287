import type { JsonObject } from './json.ts'
import type { UsageTotals } from './usage.ts'

/** Ties a thread to one agent's native session. */
export interface Binding {
  readonly agentId: string
  /** The agent's own session id. A native session belongs to one thread only. */
  readonly nativeId: string
  /** The seq up to which the native session knows the conversation. */
  readonly syncedTo: number
  /** The native message or turn to resume at. Never the native end, which may have moved without us. */
  readonly anchor?: string
  /** The last cumulative counter seen. Needed to turn the next one into an increment. */
  readonly usageTotal?: UsageTotals
  readonly cwd?: string
  /** The program's version. */
  readonly version?: string
  /** Set by rewind and erase: the native session holds more than our lineage and needs a new anchor. */
  readonly stale?: 'rewound' | 'erased'
  /** Kept by a fork as the place to fork the native session from. It cannot be resumed itself. */
  readonly origin?: true
  readonly extra?: JsonObject
}
