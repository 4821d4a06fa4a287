import type { QueuedItem } from '@evener/protocol'
import type { Conversation, MessageInput } from './conversation.ts'
import type { SessionBinding } from './session-binding.ts'
import { told } from './told.ts'

export interface QueuedFollowUp {
  readonly id: string
  readonly content: string
}

/** What is to be said when the run is over. It stands in the thread's log. */
export class FollowUps {
  readonly #binding: SessionBinding
  readonly #conversation: Conversation

  constructor(binding: SessionBinding, conversation: Conversation) {
    this.#binding = binding
    this.#conversation = conversation
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
    return told(this.#conversation.followUp(input), (event) => this.#binding.emit(event))
  }

  /** Takes one back: the given one, or the oldest. */
  async dequeue({ id }: { readonly id?: string } = {}): Promise<QueuedFollowUp | undefined> {
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
    await this.#binding.requireRuntime().record(facts)
  }

  #items(): readonly QueuedItem[] {
    return (this.#binding.head?.queue ?? []).filter(({ lane }) => lane === 'follow-up')
  }
}

function textOf({ parts }: QueuedItem): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}
