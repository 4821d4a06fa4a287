import type { StoredHead } from '@inspan/protocol/log'
import type { Fence, Owner, RecordFormat, StreamKind, StreamStatus } from '@inspan/protocol/store'
import { checkId } from '../shared/input-checks.ts'
import type { PreparedMessage, PreparedRecord } from '../shared/prepared-append.ts'
import type { Range } from '../shared/retention.ts'
import { fenced, noSuchStream } from '../shared/store-errors.ts'
import type { Stretch } from '../shared/stretches.ts'
import type { StoredWait } from '../shared/wait-row.ts'
import type { MemoryCommand } from './commands.ts'
import { SortedRows } from './sorted-rows.ts'
import type { StoredThread } from './threads.ts'

export interface SourceRange extends Range {
  readonly stream: string
}

export interface MemoryStream {
  readonly id: string
  readonly kind: StreamKind
  headSeq: number
  owner: string | null
  epoch: number
  isDeleted: boolean
  thread: StoredThread | null
  readonly records: SortedRows<PreparedRecord>
  readonly messages: SortedRows<PreparedMessage>
  /** The seq of the first record of each run whose id the caller chose. */
  readonly namedRuns: Map<string, number>
  head: { readonly version: number; readonly json: string } | null
  /** The ranges of other streams that this one needs. */
  needs: readonly SourceRange[]
  /** The blobs that each record refers to. */
  readonly blobRefs: SortedRows<{ readonly seq: number; readonly hashes: ReadonlySet<string> }>
}

export interface MemoryWait extends StoredWait {
  readonly openedAt: number
}

export interface StoredBlob {
  readonly mime: string
  readonly bytes: Uint8Array
  refs: number
}

export class MemoryState {
  readonly format: RecordFormat
  readonly streams: Map<string, MemoryStream> = new Map()
  readonly waits: SortedRows<MemoryWait> = new SortedRows()
  readonly waitNumbers: Map<string, number> = new Map()
  readonly blobs: Map<string, StoredBlob> = new Map()
  readonly commands: SortedRows<MemoryCommand> = new SortedRows()
  readonly commandNumbers: Map<string, number> = new Map()
  readonly owners: Map<string, Owner> = new Map()
  #lastNumber = 0

  constructor(format: RecordFormat) {
    this.format = format
  }

  nextNumber(): number {
    return ++this.#lastNumber
  }

  living(id: string): MemoryStream | undefined {
    const stream = this.streams.get(id)
    return stream?.isDeleted === false ? stream : undefined
  }

  require(id: string): MemoryStream {
    const stream = this.living(id)
    if (stream === undefined) throw noSuchStream(id)
    return stream
  }

  requireFence(id: string, fence: Fence): MemoryStream {
    const stream = this.require(id)
    if (stream.owner !== fence.owner || stream.epoch !== fence.epoch) {
      throw fenced(id, fence, stream, stream.owner === null ? null : (this.owners.get(stream.owner) ?? null))
    }
    return stream
  }

  /**
   * Returns the stream of a stretch. Closed stretches of a deleted stream can still be read, by the forks that need
   * them.
   */
  source(stretch: Stretch): MemoryStream {
    const stream = this.streams.get(stretch.stream)
    if (stream === undefined || (stream.isDeleted && stretch.isOpen)) throw noSuchStream(stretch.stream)
    return stream
  }
}

export function newStream(id: string, kind: StreamKind, headSeq: number): MemoryStream {
  checkId('A stream id', id)
  return {
    id,
    kind,
    headSeq,
    owner: null,
    epoch: 0,
    isDeleted: false,
    thread: null,
    records: new SortedRows(),
    messages: new SortedRows(),
    namedRuns: new Map(),
    head: null,
    needs: [],
    blobRefs: new SortedRows(),
  }
}

export function getStream(state: MemoryState, id: string): StreamStatus | null {
  const stream = state.living(id)
  return stream === undefined ? null : statusOf(stream)
}

export function readHead(state: MemoryState, id: string, reducerVersion: number): StoredHead | null {
  const head = state.living(id)?.head
  return head?.version === reducerVersion ? (JSON.parse(head.json) as StoredHead) : null
}

export function statusOf(stream: MemoryStream): StreamStatus {
  const { id, kind, headSeq, owner, epoch } = stream
  return { stream: id, kind, headSeq, owner, epoch }
}
