import type { Mailbox } from '../../common/mailbox.ts'
import type { Doors } from '../threads/doors.ts'
import type { ThreadHold } from '../threads/thread-hold.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'
import type { ThreadPolicy } from '../rules/thread-policy.ts'
import type { WarmSessions } from '../turns/warm-sessions.ts'

/** What the runs of a thread need from the thread. */
export interface RunsPorts {
  /** What the door of the open run gave. */
  readonly options: ThreadRuntimeOptions
  readonly doors: Doors
  readonly mailbox: Mailbox
  readonly policy: ThreadPolicy
  readonly warm: WarmSessions
  readonly hold: () => ThreadHold
  /** Called when a run has ended or is parked, so the thread may be idle. */
  readonly onRest: () => void
}
