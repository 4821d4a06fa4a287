import { isShownOnly, type StoredMessage, type ThreadMessage } from '@inspan/protocol'
import type { MemoryContent } from '@inspan/protocol/driver'
import { storedMessage, type OmPointer, type RecordType } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { inflateMessage } from '../log/blobs.ts'
import type { ThreadLog } from '../log/thread-log.ts'
import { readMemory } from './memory-content.ts'
import { shortenMessage } from './shorten-message.ts'
import { standingMessages } from './standing-messages.ts'
import { allItems } from '../../common/all-items.ts'

/** Records after which messages that are already known may have changed or gone. */
const RESETS: ReadonlySet<RecordType> = new Set<RecordType>(['rewind', 'erased', 'fork'])

const FIRST_PAGE = 50
const FURTHER_PAGES = 500

interface MessageSoFar {
  readonly from: ThreadMessage
  readonly message: StoredMessage
}

/**
 * The messages that the model sees, kept between steps and runs: each is read once, from the end of the thread back to
 * where memory or a cut begins to stand for the rest, and stays the same object until it changes.
 */
export class ContextMessages {
  readonly #store: Store
  readonly #log: ThreadLog
  /** Ended messages, oldest first. */
  #sealed: StoredMessage[] = []
  /** Whether the messages before those in `#written` have to be read. */
  #isStale: boolean
  /** Messages that were written since, by id: those of the open run, and those that have just ended. */
  readonly #written = new Map<string, StoredMessage>()
  /** The seq up to which `#sealed` is without messages, because they were not asked for. */
  #from = 0
  /** The messages of the open run, as the state has them and as they are sent. */
  #open: MessageSoFar[] = []
  #memory: { readonly blob: string; readonly content: MemoryContent | undefined } | undefined
  #standing: readonly StoredMessage[] = []
  readonly #kept = new Map<string, StoredMessage>()
  readonly #shortened = new WeakMap<StoredMessage, { readonly chars: number; readonly message: StoredMessage }>()

  constructor(store: Store, log: ThreadLog) {
    this.#store = store
    this.#log = log
    // A new thread has nothing to read.
    this.#isStale = log.state.head.seq > 0
    log.onWritten((messages) => {
      for (const message of messages) this.#written.set(message.id, message)
    })
    log.onEntry((entry) => {
      if (entry.kind === 'record' && RESETS.has(entry.record.body.type)) this.#forget()
    })
  }

  get pointer(): OmPointer | null {
    return this.#log.state.head.om
  }

  /** Returns what memory holds of the thread. */
  async memory(): Promise<MemoryContent | undefined> {
    const { pointer } = this
    if (pointer?.blob === undefined) return undefined
    const { blob } = pointer
    if (this.#memory?.blob !== blob)
      this.#memory = { blob, content: await readMemory(this.#store, this.#log.state.head.lineage, pointer) }
    return this.#memory.content
  }

  /** Returns the messages after the pointer as they are stored, oldest first. */
  async raw(): Promise<StoredMessage[]> {
    const { coversTo = 0 } = this.pointer ?? {}
    return [...(await this.#ended(coversTo)), ...(await this.#running(coversTo))]
  }

  /** Returns the covered messages that are sent nevertheless. */
  async kept(): Promise<StoredMessage[]> {
    return this.#keptOnes(this.pointer?.keeps ?? [])
  }

  /** Returns the messages as they are sent. */
  async sent(): Promise<readonly StoredMessage[]> {
    const { pointer } = this
    const { coversTo = 0, keeps, shortened } = pointer ?? {}
    const ended = await this.#ended(coversTo)
    const running = await this.#running(coversTo)
    if (pointer === null) return ended.concat(running)
    const standing = this.#same(standingMessages(pointer, (await this.memory())?.text))
    const kept = keeps === undefined ? [] : await this.#keptOnes(keeps)
    const all = [...standing, ...kept].concat(ended, running)
    return shortened === undefined ? all : all.map((message) => this.#short(message, shortened[message.id]))
  }

  /** Returns the messages as they would be sent with another pointer that covers no less than the present one. */
  async sentWith(pointer: OmPointer, memory: string): Promise<readonly StoredMessage[]> {
    const { coversTo, keeps = [], shortened = {} } = pointer
    const raw = (await this.raw()).filter(({ order }) => order > coversTo)
    const all = [...standingMessages(pointer, memory), ...(await this.#keptOnes(keeps)), ...raw]
    return all.map((message) => this.#short(message, shortened[message.id]))
  }

  #forget(): void {
    this.#sealed = []
    this.#isStale = true
    this.#written.clear()
    this.#from = 0
    this.#open = []
    this.#kept.clear()
    this.#memory = undefined
  }

  async #ended(coversTo: number): Promise<StoredMessage[]> {
    if (coversTo < this.#from) this.#forget()
    if (this.#isStale) await this.#read(coversTo)
    await this.#takeWritten()
    const first = this.#sealed.findIndex(({ order }) => order > coversTo)
    if (coversTo > this.#from && first !== 0) {
      this.#sealed = first === -1 ? [] : this.#sealed.slice(first)
      this.#from = coversTo
    }
    return this.#sealed
  }

  /** Reads backwards from the end to what is covered. */
  async #read(coversTo: number): Promise<void> {
    const { head, messages } = this.#log.state
    const openIds = new Set([...messages].map(({ id }) => id))
    const found: StoredMessage[] = []
    const stored = allItems((from) => {
      const limit = from.cursor === undefined ? FIRST_PAGE : FURTHER_PAGES
      return this.#store.listMessages(head.lineage, { order: 'newest', limit, ...from })
    })
    for await (const message of stored) {
      if (message.order <= coversTo) break
      if (isShownOnly(message)) continue
      if (!openIds.has(message.id)) found.push(await inflateMessage(this.#store, this.#log.state.head.lineage, message))
      // Its process may have died: a message of the open run is not written again when the run goes on and ends.
      else if (!this.#written.has(message.id)) this.#written.set(message.id, message)
    }
    this.#sealed = found.reverse()
    this.#from = coversTo
    this.#isStale = false
  }

  /** Adds the messages that have ended since the last look. Nobody else writes this thread while it is ours. */
  async #takeWritten(): Promise<void> {
    const open = this.#log.state.messages
    const ended = [...this.#written.values()].filter(({ id }) => open.get(id) === undefined)
    for (const message of ended.sort((a, b) => a.order - b.order)) {
      this.#written.delete(message.id)
      if (message.order <= this.#from || isShownOnly(message)) continue
      const whole = await inflateMessage(this.#store, this.#log.state.head.lineage, message)
      const at = this.#sealed.findLastIndex(({ order }) => order <= message.order)
      const known = this.#sealed[at]
      if (known?.id === message.id) this.#sealed[at] = isSame(known, whole) ? known : whole
      else this.#sealed.splice(at + 1, 0, whole)
    }
  }

  async #running(coversTo: number): Promise<StoredMessage[]> {
    const open: MessageSoFar[] = []
    let index = 0
    for (const from of this.#log.state.messages) {
      const known = this.#open[index++]
      open.push(
        known?.from === from
          ? known
          : { from, message: await inflateMessage(this.#store, this.#log.state.head.lineage, storedMessage(from)) },
      )
    }
    this.#open = open
    const sent = open.flatMap(({ message }) => (isShownOnly(message) ? [] : [message]))
    return coversTo === 0 ? sent : sent.filter(({ order }) => order > coversTo)
  }

  /** Returns the objects of the last time where nothing has changed. */
  #same(standing: readonly StoredMessage[]): readonly StoredMessage[] {
    const isSame = JSON.stringify(standing) === JSON.stringify(this.#standing)
    if (!isSame) this.#standing = standing
    return this.#standing
  }

  async #keptOnes(ids: readonly string[]): Promise<StoredMessage[]> {
    const found: StoredMessage[] = []
    for (const id of ids) {
      const open = this.#open.find(({ from }) => from.id === id)?.message
      const message = open ?? this.#kept.get(id) ?? (await this.#lookUp(id))
      if (message === undefined) continue
      this.#kept.set(id, message)
      found.push(message)
    }
    return found
  }

  async #lookUp(id: string): Promise<StoredMessage | undefined> {
    const message = await this.#store.getMessage(this.#log.state.head.lineage, id)
    return message === null ? undefined : inflateMessage(this.#store, this.#log.state.head.lineage, message)
  }

  #short(message: StoredMessage, chars: number | undefined): StoredMessage {
    if (chars === undefined) return message
    const known = this.#shortened.get(message)
    if (known?.chars === chars) return known.message
    const shorter = shortenMessage(message, chars)
    this.#shortened.set(message, { chars, message: shorter })
    return shorter
  }
}

function isSame(a: StoredMessage, b: StoredMessage): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
