import {
  storedMessage,
  type HistoryQuery,
  type RecordType,
  type Store,
  type StoredMessage,
  type ThreadMessage,
} from '@evener/protocol'
import { inflateMessage } from './blobs.ts'
import type { ThreadLog } from './thread-log.ts'

/** After these the view holds something else than it did. */
const RESETS: ReadonlySet<RecordType> = new Set<RecordType>(['run.started', 'run.ended', 'rewind', 'erased', 'fork'])

/**
 * The conversation as an agent sees it: the view holds what is sealed, the state what belongs to the open run. What is
 * sealed is read once for a run, however many steps it has.
 */
export class ThreadHistory {
  readonly #store: Store
  readonly #log: ThreadLog
  #sealed: readonly StoredMessage[] | undefined
  readonly #inflated = new WeakMap<ThreadMessage, StoredMessage>()

  constructor(store: Store, log: ThreadLog) {
    this.#store = store
    this.#log = log
    log.onEntry((entry) => {
      if (entry.kind === 'record' && RESETS.has(entry.record.body.type)) this.#sealed = undefined
    })
  }

  async *read({ after = 0, limit = Infinity, order }: HistoryQuery): AsyncGenerator<StoredMessage> {
    let count = 0
    for await (const message of order === 'oldest' ? this.#oldest(after) : this.#newest(after)) {
      if (count++ >= limit) return
      yield message
    }
  }

  async *#oldest(after: number): AsyncGenerator<StoredMessage> {
    const open = this.#log.state.messages.toArray()
    this.#sealed ??= await Array.fromAsync(this.#pages('oldest', open))
    for (const message of this.#sealed) if (message.order > after) yield message
    for (const message of open) if (message.order > after) yield await this.#whole(message)
  }

  /** As far back as whoever asks wants to look, page by page. */
  async *#newest(after: number): AsyncGenerator<StoredMessage> {
    const open = this.#log.state.messages.toArray()
    for (const message of open.toReversed()) if (message.order > after) yield await this.#whole(message)
    for await (const message of this.#pages('newest', open)) {
      if (message.order <= after) return
      yield message
    }
  }

  async *#pages(order: HistoryQuery['order'], open: readonly ThreadMessage[]): AsyncGenerator<StoredMessage> {
    const openIds = new Set(open.map(({ id }) => id))
    const { lineage } = this.#log.state.head
    let cursor: string | null = null
    do {
      const page = await this.#store.listMessages(lineage, { order, ...(cursor === null ? {} : { cursor }) })
      for (const message of page.items) if (!openIds.has(message.id)) yield await inflateMessage(this.#store, message)
      cursor = page.next
    } while (cursor !== null)
  }

  async #whole(message: ThreadMessage): Promise<StoredMessage> {
    const known = this.#inflated.get(message)
    if (known !== undefined) return known
    const inflated = await inflateMessage(this.#store, storedMessage(message))
    this.#inflated.set(message, inflated)
    return inflated
  }
}
