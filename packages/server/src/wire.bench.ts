/** What a turn costs on the wire and on both ends, and what it costs to send it to many clients. */
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createDeflateRaw, constants } from 'node:zlib'
import type { AddressInfo } from 'node:net'
import {
  applyFrame,
  emptyState,
  reduce,
  viewFrom,
  type DeltaFrame,
  type LogRecord,
  type RecordBody,
  type ThreadState,
} from '@inspan/protocol/log'
import { BLOB_THRESHOLD, NO_RULES } from '@inspan/protocol'
import { compare, report } from '@inspan/testing'
import { WebSocket, WebSocketServer } from 'ws'
import type { Sink } from './connection/sink.ts'
import type { ThreadFeed } from './feed/thread-feed.ts'
import { Arrivals, feedAll, openFeed, THREAD } from './feed.fixture.ts'
import { socketSink } from './http/sockets.ts'

const TOKENS_PER_FRAME = 8

/** Real text, because text that repeats itself would deflate to almost nothing: our guides, cut into tokens. */
const guides = new URL('../../../docs/guide/', import.meta.url)
const tokens =
  linesOf(guides, '.md')
    .join('\n')
    .match(/\s?\w{1,6}|\s?[^\w\s]+|\s+/g) ?? []

/** What a search prints: lines of our sources with their places. */
const found = linesOf(new URL('./', import.meta.url), '.ts').map((line, index) => `serve.ts:${index}: ${line}`)

function linesOf(folder: URL, ending: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(ending))
  return names.toSorted().flatMap((name) => readFileSync(new URL(name, folder), 'utf8').split('\n'))
}

/** Frames of a thread that is written by nobody: what the engine would emit for these records. */
class Frames {
  state: ThreadState = emptyState(THREAD)
  readonly frames: DeltaFrame[] = []
  payload = 0

  add(...bodies: RecordBody[]): void {
    const operations = bodies.flatMap((body) => {
      const record: LogRecord = { v: 1, stream: THREAD, seq: this.state.head.seq + 1, at: 0, run: 'r', turn: 'u', body }
      const reduced = reduce(this.state, record)
      this.state = reduced.state
      return reduced.ops
    })
    this.frames.push({ type: 'delta', seq: this.state.head.seq, operations })
  }

  text(messageId: string, count: number): void {
    this.add({ type: 'message.started', messageId, role: 'assistant' })
    let whole = ''
    for (let token = 0; token < count; token += TOKENS_PER_FRAME) {
      const from = token % (tokens.length - TOKENS_PER_FRAME)
      const piece = tokens.slice(from, from + TOKENS_PER_FRAME).join('')
      whole += piece
      this.payload += piece.length
      this.add({ type: 'batch', event: { type: 'text-delta', messageId, partId: '0', text: piece } })
    }
    this.add({ type: 'text-delta', messageId, partId: '0', text: whole })
    this.add({ type: 'message.ended', messageId } as RecordBody)
  }

  calls(messageId: string, count: number, lines: number): void {
    this.add({ type: 'message.started', messageId, role: 'assistant' })
    for (let index = 0; index < count; index++) {
      const output = found.slice(index * lines, (index + 1) * lines).join('\n')
      const args = { command: `grep -rn "pattern ${index}" packages/server/src` }
      const at = { messageId, toolCallId: `call-${index}`, toolName: 'execute_command' }
      this.add({ type: 'tool-call', ...at, partId: String(index * 2), args })
      // Large results travel by reference, as the engine records them.
      const ref = { blob: 'f'.repeat(64), size: output.length, mime: 'text/plain', preview: output.slice(0, 512) }
      const body = output.length > BLOB_THRESHOLD ? { result: null, ref } : { result: output }
      this.add({ type: 'tool-result', ...at, partId: String(index * 2 + 1), ...body, isError: false })
      this.payload += JSON.stringify(args).length + output.length
    }
    this.add({ type: 'message.ended', messageId } as RecordBody)
  }
}

function begin(): Frames {
  const made = new Frames()
  made.add({ type: 'run.started', runId: 'r', agentId: 'a', rules: NO_RULES })
  return made
}

/** Feeds frames through a real feed and returns what clients are sent. */
async function packets(frames: readonly DeltaFrame[], listen: (text: string) => void): Promise<ThreadFeed> {
  const { feed, push } = await openFeed()
  feed.subscribe(({ text }) => listen(text))
  for (const frame of frames) push(frame)
  return feed
}

async function deflated(texts: readonly string[]): Promise<number> {
  const stream = createDeflateRaw({ level: 6 })
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
  })
  for (const text of texts) {
    stream.write(text)
    await new Promise<void>((resolve) => stream.flush(constants.Z_SYNC_FLUSH, resolve))
  }
  stream.end()
  await once(stream, 'end')
  return size
}

function ratio(name: string, limit: number, unit: string, ours: number, floor: number): void {
  report({ name, ratio: Number((ours / floor).toPrecision(3)), limit, unit, floor, ours })
}

const turn = begin()
turn.calls('1794960766513-2qh7oy2v8m7nl', 20, 40)
turn.text('1794960766548-28inh9udr956a', 5000)
const sent: string[] = []
await packets(turn.frames, (text) => sent.push(text))
const bytes = sent.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
ratio('bytes of 5,000 tokens and 20 calls, relative to their payload', 2.5, 'bytes', bytes, turn.payload)
ratio('the same deflated', 0.6, 'bytes', await deflated(sent), turn.payload)

const large = begin()
large.text('first', 500 * TOKENS_PER_FRAME)
large.calls('one', 1, 2000)
const largeSent: string[] = []
await packets(large.frames, (text) => largeSent.push(text))
const largeBytes = largeSent.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
ratio(
  'bytes of 500 deltas and one result of 100 KB, relative to their payload',
  1.2,
  'bytes',
  largeBytes,
  large.payload,
)

report(
  await compare({
    name: 'producing and applying frames, relative to JSON.stringify and JSON.parse of the same',
    limit: 3,
    clock: 'cpu',
    // A round is short: of many, some are undisturbed also on a busy machine.
    rounds: 40,
    floor: () => {
      for (let round = 0; round < 20; round++) for (const frame of turn.frames) JSON.parse(JSON.stringify(frame))
      return 20 * turn.frames.length
    },
    ours: async () => {
      for (let round = 0; round < 20; round++) {
        let view = viewFrom({ seq: 0, head: (await packets([], () => undefined)).snapshot(1).head, messages: [] })
        await packets(turn.frames, (text) => {
          view = applyFrame(view, JSON.parse(text) as DeltaFrame)
        })
      }
      return 20 * turn.frames.length
    },
  }),
)

/** Sends frames to many sockets, and waits until all of them have got all. */
async function fanOut(clients: number, rounds: number, frames: readonly DeltaFrame[]): Promise<void> {
  const http = createServer()
  const server = new WebSocketServer({ server: http, perMessageDeflate: false })
  const sockets: WebSocket[] = []
  const sinks: Sink[] = []
  server.on('connection', (socket, request) => {
    sockets.push(socket)
    sinks.push(socketSink(socket, request.socket))
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  const arrivals = new Arrivals(frames.length * clients)
  const readers = Array.from({ length: clients }, () => new WebSocket(`ws://127.0.0.1:${port}`))
  for (const reader of readers) reader.on('message', () => arrivals.arrived())
  await Promise.all(readers.map((reader) => once(reader, 'open')))
  report(
    await compare({
      name: `a delivery to each of ${clients} clients, relative to bare ws`,
      limit: 1 / 0.6,
      clock: 'cpu',
      rounds,
      floor: () =>
        arrivals.after(() => {
          // A server of any kind has to encode what it sends, once for all.
          for (const frame of frames) {
            const text = JSON.stringify(frame)
            for (const socket of sockets) socket.send(text)
          }
        }),
      ours: () =>
        arrivals.after(() =>
          feedAll(
            frames,
            sinks.map((sink) => (text) => sink.send(text)),
          ),
        ),
    }),
  )
  for (const reader of readers) reader.terminate()
  server.close()
  http.close()
  http.closeAllConnections()
}

const answer = begin()
answer.text('answer', 5000 * TOKENS_PER_FRAME)
// Enough frames that opening the feed does not count.
await fanOut(1, 15, answer.frames)
const few = turn.frames.slice(0, 400)
await fanOut(100, 7, few)
await fanOut(1000, 3, few)
