import type { HarnessEvent } from '@inspan/protocol/harness'
import type { Door, RuntimeAgents, ThreadRuntime } from '../../engine/index.ts'
import type { ThreadEquipment } from '../agents/mode-agents.ts'
import type { HarnessCore, ThreadViewer } from '../harness-core.ts'
import type { NotificationInput } from '../signals/notification.ts'

/** How the door to a subagent's thread differs from that of a session. */
export interface ChildDoor {
  readonly door: string
  readonly doorKey: string
  readonly agents: (equipment: ThreadEquipment) => RuntimeAgents
}

/** The door to a subagent's thread. */
export interface ChildThreadDoor {
  readonly door: Door
  begin(runtime: ThreadRuntime): void
  close(): void
  settled(): Promise<void>
}

/** The thread that starts subagents. */
export interface ParentThread {
  readonly core: HarnessCore
  readonly threadId: string
  readonly viewers: ReadonlySet<ThreadViewer>
  readonly runtime: () => ThreadRuntime
  readonly emit: (event: HarnessEvent) => void
  readonly doorTo: (threadId: string, viewers: ReadonlySet<ThreadViewer>, child: ChildDoor) => ChildThreadDoor
  /** Tells the agent of the thread something, at once or by starting a run. */
  readonly notify: (notification: NotificationInput) => Promise<unknown>
}
