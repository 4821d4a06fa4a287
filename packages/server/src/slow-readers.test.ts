/** Clients that read slowly or not at all: they cost no memory, miss nothing, and learn why they were cut off. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { Agent, Harness, MemoryStore } from '@inspan/core'
import { createThread } from '@inspan/core/engine'
import { servedHarness } from '@inspan/core/serving'
import {
  applyFrame,
  emptyState,
  viewFrom,
  type DeltaFrame,
  type ThreadState,
  type ThreadView,
} from '@inspan/protocol/log'
import { LIMITS } from '@inspan/protocol/schema'
import { toHarnessState, type ServerMessage } from '@inspan/protocol/wire'
import { scriptedModel } from '@inspan/testing'
import { CommandExecutor } from './commands/command-executor.ts'
import { uuidV7 } from './commands/uuid.ts'
import { ServedConnection } from './connection/connection.ts'
import type { CloseReason } from './connection/sink.ts'
import { watchAsSeed, watchThread } from './connection/watch.ts'
import { ThreadFeed } from './feed/thread-feed.ts'
import { Hub } from './hub.ts'
import { ServerBench } from './server.fixture.ts'
import { WireClient } from './wire-client.fixture.ts'

const BEAT_MS = 15_000
/** Together more than the buffers of a unix socket hold. */
const ANSWERS: readonly string[] = Array.from({ length: 30 }, (_, index) => `${index} `.padEnd(20_000, 'x'))
const SCRIPT = ANSWERS.map((text) => ({ text }))

const hello = { type: 'hello', protocol: 1, clientId: 'test', window: 200 } as const

/** A unix socket holds little, so that a client that does not read is noticed soon. */
function startBench(script: Parameters<typeof ServerBench.start>[0]): Promise<ServerBench> {
  return ServerBench.start(script, { serve: { socketPath: join(tmpdir(), `inspan-slow-${randomUUID()}.sock`) } })
}

async function greeted(bench: ServerBench): Promise<WireClient> {
  const client = await new WireClient(bench.url, bench.token).opened()
  client.send(hello)
  return client
}

/** Has the agent answer many times, for a client that keeps up. Returns how many deltas it took. */
async function answered(bench: ServerBench): Promise<number> {
  const client = await greeted(bench)
  await client.next('snapshot')
  for (const _answer of ANSWERS) {
    client.send({ type: 'commands', commands: [{ type: 'submit', prompt: 'Hi', id: uuidV7() }] })
    await client.next('delta', ({ operations }) => operations.some(({ path }) => path.join('/') === 'head/lastRun'))
  }
  await client.close()
  return client.messages.filter(({ type }) => type === 'delta').length
}

/** Time stands still but for what a test lets pass, so that a minute of silence takes no minute. */
function stopTime(context: TestContext): { pass: (beats: number) => void } {
  context.mock.timers.enable({ apis: ['setInterval'] })
  return {
    pass: (beats) => {
      for (let beat = 0; beat < beats; beat++) context.mock.timers.tick(BEAT_MS)
    },
  }
}

function apply(view: ThreadView, message: ServerMessage): ThreadView {
  if (message.type === 'snapshot') return viewFrom(message.snapshot)
  return message.type === 'delta' ? applyFrame(view, message) : view
}

/** Reads until the last run has ended, and returns what the agent answered. */
async function readAll(client: WireClient, from: ThreadView): Promise<readonly string[]> {
  let view = from
  const state = () => toHarnessState(view)
  while (state().messages.length < 2 * ANSWERS.length || state().status !== 'idle')
    view = apply(view, await client.take())
  return state().messages.flatMap(({ content, role }) => (role === 'assistant' ? [content] : []))
}

describe('a WebSocket client that does not read', () => {
  it('gets what it missed in fewer pieces, and misses nothing', async () => {
    await using bench = await startBench(SCRIPT)
    const slow = await greeted(bench)
    const start = viewFrom((await slow.next('snapshot')).snapshot)
    slow.socket.pause()
    const deltas = await answered(bench)
    slow.socket.resume()
    assert.deepEqual(await readAll(slow, start), ANSWERS)
    assert.ok(slow.messages.length < deltas, `${slow.messages.length} messages, ${deltas} deltas`)
    await slow.close()
  })

  it('is closed with the reason, which it reads when it reads again', async (t) => {
    const time = stopTime(t)
    await using bench = await startBench(SCRIPT)
    const slow = await greeted(bench)
    await slow.next('snapshot')
    slow.socket.pause()
    await answered(bench)
    time.pass(10)
    slow.socket.resume()
    assert.equal(await slow.closed, '4013 overloaded')
  })

  it('is not closed as long as it takes something now and then', async (t) => {
    const time = stopTime(t)
    await using bench = await startBench(SCRIPT)
    const slow = await greeted(bench)
    const start = viewFrom((await slow.next('snapshot')).snapshot)
    slow.socket.pause()
    await answered(bench)
    time.pass(4)
    slow.socket.resume()
    assert.deepEqual(await readAll(slow, start), ANSWERS)
    time.pass(1)
    slow.send({ type: 'commands', commands: [{ type: 'rename', title: 'Still here', id: uuidV7() }] })
    assert.equal((await slow.next('receipt')).status, 'done')
    await slow.close()
  })

  it('is closed before the answers to what it keeps sending fill the memory', async () => {
    const harness = new Harness({
      id: 'h',
      agent: new Agent({ id: 'a', model: scriptedModel([]) }),
      modes: [{ id: 'm' }],
    })
    const hub = new Hub(servedHarness(harness))
    const desk = new CommandExecutor(hub, { folders: [], worktrees: false })
    const closed: CloseReason[] = []
    const sink = {
      send: () => undefined,
      buffered: 10 ** 6,
      taken: 0,
      close: (reason: CloseReason) => closed.push(reason),
    }
    const connection = new ServedConnection(hub, desk, { principal: 'owner', role: 'view' }, sink)
    const junk = JSON.stringify({
      type: 'commands',
      commands: Array.from({ length: LIMITS.commands }, () => ({ type: 'dance' })),
    })
    for (let count = 0; count < 100; count++) connection.receive(junk)
    assert.deepEqual(closed, [], 'a few of them are kept')
    for (let count = 0; count < 400; count++) connection.receive(junk)
    assert.deepEqual(closed, ['overloaded'])
    const greeting = new ServedConnection(hub, desk, { principal: 'owner', role: 'view' }, sink)
    for (let count = 0; count < 1000; count++) greeting.receive(JSON.stringify(hello))
    assert.equal(closed.length, 1, 'a few of them are handled')
    greeting.receive(JSON.stringify(hello))
    assert.deepEqual(closed, ['overloaded', 'overloaded'])
    await hub.close()
    await harness.destroy()
  })

  it('gets no answers to its pings until it reads again', async () => {
    await using bench = await startBench([])
    const [slow, other] = [await greeted(bench), await greeted(bench)]
    const { thread } = await slow.next('snapshot')
    await other.next('snapshot')
    const rename = async (title: string): Promise<string> => {
      const id = uuidV7()
      slow.send({ type: 'commands', commands: [{ type: 'rename', title, id, thread }] })
      await other.next('delta', (delta) => JSON.stringify(delta).includes(title))
      return id
    }
    let pongs = 0
    slow.socket.on('pong', () => pongs++)
    slow.socket.pause()
    const pings = 20_000
    for (let count = 0; count < pings; count++) slow.socket.ping('x'.repeat(125))
    await rename('After all pings')
    slow.socket.resume()
    const last = await rename('Read again')
    await slow.next('receipt', ({ id }) => id === last)
    assert.ok(pongs > 0 && pongs < pings / 2, `${pongs} pongs`)
    await slow.close()
    await other.close()
  })
})

describe('an event stream whose client does not read', () => {
  async function stream(bench: ServerBench): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${bench.token}`, host: 'localhost' }
    const socketPath = bench.url.slice('unix:'.length)
    const request = httpRequest({ socketPath, path: '/v1/events', headers, agent: false }).end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.on('error', () => undefined)
    response.pause()
    return response
  }

  it('ends with the reason', async (t) => {
    const time = stopTime(t)
    await using bench = await startBench(SCRIPT)
    const slow = await stream(bench)
    await answered(bench)
    time.pass(9)
    let text = ''
    for await (const chunk of slow.setEncoding('utf8')) text = (text + String(chunk)).slice(-1000)
    assert.match(text, /event: close\ndata: \{"reason":"overloaded"\}\n\n$/)
  })

  it('is cut off when nobody reads the reason either', async (t) => {
    const time = stopTime(t)
    await using bench = await startBench(SCRIPT)
    const slow = await stream(bench)
    await answered(bench)
    time.pass(14)
    slow.resume()
    await assert.rejects(async () => {
      for await (const _chunk of slow);
    }, /aborted/)
  })
})

describe('a feed that must read its thread again', () => {
  it('brings all who watch up to date, although nothing more happens in the thread', async () => {
    const store = new MemoryStore()
    const thread = 'broken'
    await createThread(store, { id: thread, resourceId: 'r' })
    let state: ThreadState = emptyState(thread)
    let push: (frame: DeltaFrame) => void = () => undefined
    const feed = new ThreadFeed(thread, store, {
      get state() {
        return state
      },
      isBusy: false,
      onFrame: (listener) => {
        push = listener
        return () => undefined
      },
      close: async () => undefined,
    })
    await feed.ready()
    const [sent, sentToSeed]: [ServerMessage[], ServerMessage[]] = [[], []]
    const options = { feed, window: 50, isOnly: true, isOpen: () => true }
    const into = (list: ServerMessage[]) => (text: string) => void list.push(JSON.parse(text) as ServerMessage)
    watchThread({ ...options, send: into(sent) }, null)
    watchAsSeed({ ...options, send: into(sentToSeed) })
    state = { ...state, head: { ...state.head, seq: 7, title: 'After' } }
    push({ type: 'delta', seq: 6, operations: [{ type: 'set', path: ['messages', 'm'], value: 'no message' }] })
    feed.flush()
    await feed.ready()
    const [, last] = sent
    assert.deepEqual(last?.type === 'snapshot' && [last.resync, last.snapshot.seq], ['gap', 7])
    assert.deepEqual(
      sentToSeed.map((message) => message.type === 'state' && message.seq),
      [0, 7],
    )
    await feed.close()
  })
})
