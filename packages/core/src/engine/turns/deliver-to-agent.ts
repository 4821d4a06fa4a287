import type { Capabilities } from '@inspan/protocol/driver'
import type { RecordBody } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import type { ActiveTurn } from './active-run.ts'
import { inflateParts } from '../log/blobs.ts'
import type { Mailbox } from '../../common/mailbox.ts'
import { heardBodies } from '../runs/run-queue.ts'
import type { ThreadLog } from '../log/thread-log.ts'

export interface DeliveryPorts {
  readonly store: Store
  readonly log: ThreadLog
  readonly mailbox: Mailbox
  readonly newId: () => string
  /** Whether the turn is still the active one. */
  readonly isActive: () => boolean
}

const DELIVERED = {
  injected: 'A message sent during the run was delivered to the agent.',
  queued: 'A message sent during the run was queued by the agent.',
  restart: 'A message sent during the run starts a new turn of the agent.',
} as const

/** Passes a steered message to a foreign agent, by the way its capabilities allow. */
export async function deliverToAgent(
  active: ActiveTurn,
  capabilities: Capabilities,
  itemId: string,
  { store, log, mailbox, newId, isActive }: DeliveryPorts,
): Promise<void> {
  const session = await active.opened.promise
  const item = log.state.head.queue.get(itemId)
  const parts = await inflateParts(store, log.state.head.lineage, item?.parts ?? [])
  // An agent that is cancelled or finished would not answer: the message stays queued.
  const isOver = active.abort.signal.aborted || active.recorder.isFinished || !isActive()
  if (session === undefined || item === undefined || isOver) return
  const messageId = item.messageId ?? newId()
  const said = { ...item, messageId }
  const note = (how: keyof typeof DELIVERED): RecordBody => {
    return { type: 'note', kind: 'info', text: DELIVERED[how], data: { steer: how, messageId } }
  }
  if (capabilities.steer === 'restart' || session.steer === undefined) {
    const steered = [...(active.next?.steered ?? []), said]
    active.next = { agentId: active.agent.driver.id, input: [], before: [note('restart')], steered }
    await session.cancel()
    return
  }
  const message = { id: messageId, role: 'user', order: log.state.head.seq, at: Date.now(), state: 'done' } as const
  const how = await session.steer({ ...message, parts })
  const origin = { run: active.runId, turn: active.turnId }
  await mailbox.post(async () => {
    // The run may be over by now, and the message said in the next run.
    if (log.state.head.queue.has(itemId)) await log.commit([...heardBodies(said, newId), note(how)], origin)
  })
}
