import type { JsonObject } from './json.ts'
import type { UsageTotals } from './usage.ts'

/** What ties a thread to one agent's own session. */
export interface Binding {
  readonly agentId: string
  /** The agent's own session id. It belongs to one thread. */
  readonly nativeId: string
  /** Our seq up to which the native session knows the conversation. */
  readonly syncedTo: number
  /** The native message or turn to resume at: never the native head, which may have moved without us. */
  readonly anchor?: string
  /** The last cumulative counter seen, so that the next one can be turned into an increment. */
  readonly usageTotal?: UsageTotals
  readonly cwd?: string
  /** The program's version. */
  readonly version?: string
  /** Set by rewind and erase: the native session holds more than our lineage and has to be re-anchored. */
  readonly stale?: 'rewound' | 'erased'
  /** Kept by a fork as the place to fork natively from; not resumable itself. */
  readonly origin?: true
  readonly extra?: JsonObject
}
