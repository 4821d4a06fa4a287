import type { Mailbox } from '../threads/mailbox.ts'
import type { ThreadHold } from '../threads/thread-hold.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'
import type { ThreadPolicy } from '../rules/thread-policy.ts'
import type { WarmSessions } from '../turns/warm-sessions.ts'

/** What the runs of a thread need of it. */
export interface RunsPorts {
  readonly options: ThreadRuntimeOptions
  readonly mailbox: Mailbox
  readonly policy: ThreadPolicy
  readonly warm: WarmSessions
  readonly hold: () => ThreadHold
  /** A run has ended or only waits: there may be nothing left to do. */
  readonly onRest: () => void
}
