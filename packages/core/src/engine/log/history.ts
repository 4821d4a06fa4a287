import { isShownOnly, type StoredMessage, type ThreadMessage } from '@inspan/protocol'
import type { HistoryQuery } from '@inspan/protocol/driver'
import { storedMessage, type RecordType } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { inflateMessage } from './blobs.ts'
import type { ThreadLog } from './thread-log.ts'

/** Records that change what the view holds. */
const RESETS: ReadonlySet<RecordType> = new Set<RecordType>(['run.started', 'run.ended', 'rewind', 'erased', 'fork'])

/** How many messages from before the run stay in memory while it goes on. */
const KEPT_MESSAGES = 1000

/** The oldest messages, and the cursor behind them: `undefined` before the first page, `null` at the end. */
interface KeptMessages {
  readonly messages: StoredMessage[]
  next: string | null | undefined
}

/**
 * Reads the conversation as an agent sees it: sealed messages from the view, those of the open run from the state.
 * Sealed messages are read once per run, however many steps it has; the first run of a new thread reads nothing.
 */
export class ThreadHistory {
  readonly #store: Store
  readonly #log: ThreadLog
  #sealed: KeptMessages | undefined
  /** Whether the thread had no messages before the open run. */
  #isNew: boolean
  readonly #inflated = new WeakMap<ThreadMessage, StoredMessage>()

  constructor(store: Store, log: ThreadLog) {
    this.#store = store
    this.#log = log
    this.#isNew = log.state.head.seq === 0
    log.onEntry((entry) => {
      if (entry.kind !== 'record') return
      const { type } = entry.record.body
      const isReset = RESETS.has(type)
      if (isReset) this.#sealed = undefined
      if (isReset ? type !== 'run.started' : type === 'message.added' && entry.state.head.run === null) {
        this.#isNew = false
      }
    })
  }

  async *read({ after = 0, limit = Infinity, order }: HistoryQuery): AsyncGenerator<StoredMessage> {
    let count = 0
    for await (const message of order === 'oldest' ? this.#oldest(after) : this.#newest(after)) {
      if (isShownOnly(message)) continue
      if (count++ >= limit) return
      yield message
    }
  }

  async *#oldest(after: number): AsyncGenerator<StoredMessage> {
    const open = this.#log.state.messages.toArray()
    for await (const message of this.#sealedMessages(open)) if (message.order > after) yield message
    for (const message of open) if (message.order > after) yield await this.#whole(message)
  }

  /** Yields the sealed messages. Of a long thread only the beginning is cached; the rest is read again by pages. */
  async *#sealedMessages(open: readonly ThreadMessage[]): AsyncGenerator<StoredMessage> {
    const kept = (this.#sealed ??= { messages: [], next: undefined })
    for (let index = 0; index < kept.messages.length; index++) yield kept.messages[index] as StoredMessage
    let cursor = kept.next
    while (cursor !== null) {
      const page = await this.#page('oldest', open, cursor)
      // Another reader may have cached this page first.
      if (kept.next === cursor && kept.messages.length + page.messages.length <= KEPT_MESSAGES) {
        kept.messages.push(...page.messages)
        kept.next = page.next
      }
      yield* page.messages
      cursor = page.next
    }
  }

  /** Yields the newest messages first, page by page, as far back as the reader goes. */
  async *#newest(after: number): AsyncGenerator<StoredMessage> {
    const open = this.#log.state.messages.toArray()
    for (const message of open.toReversed()) if (message.order > after) yield await this.#whole(message)
    let cursor: string | null = null
    do {
      const page = await this.#page('newest', open, cursor ?? undefined)
      for (const message of page.messages) {
        if (message.order <= after) return
        yield message
      }
      cursor = page.next
    } while (cursor !== null)
  }

  async #page(
    order: HistoryQuery['order'],
    open: readonly ThreadMessage[],
    cursor: string | undefined,
  ): Promise<{ messages: StoredMessage[]; next: string | null }> {
    if (this.#isNew) return { messages: [], next: null }
    const openIds = new Set(open.map(({ id }) => id))
    const { lineage } = this.#log.state.head
    const page = await this.#store.listMessages(lineage, { order, ...(cursor === undefined ? {} : { cursor }) })
    const messages: StoredMessage[] = []
    for (const message of page.items) {
      if (!openIds.has(message.id)) messages.push(await inflateMessage(this.#store, lineage, message))
    }
    return { messages, next: page.next }
  }

  async #whole(message: ThreadMessage): Promise<StoredMessage> {
    const known = this.#inflated.get(message)
    if (known !== undefined) return known
    const inflated = await inflateMessage(this.#store, this.#log.state.head.lineage, storedMessage(message))
    this.#inflated.set(message, inflated)
    return inflated
  }
}
