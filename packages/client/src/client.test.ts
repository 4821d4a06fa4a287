import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Agent, Harness, MemoryStore } from '@inspan/core'
import { InspanError } from '@inspan/protocol'
import { LIMITS } from '@inspan/protocol/schema'
import { serve, type InspanServer } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { connect, webSocketTransport, type Client, type ClientState, type Transport } from './index.ts'
import { until } from './until.fixture.ts'

type Script = Parameters<typeof scriptedModel>[0]

class Served implements AsyncDisposable {
  readonly harness: Harness
  readonly clients: Client[] = []
  server: InspanServer

  private constructor(harness: Harness, server: InspanServer) {
    this.harness = harness
    this.server = server
  }

  static async start(script: Script, storage: MemoryStore = new MemoryStore()): Promise<Served> {
    const agent = new Agent({ id: 'agent', model: scriptedModel(script) })
    const harness = new Harness({ id: 'served', agent, modes: [{ id: 'build' }], storage })
    return new Served(harness, await serve({ harness }))
  }

  async connect(options: Partial<Parameters<typeof connect>[0]> = {}): Promise<Client> {
    const client = await connect({ url: this.server.url, token: this.server.token, ...options })
    this.clients.push(client)
    return client
  }

  /** Stops the server and starts it again on the same port. */
  async restart(): Promise<void> {
    const { port, token } = this.server
    await this.server.close()
    this.server = await serve({ harness: this.harness, port, token })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.clients) await client.close()
    await this.server.close()
    await this.harness.destroy()
  }
}

const idleAfter =
  (count: number) =>
  ({ messages, status }: ClientState): boolean =>
    status === 'idle' && messages.length === count

describe('connect', () => {
  it('shows the state of the newest thread and follows it', async () => {
    await using served = await Served.start([{ text: ['Hel', 'lo'] }])
    const client = await served.connect()
    assert.equal(client.getState().status, 'idle')
    const { receipt } = client.send({ type: 'submit', prompt: 'Hi' })
    assert.equal((await receipt).status, 'done')
    const { messages, pending } = await until(client, idleAfter(2))
    assert.deepEqual(
      messages.map(({ content }) => content),
      ['Hi', 'Hello'],
    )
    assert.deepEqual(pending, [])
  })

  it('shows several clients the same', async () => {
    await using served = await Served.start([{ text: 'Same for all.' }])
    const [one, two] = [await served.connect(), await served.connect()]
    one.send({ type: 'submit', prompt: 'Hi' })
    const states = await Promise.all([until(one, idleAfter(2)), until(two, idleAfter(2))])
    assert.deepEqual(states[0]?.messages, states[1]?.messages)
  })

  it('connects again after a restart of the server, without a new snapshot of what it has', async () => {
    await using served = await Served.start([{ text: 'before' }, { text: 'after' }])
    const client = await served.connect()
    client.send({ type: 'submit', prompt: 'one' })
    const { messages } = await until(client, idleAfter(2))
    await served.restart()
    client.send({ type: 'submit', prompt: 'two' })
    const later = await until(client, idleAfter(4))
    assert.equal(later.messages[0], messages[0], 'what did not change keeps its identity')
    assert.equal(later.messages[3]?.content, 'after')
  })

  it('sends a command that was made while disconnected, once', async () => {
    await using served = await Served.start([{ text: 'only once' }, { text: 'never' }])
    const client = await served.connect()
    const { port, token } = served.server
    await served.server.close()
    await until(client, ({ connection }) => connection !== 'open')
    const { receipt } = client.send({ type: 'submit', prompt: 'later' })
    assert.equal(client.getState().pending.length, 1)
    served.server = await serve({ harness: served.harness, port, token })
    assert.equal((await receipt).status, 'done')
    assert.equal((await until(client, idleAfter(2))).messages[1]?.content, 'only once')
  })

  it('sends all that was made while disconnected, in order, though it is more than one message may hold', async () => {
    await using served = await Served.start([])
    const client = await served.connect({ retry: { firstMs: 1, longestMs: 5 } })
    const { port, token } = served.server
    await served.server.close()
    await until(client, ({ connection }) => connection !== 'open')
    const data = 'A'.repeat(12_000_000)
    const attachments = [{ mimeType: 'text/plain', data }]
    const files = [1, 2, 3].map((one) =>
      client.send({ type: 'submit', prompt: `${one}`, attachments, expect: { headMessageId: 'none' } }),
    )
    const titles = Array.from({ length: LIMITS.commands + 20 }, (_, index) => `Title ${index}`)
    const named = titles.map((title) => client.send({ type: 'rename', title }))
    served.server = await serve({ harness: served.harness, port, token })
    const refused = await Promise.all(files.map(({ receipt }) => receipt))
    assert.deepEqual(new Set(refused.map(({ reason }) => reason)), new Set(['wrong-anchor']))
    const done = await Promise.all(named.map(({ receipt }) => receipt))
    assert.ok(done.every(({ status }) => status === 'done'))
    assert.equal(client.getState().head.title, titles.at(-1))
    assert.deepEqual(client.getState().pending, [])
  })

  it('refuses a command that the server would not accept, and sends the others', async () => {
    await using served = await Served.start([{ text: 'Hello' }])
    const client = await served.connect()
    const attachments = [1, 2].map(() => ({ mimeType: 'text/plain', data: 'A'.repeat(18_000_000) }))
    const { message, reason, status } = await client.send({ type: 'submit', prompt: 'Two', attachments }).receipt
    assert.deepEqual([status, reason], ['rejected', 'invalid'])
    assert.match(message ?? '', /32 MiB/)
    assert.equal(client.getState().refused.length, 1)
    assert.equal((await client.send({ type: 'submit', prompt: 'None' }).receipt).status, 'done')
    const { messages } = await until(client, idleAfter(2))
    assert.equal(messages[1]?.content, 'Hello')
  })

  it('asks again about a command whose end the server does not know yet, until it has its receipt', async () => {
    class DownStore extends MemoryStore {
      isDown = false
      override async getThread(id: string): ReturnType<MemoryStore['getThread']> {
        if (this.isDown) throw new InspanError('io', 'The disk does not answer.')
        return super.getThread(id)
      }
    }
    const storage = new DownStore()
    await using served = await Served.start([], storage)
    const { token, url } = served.server
    const network = webSocketTransport({ url, token })
    let undecided = 0
    const transport: Transport = {
      ...network,
      open: (events) =>
        network.open({
          ...events,
          onMessage: (message) => {
            if (message.type === 'receipt' && message.status === 'accepted' && ++undecided === 2) storage.isDown = false
            events.onMessage(message)
          },
        }),
    }
    const client = await served.connect({ transport, retry: { firstMs: 1, longestMs: 5 } })
    storage.isDown = true
    const { status } = await client.send({ type: 'rename', title: 'Once' }).receipt
    assert.deepEqual([status, undecided, client.getState().pending], ['done', 2, []])
  })

  it('keeps connecting although a server that is gone never answers its requests', async (t) => {
    await using served = await Served.start([])
    const { port, token, url } = served.server
    const network = webSocketTransport({ url, token })
    const asked = Promise.withResolvers<void>()
    const transport: Transport = {
      ...network,
      request: () => {
        asked.resolve()
        return new Promise(() => undefined)
      },
    }
    const client = await served.connect({ transport, retry: { firstMs: 1, longestMs: 5 } })
    t.mock.timers.enable({ apis: ['setTimeout'] })
    await served.server.close()
    await asked.promise
    t.mock.timers.tick(10_000)
    t.mock.timers.reset()
    served.server = await serve({ harness: served.harness, port, token })
    await until(client, ({ connection }) => connection === 'open')
  })

  it('works in the process of the server, without a socket', async () => {
    await using served = await Served.start([{ text: 'Here.' }])
    const [local, remote] = [await served.connect({ transport: served.server.transport() }), await served.connect()]
    local.send({ type: 'submit', prompt: 'Hi' })
    const states = await Promise.all([until(local, idleAfter(2)), until(remote, idleAfter(2))])
    assert.deepEqual(states[0]?.messages, states[1]?.messages)
    assert.equal((await local.routes.modes()).default, 'build')
  })

  it('works in the process of a server that listens on a unix socket, its routes too', async () => {
    const agent = new Agent({ id: 'agent', model: scriptedModel([]) })
    const harness = new Harness({ id: 'served', agent, modes: [{ id: 'build' }] })
    const server = await serve({ harness, socketPath: join(tmpdir(), `inspan-${randomUUID()}.sock`) })
    const client = await connect({ transport: server.transport() })
    const { id } = await client.routes.createThread({ title: 'Here' })
    await client.open(id)
    assert.equal((await client.send({ type: 'rename', title: 'There' }).receipt).status, 'done')
    assert.deepEqual(
      (await client.routes.threads({ search: 'there' })).threads.map((thread) => thread.id),
      [id],
    )
    await assert.rejects(client.routes.revokeToken('nobody'), /no such token/)
    await client.close()
    await server.close()
    await harness.destroy()
  })

  it('fails at once with a wrong token, and reports it', async () => {
    await using served = await Served.start([])
    await assert.rejects(connect({ url: served.server.url, token: 'x'.repeat(43) }), /valid token/)
  })

  it('fails for a thread that does not exist', async () => {
    await using served = await Served.start([])
    await assert.rejects(served.connect({ thread: 'nowhere' }), /nowhere/)
  })

  it('shows another thread without cancelling anything', async () => {
    await using served = await Served.start([{ text: 'a' }, { text: 'b' }])
    const client = await served.connect()
    const first = client.getState().thread
    client.send({ type: 'submit', prompt: 'in the first' })
    await until(client, idleAfter(2))
    const { id } = await client.routes.createThread({ title: 'Second' })
    await client.open(id)
    assert.deepEqual(client.getState().messages, [])
    client.send({ type: 'submit', prompt: 'in the second' })
    assert.equal((await until(client, idleAfter(2))).messages[1]?.content, 'b')
    const { threads } = await client.routes.threads({ search: 'second' })
    assert.deepEqual(
      threads.map(({ title }) => title),
      ['Second'],
    )
    await client.open(first)
    assert.equal(client.getState().messages[1]?.content, 'a')
  })

  it('shows the newest of several threads that are opened at once, and nobody waits for the others', async () => {
    await using served = await Served.start([])
    const client = await served.connect()
    const made = []
    for (const title of ['One', 'Two', 'Three']) made.push(await client.routes.createThread({ title }))
    await Promise.all(made.map(({ id }) => client.open(id)))
    assert.equal(client.getState().thread, made[2]?.id)
    assert.equal(client.getState().head.stream, made[2]?.id)
    await assert.rejects(Promise.all([client.open(made[0]?.id ?? ''), client.open('nowhere')]), /nowhere/)
  })
})
