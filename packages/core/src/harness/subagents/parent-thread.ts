import type { Grants, PermissionRules } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'
import type { RuntimeAgents, ThreadRuntime } from '../../engine/index.ts'
import type { ThreadServices } from '../agents/mode-agents.ts'
import type { HarnessCore } from '../harness-core.ts'
import type { ThreadGuest } from '../threads/open-threads.ts'
import type { HarnessDoor } from '../threads/thread-opening.ts'
import type { NotificationInput } from '../signals/notification.ts'

/** How the door to a subagent's thread differs from that of a session. */
export interface ChildDoor {
  readonly door: string
  readonly doorKey: string
  readonly agents: (services: ThreadServices) => RuntimeAgents
  /** The rules and grants of its parent hold there, whatever sessions have the parent open. */
  readonly rules: () => PermissionRules
  readonly grants: () => Grants
  readonly emit: (event: HarnessEvent) => void
}

/** The thread that starts subagents. */
export interface ParentThread {
  readonly core: HarnessCore
  readonly threadId: string
  readonly guests: ReadonlySet<ThreadGuest>
  /** The rules and grants that hold there besides those of the thread itself. */
  readonly rules: () => PermissionRules
  readonly grants: () => Grants
  readonly runtime: () => ThreadRuntime
  readonly emit: (event: HarnessEvent) => void
  readonly doorTo: (threadId: string, child: ChildDoor) => HarnessDoor
  /** Tells the agent of the thread something, at once or by starting a run. */
  readonly notify: (notification: NotificationInput) => Promise<unknown>
}
