import type { ServerResponse } from 'node:http'
import { InspanError } from '@inspan/protocol'
import { WIRE_VERSION } from '@inspan/protocol/wire'
import { ServedConnection } from '../connection/connection.ts'
import type { Sink } from '../connection/sink.ts'
import type { ServerContext } from '../context.ts'
import type { Caller } from './guard.ts'

const HEARTBEAT_MS = 15_000
const RETRY_MS = 1000
/** For how many beats the reason of a close may wait to be read. */
const CLOSING_BEATS = 4

interface OpenStream {
  readonly connection: ServedConnection
  closingBeats: number
}

export interface EventStreamRequest {
  readonly caller: Caller
  /** Default: the thread of `lastEventId`, else the caller's newest one. */
  readonly thread?: string
  readonly clientId: string
  /** The `Last-Event-ID` of an `EventSource` that connects again. */
  readonly lastEventId?: string
  readonly window?: number
  /** Version 0: the whole state first, then deltas with indexes. */
  readonly isSeed: boolean
}

/** The open event streams of a server. */
export class EventStreams {
  readonly #context: ServerContext
  readonly #open = new Map<ServerResponse, OpenStream>()
  readonly #heartbeat: NodeJS.Timeout
  readonly #onClose: (() => void)[] = []

  constructor(context: ServerContext) {
    this.#context = context
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS)
    this.#heartbeat.unref()
    context.guard.tokens.onRevoked((id) => {
      for (const { connection } of this.#open.values())
        if (connection.caller.tokenId === id) connection.close('unauthorized')
    })
  }

  /** Answers a request with events until one side ends it. */
  async serve(request: EventStreamRequest, response: ServerResponse): Promise<void> {
    const { hub } = this.#context
    const cursor = cursorOf(request.lastEventId)
    // An `EventSource` that named no thread stays with the one it followed, although another may be the newest by now.
    const thread = request.thread ?? cursor?.thread ?? (await hub.defaultThread(request.caller))
    await hub.door.find(thread, hub.tenantOf(request.caller))
    if (cursor !== undefined && cursor.thread !== thread) throw foreignCursor()
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    })
    response.write(`retry: ${RETRY_MS}\n\n`)
    const connection = new ServedConnection(
      hub,
      this.#context.executor,
      request.caller,
      eventSink(response, thread, hub.epoch),
    )
    this.#open.set(response, { connection, closingBeats: 0 })
    response.on('drain', () => connection.drained())
    response.on('error', () => response.destroy())
    response.on('close', () => {
      this.#open.delete(response)
      connection.ended()
    })
    if (request.isSeed) return connection.startAsSeed(thread)
    await connection.hello({
      type: 'hello',
      protocol: WIRE_VERSION,
      clientId: request.clientId,
      threads: { [thread]: cursor?.seq ?? null },
      ...(cursor === undefined ? {} : { epoch: cursor.epoch }),
      ...(request.window === undefined ? {} : { window: request.window }),
    })
  }

  /** Calls `listener` when the server closes its streams. */
  onClose(listener: () => void): void {
    this.#onClose.push(listener)
  }

  close(): void {
    clearInterval(this.#heartbeat)
    for (const listener of this.#onClose) listener()
    for (const { connection } of this.#open.values()) connection.close('shutdown')
  }

  #beat(): void {
    for (const [response, stream] of this.#open) {
      const { connection } = stream
      if (response.writableEnded) {
        // A client that reads nothing must not hold its socket for ever.
        if (++stream.closingBeats >= CLOSING_BEATS) response.destroy()
      } else if (response.writableLength === 0) response.write(': ping\n\n')
      connection.check(HEARTBEAT_MS)
    }
  }
}

interface EventCursor {
  readonly epoch: string
  readonly thread: string
  readonly seq: number
}

/** An event id is `epoch/thread/seq`. */
function cursorOf(id: string | undefined): EventCursor | undefined {
  if (id === undefined || id === '') return undefined
  const [epoch, thread, seq] = partsOf(id)
  if (epoch === undefined || thread === undefined || seq === undefined || !/^\d{1,15}$/.test(seq)) throw foreignCursor()
  return { epoch, thread, seq: Number(seq) }
}

/** A cursor of another thread says nothing about this one. */
function foreignCursor(): InspanError {
  return new InspanError('invalid-input', 'The Last-Event-ID does not belong to this thread.', {
    hint: 'Connect without it to get a snapshot.',
  })
}

function partsOf(id: string): readonly string[] {
  try {
    return id.split('/').map(decodeURIComponent)
  } catch {
    return []
  }
}

export function eventSink(response: ServerResponse, thread: string, epoch: string): Sink {
  const prefix = `${encodeURIComponent(epoch)}/${encodeURIComponent(thread)}/`
  return {
    send: (text) => {
      // Only deltas and states move the cursor; their seq is found without parsing the whole text.
      const seq = seqOf(text)
      response.write(`${seq === undefined ? '' : `id: ${prefix}${seq}\n`}data: ${text}\n\n`)
    },
    get buffered() {
      return response.writableLength
    },
    get taken() {
      return (response.socket?.bytesWritten ?? 0) - response.writableLength
    },
    close: (reason) => {
      response.write(`event: close\ndata: ${JSON.stringify({ reason })}\n\n`)
      response.end()
    },
  }
}

const SEQ =
  /^\{"type":"(?:delta","thread":"(?:[^"\\]|\\.)*","seq":|delta","seq":|snapshot","thread":"(?:[^"\\]|\\.)*","snapshot":\{"seq":)(\d+)/

const SEQ_OF_STATE = /^\{"type":"state",.*,"seq":(\d+)\}$/s

function seqOf(text: string): string | undefined {
  const [, seq] = SEQ.exec(text) ?? SEQ_OF_STATE.exec(text) ?? []
  return seq
}
