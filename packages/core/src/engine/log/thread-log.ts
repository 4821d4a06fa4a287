import { InspanError, type JsonValue, type StoredMessage } from '@inspan/protocol'
import { noFaults, type FaultPoints } from '@inspan/protocol/driver'
import {
  BARRIER_TYPES,
  isSealedPart,
  RECORD_VERSIONS,
  reducePiece,
  reduceShown,
  type BatchEvent,
  type DeltaFrame,
  type LogRecord,
  type RecordBody,
  type SealedPart,
  type ThreadState,
} from '@inspan/protocol/log'
import type { Append, CommandOutcome, Fence, NewBlob, Store } from '@inspan/protocol/store'
import { assertJson } from '../checks/assert-json.ts'
import type { Extracted, UnplacedBlob } from './blobs.ts'
import { commitSafely } from './commit.ts'
import { Emitter, type ListenerFailure } from '../../common/emitter.ts'
import { FLUSH_INTERVAL_MS, sharedTicker, type Flushable, type FlushTicker } from './flush-ticker.ts'
import { loadState } from './load-state.ts'
import { mixedPart, partKey, textOf, wholeOf, type PendingBatch } from './pending-batch.ts'
import { assertOrigin, assertSafeIds, prepared, type RecordOrigin } from './record-body.ts'
import { HeldPieces } from './held-pieces.ts'
import { isRedacted, REDACTED, RecordRedactor } from './record-redactor.ts'
import type { Redactor } from './redactor.ts'
import { foldWithViews } from './view-writes.ts'

/** A batch is written early when it has grown to this many characters. */
const BATCH_CHARS = 4096

/** How soon the first delta is written: nobody sees the delay. */
const FIRST_FLUSH_MS = 2

/**
 * What listeners in this process see, in one total order. `live` records are not on disk yet. `others`: written by
 * another owner and emitted when the thread is ours again; that owner has acted on it already.
 */
export type LogEntry =
  | { readonly kind: 'delta'; readonly event: BatchEvent; readonly state: ThreadState }
  | {
      readonly kind: 'record'
      readonly record: LogRecord
      readonly live: boolean
      readonly others?: true
      readonly state: ThreadState
    }

/** Says that something was shown that could not be written. */
export interface ThreadLoss {
  /** The state that is on disk. */
  readonly onDisk: ThreadState
  readonly error: InspanError
}

export interface ThreadLogOptions {
  readonly store: Store
  readonly stream: string
  readonly fence: Fence
  readonly now?: () => number
  readonly faults?: FaultPoints
  readonly ticker?: FlushTicker
  readonly onListenerFailure?: ListenerFailure
  /**
   * Removes what must not be recorded or shown from what agents and tools say. If it throws, the text is withheld.
   * Deltas are held back until they can be redacted.
   */
  readonly redact?: Redactor
  /** Called once when the log can no longer be written. */
  readonly onFailure?: (error: InspanError) => void
}

/** What is written in the same transaction as the records. */
export interface CommitExtras {
  readonly outcomes?: readonly CommandOutcome[]
  readonly blobs?: readonly UnplacedBlob[]
  readonly thread?: Append['thread']
}

/**
 * The only writer of a thread's stream.
 *
 * Deltas and other records that nothing depends on are shown to listeners at once and written together, at most 40 ms
 * later; barrier records are written first and shown afterwards. Only what is written leaves the process as a frame.
 */
export class ThreadLog implements Flushable {
  readonly stream: string
  readonly #store: Store
  readonly #fence: Fence
  readonly #now: () => number
  readonly #faults: FaultPoints
  readonly #ticker: FlushTicker
  #redactor: RecordRedactor | undefined
  #isMarked = false
  readonly #held = new HeldPieces()
  readonly #onFailure: (error: InspanError) => void
  readonly #entries: Emitter<LogEntry>
  readonly #frames: Emitter<DeltaFrame>
  readonly #written: Emitter<readonly StoredMessage[]>

  #committed: ThreadState
  #live: ThreadState
  #nextSeq: number
  #pending: LogRecord[] = []
  /** The seqs of pending records that listeners have seen already. */
  #shown = new Set<number>()
  /** The unwritten batch of each part. Its record is in `#pending` and gets its text when it is written. */
  readonly #batches = new Map<string, PendingBatch>()
  #lastBatch: PendingBatch | undefined
  #pendingChars = 0
  /** The oldest unsealed batch of each open part, written or not. */
  readonly #openParts = new Map<string, number>()
  #extras: Omit<CommitExtras, 'blobs'>[] = []
  #blobs: NewBlob[] = []
  #writing: Promise<void> = Promise.resolve()
  #firstFlush: NodeJS.Timeout | undefined
  #lastFlush = 0
  #failure: InspanError | undefined
  #closed = false

  private constructor(options: ThreadLogOptions, state: ThreadState) {
    const onListenerFailure = options.onListenerFailure ?? reportUnhandled
    this.stream = options.stream
    this.#store = options.store
    this.#fence = options.fence
    this.#now = options.now ?? Date.now
    this.#faults = options.faults ?? noFaults
    this.#ticker = options.ticker ?? sharedTicker
    this.redactWith(options.redact)
    this.#onFailure = options.onFailure ?? ((): void => undefined)
    this.#entries = new Emitter(onListenerFailure)
    this.#frames = new Emitter(onListenerFailure)
    this.#written = new Emitter(onListenerFailure)
    this.#committed = state
    this.#live = state
    this.#nextSeq = state.head.seq + 1
  }

  /** Reads the stored head and the records after it, so the length of the thread does not matter. */
  static async open(options: ThreadLogOptions): Promise<ThreadLog> {
    const loaded = await loadState(options.store, options.stream, options.fence)
    const log = new ThreadLog(options, loaded.state)
    for (const [part, first] of loaded.openBatches) log.#openParts.set(part, first)
    return log
  }

  /** The state with everything shown so far, written or not. After a failure: the state on disk. */
  get state(): ThreadState {
    return this.#live
  }

  /** The state on disk. */
  get committed(): ThreadState {
    return this.#committed
  }

  /** The owner and epoch this log writes with. */
  get fence(): Fence {
    return this.#fence
  }

  get failure(): InspanError | undefined {
    return this.#failure
  }

  onEntry(listener: (entry: LogEntry) => unknown): () => void {
    return this.#entries.subscribe(listener)
  }

  /** Frames are what other processes may see: the ops of what is on disk. */
  onFrame(listener: (frame: DeltaFrame) => unknown): () => void {
    return this.#frames.subscribe(listener)
  }

  /** Subscribes to the messages that have been written to the view, as they are there. */
  onWritten(listener: (messages: readonly StoredMessage[]) => unknown): () => void {
    return this.#written.subscribe(listener)
  }

  /** Adds a piece to an open part, at a cost independent of the size of message and thread and of frame listeners. */
  delta(piece: BatchEvent, origin: RecordOrigin = {}, isReleased = false): void {
    this.#assertWritable()
    const event = this.#redactor === undefined || isReleased ? piece : this.#held.take(piece, this.#redactor)
    if (event === undefined) return
    const batch = this.#batchOf(event)
    if (batch === undefined) {
      const key = partKey(event.messageId, event.partId)
      const body = { type: 'batch', event } as const
      assertSafeIds(body)
      const record = this.#record(body, origin)
      this.#pending.push(record)
      this.#shown.add(record.seq)
      this.#batches.set(key, { seq: record.seq, first: event, more: '' })
      if (!this.#openParts.has(key)) this.#openParts.set(key, record.seq)
      this.#scheduleFlush()
    } else {
      if (batch.first.type !== event.type) throw mixedPart(batch.first, event)
      batch.more += textOf(event)
      this.#lastBatch = batch
    }
    this.#pendingChars += textOf(event).length
    // The provisional record has the seq of the part's first unwritten piece, like the written one will.
    this.#live = reducePiece(this.#live, event, this.#nextSeq - 1)
    this.#entries.emit({ kind: 'delta', event, state: this.#live })
    if (this.#pendingChars >= BATCH_CHARS) this.flushSoon()
  }

  /** Adds a record that nothing waits for: shown at once, written with the next batch or barrier. */
  add(body: RecordBody, origin: RecordOrigin = {}, blobs: Extracted<RecordBody>['blobs'] = []): LogRecord {
    this.#assertWritable()
    if (BARRIER_TYPES.has(body.type)) {
      throw new InspanError('misuse', `"${body.type}" must be committed before it is shown: use commit().`)
    }
    assertOrigin(origin)
    const ready = this.#prepared(body)
    if (this.#isUnmarked) this.#show(prepared(REDACTED), {}, [])
    this.#release(ready.body, origin)
    const record = this.#show(ready, origin, blobs)
    const warning = this.#redactor?.warning(origin.run)
    if (warning !== undefined) this.#show(prepared(warning), origin, [])
    return record
  }

  #show(ready: Extracted<RecordBody>, origin: RecordOrigin, blobs: Extracted<RecordBody>['blobs']): LogRecord {
    const record = this.#push(ready, origin)
    for (const blob of blobs) this.#blobs.push({ ...blob, seq: record.seq })
    this.#shown.add(record.seq)
    this.#live = reduceShown(this.#live, record)
    this.#entries.emit({ kind: 'record', record, live: true, state: this.#live })
    this.#ticker.add(this)
    return record
  }

  /** Writes the records, and everything shown before them, in one transaction; then shows them. */
  async commit(bodies: readonly RecordBody[], origin: RecordOrigin = {}, extras?: CommitExtras): Promise<LogRecord[]> {
    this.#assertWritable()
    // All bodies are prepared before any is queued: a refused commit must leave nothing that the next one would write.
    assertOrigin(origin)
    for (const { outcome } of extras?.outcomes ?? []) assertJson('An outcome', outcome)
    const ready = bodies.map((body) => this.#prepared(body))
    if (this.#isUnmarked) this.#push(prepared(REDACTED), {})
    for (const { body } of ready) this.#release(body, origin)
    const records = ready.map((each) => this.#push(each, origin))
    if (extras !== undefined) this.#attach(extras, records)
    const warning = this.#redactor?.warning(origin.run)
    if (warning !== undefined) this.#push(prepared(warning), origin)
    await this.flush()
    return records
  }

  /** Shows what was held back of a part that is about to be sealed. */
  #release(body: RecordBody, origin: RecordOrigin): void {
    if (this.#redactor === undefined || !isSealedPart(body)) return
    for (const event of this.#held.release(body, this.#redactor)) this.delta(event, origin, true)
  }

  /** Redacts what is recorded from now on. */
  redactWith(redact: Redactor | undefined): void {
    this.#redactor = redact === undefined ? undefined : new RecordRedactor(redact)
  }

  /** Whether this is the first that is recorded under redaction. The thread has to say so. */
  get #isUnmarked(): boolean {
    if (this.#redactor === undefined || this.#isMarked) return false
    this.#isMarked = true
    return !isRedacted(this.#live)
  }

  /** Returns the value as it is recorded when an agent or a tool says it. */
  redacted<Value extends JsonValue>(value: Value): Value {
    return this.#redactor === undefined ? value : this.#redactor.json(value)
  }

  /** Resolves when everything shown or added so far is on disk. */
  async flush(): Promise<void> {
    this.#stopWaiting()
    this.#writing = this.#writing.then(() => this.#write())
    await this.#writing
    if (this.#failure !== undefined) throw this.#failure
  }

  flushSoon(): void {
    // A failure is reported through `onFailure` and the next call; nobody awaits a tick.
    this.flush().catch(() => undefined)
  }

  /** Writes what is pending. An open run stays open: closing is not aborting. */
  async close(): Promise<void> {
    if (this.#closed) return
    // Set before the last write: what comes during it would be shown and never written.
    this.#closed = true
    if (this.#failure === undefined) await this.flush()
    this.#stopWaiting()
    this.#ticker.rest()
  }

  #stopWaiting(): void {
    this.#ticker.remove(this)
    clearTimeout(this.#firstFlush)
    this.#firstFlush = undefined
  }

  #scheduleFlush(): void {
    // The first delta after a pause is written at once, so that a remote reader sees the answer begin; a short answer
    // that is over by then is written once.
    if (this.#now() - this.#lastFlush >= FLUSH_INTERVAL_MS) {
      this.#lastFlush = this.#now()
      this.#firstFlush ??= setTimeout(() => {
        if (!this.#closed && this.#failure === undefined) this.flushSoon()
      }, FIRST_FLUSH_MS)
    } else {
      this.#ticker.add(this)
    }
  }

  #attach({ blobs, ...rest }: CommitExtras, records: readonly LogRecord[]): void {
    if (rest.thread !== undefined || (rest.outcomes ?? []).length > 0) this.#extras.push(rest)
    for (const { of, ...blob } of blobs ?? []) {
      const seq = records[of ?? 0]?.seq
      if (seq !== undefined) this.#blobs.push({ ...blob, seq })
    }
  }

  #prepared(body: RecordBody): Extracted<RecordBody> {
    const redactor = this.#redactor
    if (redactor === undefined) return prepared(body)
    return prepared(body, (whole) => redactor.body(whole, (waitId) => this.#live.head.waits.get(waitId)?.kind))
  }

  #push({ blobs, body }: Extracted<RecordBody>, origin: RecordOrigin): LogRecord {
    const record = isSealedPart(body) ? this.#seal(body, origin) : this.#record(body, origin)
    this.#pending.push(record)
    for (const blob of blobs) this.#blobs.push({ ...blob, seq: record.seq })
    return record
  }

  #seal(body: SealedPart, origin: RecordOrigin): LogRecord {
    const key = partKey(body.messageId, body.partId)
    const batch = this.#batches.get(key)
    const first = this.#openParts.get(key)
    this.#batches.delete(key)
    this.#lastBatch = undefined
    this.#openParts.delete(key)
    const last = this.#pending.at(-1)
    if (batch !== undefined && last?.seq === batch.seq) {
      // Nothing came after the unwritten batch: the sealed record takes its place.
      this.#pending.pop()
      this.#shown.delete(batch.seq)
      this.#nextSeq = batch.seq
    } else if (batch !== undefined) {
      this.#fillBatch(batch)
    }
    return this.#record(body, origin, first)
  }

  #record(body: RecordBody, origin: RecordOrigin, first?: number): LogRecord {
    const seq = this.#nextSeq++
    return {
      v: RECORD_VERSIONS[body.type],
      stream: this.stream,
      seq,
      ...(first === undefined || first === seq ? {} : { first }),
      at: this.#now(),
      ...origin,
      body,
    }
  }

  /** Returns the unwritten batch of a part. Nearly always it is the one that got the last delta. */
  #batchOf({ messageId, partId }: BatchEvent): PendingBatch | undefined {
    const last = this.#lastBatch?.first
    if (last !== undefined && last.partId === partId && last.messageId === messageId) return this.#lastBatch
    return this.#batches.get(partKey(messageId, partId))
  }

  #fillBatch(batch: PendingBatch): void {
    const index = this.#pending.findLastIndex((record) => record.seq === batch.seq)
    const record = this.#pending[index]
    if (record !== undefined) this.#pending[index] = { ...record, body: { type: 'batch', event: wholeOf(batch) } }
  }

  async #write(): Promise<void> {
    if (this.#failure !== undefined || (this.#pending.length === 0 && this.#extras.length === 0)) return
    for (const batch of this.#batches.values()) this.#fillBatch(batch)
    const records = this.#pending
    const extras = this.#extras
    const blobs = this.#blobs
    const shown = this.#shown
    this.#pending = []
    this.#blobs = []
    this.#shown = new Set()
    this.#extras = []
    this.#batches.clear()
    this.#lastBatch = undefined
    this.#pendingChars = 0
    this.#lastFlush = this.#now()
    const folded = foldWithViews(this.#committed, records)
    try {
      await this.#faults.reach('append.before', records.at(-1)?.body.type)
      await commitSafely(this.#store, {
        stream: this.stream,
        fence: this.#fence,
        records,
        ...folded.writes,
        ...joinExtras(folded.writes.thread, extras),
        ...(blobs.length === 0 ? {} : { blobs }),
      })
      await this.#faults.reach('append.after', records.at(-1)?.body.type)
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#committed = folded.state
    if (folded.writes.messages !== undefined) this.#written.emit(folded.writes.messages)
    this.#live = this.#withShown(folded.state)
    records.forEach((record, index) => {
      if (shown.has(record.seq)) return
      // What was shown during the write must not disappear from what listeners see.
      const state = this.#withShown(folded.states[index] ?? folded.state)
      this.#entries.emit({ kind: 'record', record, live: false, state })
    })
    const seq = records.at(-1)?.seq
    if (seq !== undefined) this.#frames.emit({ type: 'delta', seq, operations: folded.ops })
  }

  /** Returns the written state plus what was shown while it was being written. */
  #withShown(written: ThreadState): ThreadState {
    let state = written
    for (const record of this.#pending) {
      if (this.#shown.has(record.seq)) state = reduceShown(state, this.#filled(record))
    }
    return state
  }

  /** Returns a pending record with the accumulated text of its batch. */
  #filled(record: LogRecord): LogRecord {
    if (record.body.type !== 'batch') return record
    const { event } = record.body
    const batch = this.#batches.get(partKey(event.messageId, event.partId))
    return batch?.seq === record.seq ? { ...record, body: { type: 'batch', event: wholeOf(batch) } } : record
  }

  /** Writes nothing more, because this process no longer owns the thread. */
  abandon(): void {
    if (this.#failure !== undefined) return
    this.#fail(
      new InspanError('fenced', `This process lost thread ${this.stream}: others took it for dead.`, {
        hint: 'Open the thread again. A run that was at work goes on where the thread is now.',
        details: { stream: this.stream },
      }),
    )
  }

  #fail(error: unknown): void {
    this.#failure = InspanError.is(error)
      ? error
      : new InspanError('io', `Thread ${this.stream} can no longer be written: ${String(error)}.`, { cause: error })
    this.#stopWaiting()
    // What was shown but not written does not exist.
    this.#live = this.#committed
    this.#onFailure(this.#failure)
  }

  #assertWritable(): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#closed) throw new InspanError('closed', `The log of thread ${this.stream} is closed.`)
  }
}

function joinExtras(thread: Append['thread'], extras: readonly CommitExtras[]): Partial<Append> {
  if (extras.length === 0) return {}
  return {
    outcomes: extras.flatMap((extra) => extra.outcomes ?? []),
    thread: Object.assign({}, thread, ...extras.map((extra) => extra.thread ?? {})) as Append['thread'] & object,
  }
}

export function reportUnhandled(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error), 'InspanListenerWarning')
}
