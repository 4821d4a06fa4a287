import {
  applyOps,
  reviveHead,
  reviveMessage,
  shortOps,
  storedHead,
  storedMessage,
  type DeltaFrame,
  type Op,
  type Path,
  type ThreadView,
  type ViewSnapshot,
} from '@inspan/protocol/log'
import { IdList } from '@inspan/protocol/internal'
import type { Store } from '@inspan/protocol/store'
import { publicHead, publicOps, type DeltaMessage } from '@inspan/protocol/wire'
import type { FrameSource } from './frame-source.ts'
import { mergeOps } from './merge-ops.ts'
import { readTail, tailOps, type StoredTail } from './stored-tail.ts'
import { MAX_WINDOW, readWindow } from './window.ts'

/** What one or several commits changed, encoded once for all clients. */
export class Packet {
  /** The seq before the packet: it applies to a replica that has exactly this seq. */
  readonly after: number
  readonly seq: number
  readonly operations: readonly Op[]
  /** The message for clients of version 1 that watch this thread only. */
  readonly text: string
  #named: string | undefined

  constructor(after: number, seq: number, operations: readonly Op[], text: string) {
    this.after = after
    this.seq = seq
    this.operations = operations
    this.text = text
  }

  /** The same message for clients that watch several threads. Encoded when the first of them needs it. */
  named(thread: string): string {
    return (this.#named ??= `${DELTA}"thread":${JSON.stringify(thread)},${this.text.slice(DELTA.length)}`)
  }
}

/** How every delta begins. */
const DELTA = '{"type":"delta",'

const COALESCE_MS = 40

/** Every so many frames an append says how long the text was: often enough to notice a gap, seldom enough to be cheap. */
const GUARD_EVERY = 8

/** What a feed remembers for clients that reconnect or fall behind. Beyond that the store is asked. */
const TAIL_PACKETS = 2000
const TAIL_CHARS = 2_000_000

/**
 * The public state of a thread and the stream of its changes. It is a replica like that of any client, fed by the
 * frames of the engine: so a snapshot and the changes after it fit together by construction.
 */
export class ThreadFeed {
  readonly thread: string
  readonly #store: Store
  readonly #source: FrameSource
  readonly #stop: () => void
  readonly #listeners = new Set<(packet: Packet) => void>()
  /** Frames that came while the window was being read. */
  #early: DeltaFrame[] | undefined = []
  #view: ThreadView | undefined
  #due: (readonly Op[])[] = []
  #sent = 0
  #timer: NodeJS.Timeout | undefined
  #lastPacketAt = 0
  #received = 0
  #tail: Packet[] = []
  #tailChars = 0
  #tailStart = 0
  /** The seq of the last frame that removed messages. */
  #removedAt = 0
  #loading: Promise<void>

  constructor(thread: string, store: Store, source: FrameSource) {
    this.thread = thread
    this.#store = store
    this.#source = source
    this.#stop = source.onFrame((frame) => this.#receive(frame))
    this.#loading = this.#load()
    this.#loading.catch(() => undefined)
  }

  /** Resolves when snapshots can be taken. */
  ready(): Promise<void> {
    return this.#loading
  }

  /** The newest state. Call `ready` first. */
  get view(): ThreadView {
    if (this.#view === undefined) throw new Error(`Feed ${this.thread} is not ready.`)
    return this.#view
  }

  get seq(): number {
    return this.#view?.seq ?? 0
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0
  }

  get isBusy(): boolean {
    return this.#source.isBusy
  }

  subscribe(listener: (packet: Packet) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Returns the state with the newest messages. The next packet applies to it. */
  snapshot(window: number): ViewSnapshot {
    this.flush()
    const { head, messages, seq } = this.view
    const all = messages.toArray()
    const open = all.findIndex(({ state }) => state === 'open')
    // An open message is always part of it: what is appended to it must find its place.
    const from = Math.max(0, Math.min(all.length - window, open < 0 ? all.length : open))
    return { seq, head: { ...storedHead(head), seq }, messages: all.slice(from).map(storedMessage) }
  }

  /** Returns what follows a seq, or `undefined` when the feed does not remember so far back. */
  since(seq: number): readonly Packet[] | undefined {
    this.flush()
    if (seq === this.#sent) return []
    if (seq < this.#tailStart) return undefined
    const index = this.#tail.findIndex(({ after }) => after === seq)
    return index < 0 ? undefined : this.#tail.slice(index)
  }

  /** Asks the store about a seq that the feed does not remember, e.g. of a client that knew an earlier server. */
  async recall(after: number): Promise<StoredTail | undefined> {
    if (this.since(after) !== undefined) return undefined
    return readTail(this.#store, this.thread, { after, readTo: this.seq }, this.view.head.lastRun !== null)
  }

  /** Returns what follows the seq of a stored tail as ops; `undefined` when the client is better off with a snapshot. */
  recalled(tail: StoredTail, window: number): readonly Op[] | undefined {
    this.flush()
    return this.#removedAt > tail.readTo ? undefined : tailOps(this.view, tail, window)
  }

  /** Sends what has accumulated at once, e.g. before the receipt of the command that caused it. */
  flush(): void {
    const { seq } = this
    if (this.#due.length === 0 || this.#view === undefined) return
    const operations = mergeOps(this.#due)
    this.#due = []
    this.#lastPacketAt = performance.now()
    const short = shortOps(operations, this.#view)
    const message: DeltaMessage = { type: 'delta', seq, operations: short }
    const packet = new Packet(this.#sent, seq, operations, JSON.stringify(message))
    this.#sent = seq
    this.#remember(packet)
    for (const listener of this.#listeners) listener(packet)
  }

  async close(): Promise<void> {
    this.#stop()
    clearTimeout(this.#timer)
    this.#listeners.clear()
    await this.#source.close()
  }

  async #load(): Promise<void> {
    const { state } = this.#source
    const messages = await readWindow(this.#store, state)
    this.#view = {
      seq: state.head.seq,
      head: reviveHead(publicHead(state.head)),
      messages: IdList.from(messages.map(reviveMessage)),
      needsWindow: false,
    }
    this.#sent = state.head.seq
    this.#tailStart = state.head.seq
    const early = this.#early ?? []
    this.#early = undefined
    for (const frame of early) this.#receive(frame)
  }

  #receive(frame: DeltaFrame): void {
    try {
      this.#take(frame)
    } catch {
      // The replica has diverged, which must not happen. Everybody starts again from what is on disk.
      this.#view = undefined
      this.#early = []
      this.#due = []
      this.#tail = []
      this.#tailChars = 0
      this.#loading = this.#load().then(() => this.#announce())
      this.#loading.catch(() => undefined)
    }
  }

  /** Has those who watch notice how far the feed is, although no frame may follow. */
  #announce(): void {
    const { seq } = this
    const packet = new Packet(-1, seq, [], '')
    for (const listener of this.#listeners) listener(packet)
  }

  #take(frame: DeltaFrame): void {
    if (this.#early !== undefined || this.#view === undefined) {
      this.#early?.push(frame)
      return
    }
    if (frame.seq <= this.#view.seq) return
    const ops = publicOps(frame.operations)
    const isGuarded = ++this.#received % GUARD_EVERY === 0
    const { operations, view } = isGuarded
      ? guarded(this.#view, ops, frame.seq)
      : { view: applyOps(this.#view, ops, frame.seq), operations: ops }
    this.#view = trimmed(view)
    this.#due.push(operations)
    if (operations.some(({ path, type }) => type === 'remove' && path[0] === 'messages')) {
      this.#removedAt = frame.seq
      this.#reload()
    }
    if (this.#timer === undefined) this.#flushWhenDue()
  }

  /** One timer serves all flushes of its time: it stays when something is flushed before. */
  #flushWhenDue(): void {
    this.#timer = undefined
    if (this.#due.length === 0) return
    const waited = performance.now() - this.#lastPacketAt
    if (waited >= COALESCE_MS) this.flush()
    else this.#timer = setTimeout(() => this.#flushWhenDue(), COALESCE_MS - waited)
  }

  /** Reads the window again after a rewind or an erasure: older messages come into it. */
  #reload(): void {
    const before = this.#loading
    this.#loading = before.then(async () => {
      const view = this.view
      const lineage = this.#source.state.head.lineage
      const page = await this.#store.listMessages(lineage, { order: 'newest', limit: MAX_WINDOW })
      const now = this.view
      const known = new Set([...now.messages].map(({ id }) => id))
      const first = [...now.messages][0]?.order ?? Infinity
      const older = page.items.filter(({ id, order }) => !known.has(id) && (order < first || order <= view.seq))
      const messages = [...older.map(reviveMessage), ...now.messages].sort((a, b) => a.order - b.order)
      this.#view = { ...now, messages: IdList.from(messages), needsWindow: false }
    })
    this.#loading.catch(() => undefined)
  }

  #remember(packet: Packet): void {
    this.#tail.push(packet)
    this.#tailChars += packet.text.length
    if (this.#tail.length <= TAIL_PACKETS && this.#tailChars <= TAIL_CHARS) return
    // A quarter at a time, so that a packet costs the same however many are remembered.
    const dropped = this.#tail.splice(0, Math.ceil(this.#tail.length / 4))
    for (const { text } of dropped) this.#tailChars -= text.length
    this.#tailStart = dropped.at(-1)?.seq ?? this.#tailStart
  }
}

/** Notes how long each text was before something was appended, so that a client notices if it missed a piece. */
function guarded(before: ThreadView, ops: readonly Op[], seq: number): { view: ThreadView; operations: readonly Op[] } {
  let view = { ...before, seq }
  const operations = ops.map((op) => {
    const len = op.type === 'append-text' ? lengthAt(view, op.path) : undefined
    view = applyOps(view, [op])
    return len === undefined ? op : { ...op, len }
  })
  return { view, operations }
}

function lengthAt(view: ThreadView, [, messageId = '', , partId = '', field = '', ...more]: Path): number | undefined {
  if (more.length > 0) return undefined
  const part = view.messages.get(messageId)?.parts.at(Number(partId))
  const text = part === undefined ? undefined : (part as unknown as Readonly<Record<string, unknown>>)[field]
  return typeof text === 'string' ? text.length : undefined
}

/** Keeps the newest messages, dropping older ones in larger pieces. */
function trimmed(view: ThreadView): ThreadView {
  if (view.messages.length <= MAX_WINDOW * 2) return view
  const all = view.messages.toArray()
  const open = all.findIndex(({ state }) => state === 'open')
  const from = Math.min(all.length - MAX_WINDOW, open < 0 ? all.length : open)
  return { ...view, messages: IdList.from(all.slice(from)) }
}
