/**
 * Measures what readers cost: a delivery as a server-sent event relative to a bare stream, clients that stop reading,
 * and the first byte after a reconnect to a long thread relative to a short one.
 */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, Harness, SqliteStore } from '@inspan/core'
import { createThread, ProcessOwner, ThreadRuntime } from '@inspan/core/engine'
import type { DeltaFrame } from '@inspan/protocol/log'
import { compare, report, scriptedModel } from '@inspan/testing'
import { watchThread } from './connection/watch.ts'
import { Arrivals, feedAll, openFeed, THREAD } from './feed.fixture.ts'
import { eventSink } from './http/event-stream.ts'
import { serve } from './serve.ts'

const MESSAGE = '1794960766548-28inh9udr956a'

const begin: DeltaFrame = {
  type: 'delta',
  seq: 1,
  operations: [
    {
      type: 'set',
      path: ['messages', MESSAGE],
      value: {
        id: MESSAGE,
        order: 1,
        at: 0,
        role: 'assistant',
        state: 'open',
        parts: [{ id: '0', type: 'text', text: '', state: 'open' }],
      },
    },
  ],
}

/** Frames of one long answer, each of which appends a text. */
function answer(count: number, text: string): readonly DeltaFrame[] {
  return Array.from({ length: count }, (_, index) => ({
    type: 'delta',
    seq: index + 2,
    operations: [{ type: 'append-text', path: ['messages', MESSAGE, 'parts', '0', 'text'], value: text }],
  }))
}

/** Sends events to many readers, and waits until all of them have got all. */
async function events(clients: number, rounds: number, count: number): Promise<void> {
  const frames = [begin, ...answer(count, 'the quick brown fox jumps over the lazy dogs, ')]
  const open: ServerResponse[] = []
  const http = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('\n')
    open.push(response)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  const arrivals = new Arrivals(frames.length * clients)
  for (let index = 0; index < clients; index++) {
    const [response] = (await once(get({ port, host: '127.0.0.1', agent: false }), 'response')) as [IncomingMessage]
    response.setEncoding('latin1').on('data', (text: string) => {
      let count = 0
      for (let at = text.indexOf('data: '); at >= 0; at = text.indexOf('data: ', at + 1)) count++
      arrivals.arrived(count)
    })
  }
  report(
    await compare({
      name: `an event to each of ${clients} clients, relative to a bare event stream`,
      limit: 1 / 0.6,
      clock: 'cpu',
      rounds,
      floor: () =>
        arrivals.after(() => {
          for (const frame of frames) {
            const text = `id: ${frame.seq}\ndata: ${JSON.stringify(frame)}\n\n`
            for (const response of open) response.write(text)
          }
        }),
      ours: () =>
        arrivals.after(() => {
          const sinks = open.map((response) => eventSink(response, THREAD, 'epoch'))
          return feedAll(
            frames,
            sinks.map((sink) => (text) => sink.send(text)),
          )
        }),
    }),
  )
  http.close()
  http.closeAllConnections()
}

/** Clients that read nothing during an answer of 20 MB: what is kept for each of them. */
async function stalled(): Promise<void> {
  const softLimit = 256 * 1024
  const { feed, push } = await openFeed()
  const kept = Array.from({ length: 1000 }, () => ({ bytes: 0 }))
  for (const each of kept) {
    const send = (text: string): void => void (each.bytes += text.length)
    watchThread({ feed, window: 50, isOnly: true, send, isOpen: () => each.bytes <= softLimit }, feed.seq)
  }
  push(begin)
  for (const frame of answer(5000, 'x'.repeat(4096))) push(frame)
  const ours = Math.max(...kept.map(({ bytes }) => bytes))
  const ratio = Number((ours / softLimit).toPrecision(3))
  report({
    name: 'bytes kept for each of 1,000 clients that stopped reading, relative to 256 KiB',
    ratio,
    limit: 1.1,
    unit: 'bytes',
    floor: softLimit,
    ours,
  })
}

async function filledThread(store: SqliteStore, messages: number): Promise<{ thread: string; seq: number }> {
  const { id } = await createThread(store, { resourceId: 'bench' })
  const owner = await ProcessOwner.register(store)
  const runtime = await ThreadRuntime.open({ store, owner, thread: id, agents: {} })
  for (let index = 0; index < messages; index += 500) {
    await runtime.record(
      Array.from({ length: Math.min(500, messages - index) }, (_, at) => ({
        type: 'message.added' as const,
        messageId: `m${index + at}`,
        role: 'user' as const,
        parts: [{ id: '0', type: 'text' as const, text: `Message ${index + at} of a conversation.` }],
      })),
    )
  }
  const { seq } = runtime.state.head
  await runtime.close()
  await owner.close()
  return { thread: id, seq }
}

/** A client connects to a server that was just started and has not opened the thread yet. */
async function reconnect(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-reconnect-'))
  const storage = new SqliteStore({ url: join(folder, 'bench.db') })
  const [short, long] = [await filledThread(storage, 100), await filledThread(storage, 100_000)]
  const firstByte = async ({ seq, thread }: { thread: string; seq: number }): Promise<number> => {
    const agent = new Agent({ id: 'agent', model: scriptedModel([]) })
    const harness = new Harness({ id: 'bench', resourceId: 'bench', agent, modes: [{ id: 'build' }], storage })
    const server = await serve({ harness })
    const id = [storage.epoch, thread, seq - 1].map((each) => encodeURIComponent(String(each))).join('/')
    const headers = { authorization: `Bearer ${server.token}`, 'last-event-id': id }
    const start = performance.now()
    const request = get(`${server.url}/v1/events?thread=${thread}`, { headers })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    // The hint to retry is sent at once. The first byte that counts is that of the conversation.
    let text = ''
    for await (const chunk of response) {
      text += String(chunk)
      if (/"type":"(?:snapshot|delta)"/.test(text)) break
    }
    const took = performance.now() - start
    request.destroy()
    await server.close()
    await harness.destroy()
    return took * 1000
  }
  let [floor, ours] = [Infinity, Infinity]
  for (let round = 0; round < 15; round++) {
    floor = Math.min(floor, await firstByte(short))
    ours = Math.min(ours, await firstByte(long))
  }
  const ratio = Number((ours / floor).toPrecision(3))
  const name = 'first byte of a reconnect to a thread of 100,000 messages, relative to one of 100'
  report({ name, ratio, limit: 2, unit: 'µs', floor, ours })
  await storage.close()
  await rm(folder, { recursive: true })
}

// Enough events that opening the feed does not count.
await events(1, 15, 5000)
await events(100, 7, 400)
await events(1000, 3, 400)
await stalled()
await reconnect()
