import type { DeltaMessage, ResyncReason, SnapshotMessage } from '@inspan/protocol/wire'
import { mergeOps } from '../feed/merge-ops.ts'
import type { StoredTail } from '../feed/stored-tail.ts'
import type { Packet, ThreadFeed } from '../feed/thread-feed.ts'
import { SeedState } from './seed-state.ts'

export interface WatchOptions {
  readonly feed: ThreadFeed
  readonly window: number
  /** The client watches no other thread, so deltas need not name it. */
  readonly isOnly: boolean
  readonly send: (text: string) => void
  /** Whether the client takes more at the moment. */
  readonly isOpen: () => boolean
  /** What the store knows of a cursor that the feed does not remember. */
  readonly stored?: StoredTail | undefined
}

/**
 * One client's view of one thread. A client that does not keep up is sent nothing; when it takes more again, it gets
 * what it missed as one merged delta, or a snapshot when neither the feed nor the store can tell what that was.
 */
export interface Watch {
  /** Sends what the client missed. */
  catchUp(): void
  readonly isBehind: boolean
  stop(): void
}

/** What the client has: a seq, `null` for nothing, or a seq that is void for a reason. */
export type Cursor = number | null | { readonly resync: ResyncReason }

export function watchThread(options: WatchOptions, cursor: Cursor): Watch {
  const { feed, isOnly, isOpen, send, stored, window } = options
  let seq = typeof cursor === 'number' ? cursor : -1
  // A client that begins to watch many threads gets them as fast as it reads.
  let isBehind = !isOpen()
  const snapshot = (resync?: ResyncReason): void => {
    const taken = feed.snapshot(window)
    const message: SnapshotMessage = {
      type: 'snapshot',
      thread: feed.thread,
      snapshot: taken,
      ...(resync === undefined ? {} : { resync }),
    }
    seq = taken.seq
    send(JSON.stringify(message))
  }
  const replay = (resync: ResyncReason): void => {
    // First, so that a packet that is sent now is not sent again below.
    feed.flush()
    const missed = feed.since(seq)
    const recalled = missed === undefined && stored?.after === seq ? feed.recalled(stored, window) : undefined
    const thread = isOnly ? undefined : feed.thread
    if (recalled !== undefined) {
      seq = feed.seq
      send(delta(thread, seq, recalled))
    } else if (missed === undefined) snapshot(resync)
    else if (missed.length > 0) {
      send(joined(thread, missed))
      seq = missed.at(-1)?.seq ?? seq
    }
  }
  const receive = (packet: Packet): void => {
    if (isBehind) return
    if (!isOpen()) isBehind = true
    else if (packet.after === seq) {
      send(isOnly ? packet.text : packet.named(feed.thread))
      seq = packet.seq
    } else if (packet.seq > seq) replay('gap')
  }
  if (!isBehind) {
    if (cursor === null) snapshot()
    else if (typeof cursor === 'object') snapshot(cursor.resync)
    else replay('gap')
  }
  const stop = feed.subscribe(receive)
  return {
    get isBehind() {
      return isBehind
    },
    catchUp: () => {
      if (!isBehind) return
      isBehind = false
      replay('overload')
    },
    stop,
  }
}

/** The watch of a client of version 0, which knows one thread and gets indexes. */
export function watchAsSeed({ feed, isOpen, send, window }: Omit<WatchOptions, 'isOnly'>): Watch {
  let seed = new SeedState(feed.snapshot(window))
  let isBehind = false
  const whole = (): void => {
    seed = new SeedState(feed.snapshot(window))
    send(JSON.stringify(seed.message()))
  }
  send(JSON.stringify(seed.message()))
  const stop = feed.subscribe((packet) => {
    if (isBehind || packet.seq <= seed.seq) return
    if (!isOpen()) {
      isBehind = true
      return
    }
    const operations = packet.after === seed.seq ? seed.apply(packet) : undefined
    if (operations === undefined) whole()
    else if (operations.length > 0) send(JSON.stringify({ type: 'delta', seq: packet.seq, operations }))
  })
  return {
    get isBehind() {
      return isBehind
    },
    catchUp: () => {
      if (!isBehind) return
      isBehind = false
      whole()
    },
    stop,
  }
}

function joined(thread: string | undefined, packets: readonly Packet[]): string {
  const [first] = packets
  if (packets.length === 1 && first !== undefined) return thread === undefined ? first.text : first.named(thread)
  return delta(thread, packets.at(-1)?.seq ?? 0, mergeOps(packets.map(({ operations }) => operations)))
}

function delta(thread: string | undefined, seq: number, operations: DeltaMessage['operations']): string {
  const message: DeltaMessage = { type: 'delta', ...(thread === undefined ? {} : { thread }), seq, operations }
  return JSON.stringify(message)
}
