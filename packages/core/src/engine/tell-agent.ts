import { randomUUID } from 'node:crypto'
import type { Capabilities, RecordBody } from '@evener/protocol'
import type { ActiveTurn } from './active-run.ts'
import type { Mailbox } from './mailbox.ts'
import type { ThreadLog } from './thread-log.ts'

export interface TellPorts {
  readonly log: ThreadLog
  readonly mailbox: Mailbox
  /** The turn still has the floor. */
  readonly isActive: () => boolean
}

/** Says what was steered to an agent that is a program of its own, in the way it can be said. */
export async function tellAgent(
  active: ActiveTurn,
  capabilities: Capabilities,
  itemId: string,
  { log, mailbox, isActive }: TellPorts,
): Promise<void> {
  const session = await active.opened.promise
  const item = log.state.head.queue.get(itemId)
  if (session === undefined || item === undefined || !isActive()) return
  const messageId = item.messageId ?? randomUUID()
  const told = { type: 'message.added', messageId, role: 'user', parts: item.parts } as const
  const heard: RecordBody = { type: 'queue.removed', itemId, reason: 'heard' }
  const note = (how: string): RecordBody => {
    const text = `What was said while it worked was ${how === 'restart' ? 'said in a new turn' : how}.`
    return { type: 'note', kind: 'info', text, data: { steer: how, messageId } }
  }
  if (capabilities.steer === 'restart' || session.steer === undefined) {
    active.next = { agentId: active.agent.driver.id, input: item.parts, before: [heard, note('restart')] }
    await session.cancel()
    return
  }
  const message = { id: messageId, role: 'user', order: log.state.head.seq, at: Date.now(), state: 'done' } as const
  const how = await session.steer({ ...message, parts: item.parts })
  const origin = { run: active.runId, turn: active.turnId }
  await mailbox.post(async () => void (await log.commit([heard, told, note(how)], origin)))
}
