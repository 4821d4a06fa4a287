import type { QueuedItem } from '@inspan/protocol/log'
import { aText } from '@inspan/protocol/internal'
import { givenFields } from '../checks/check-given.ts'
import type { MessageInput } from './conversation.ts'
import type { SessionContext } from '../sessions/session-context.ts'

export interface QueuedFollowUp {
  readonly id: string
  readonly content: string
}

/** The messages queued until the run is over. They are part of the thread's log. */
export class FollowUps {
  readonly #session: SessionContext

  constructor(session: SessionContext) {
    this.#session = session
  }

  count(): number {
    return this.#items().length
  }

  isEmpty(): boolean {
    return this.count() === 0
  }

  list(): readonly QueuedFollowUp[] {
    return this.#items().map((item) => ({ id: item.id, content: textOf(item) }))
  }

  /** Sent at once when there is no run. */
  enqueue(input: MessageInput): Promise<void> {
    return this.#session.conversation.followUp(input)
  }

  /** Puts a message before all queued ones. */
  requeue(input: MessageInput): Promise<void> {
    return this.#session.conversation.requeue(input)
  }

  /** Takes back a message, the given one or the oldest, and returns it. */
  async dequeue(options: { readonly id?: string } = {}): Promise<QueuedFollowUp | undefined> {
    const { id } = givenFields(options, 'followUps.dequeue({ id? })', {}, { id: aText })
    const item = this.#items().find((each) => id === undefined || each.id === id)
    if (item === undefined) return undefined
    await this.#drop([item.id])
    return { id: item.id, content: textOf(item) }
  }

  async clear(): Promise<void> {
    const ids = this.#items().map(({ id }) => id)
    if (ids.length > 0) await this.#drop(ids)
  }

  async #drop(ids: readonly string[]): Promise<void> {
    const facts = ids.map((itemId) => ({ type: 'queue.removed', itemId, reason: 'dropped' }) as const)
    await this.#session.binding.requireRuntime().record(facts)
  }

  #items(): readonly QueuedItem[] {
    return [...(this.#session.binding.head?.queue ?? [])].filter(({ lane }) => lane === 'follow-up')
  }
}

function textOf({ parts }: QueuedItem): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}
