import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Agent, Harness } from '@inspan/core'
import { serve, type InspanServer } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { connect, type Client, type ClientState } from './index.ts'

type Script = Parameters<typeof scriptedModel>[0]

class Served implements AsyncDisposable {
  readonly harness: Harness
  readonly clients: Client[] = []
  server: InspanServer

  private constructor(harness: Harness, server: InspanServer) {
    this.harness = harness
    this.server = server
  }

  static async start(script: Script): Promise<Served> {
    const agent = new Agent({ id: 'agent', model: scriptedModel(script) })
    const harness = new Harness({ id: 'served', agent, modes: [{ id: 'build' }] })
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

function until(client: Client, holds: (state: ClientState) => boolean): Promise<ClientState> {
  return new Promise((resolve) => {
    const state = client.getState()
    if (holds(state)) {
      resolve(state)
      return
    }
    const stop = client.subscribe((next) => {
      if (!holds(next)) return
      stop()
      resolve(next)
    })
  })
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

  it('works in the process of the server, without a socket', async () => {
    await using served = await Served.start([{ text: 'Here.' }])
    const [local, remote] = [await served.connect({ transport: served.server.transport() }), await served.connect()]
    local.send({ type: 'submit', prompt: 'Hi' })
    const states = await Promise.all([until(local, idleAfter(2)), until(remote, idleAfter(2))])
    assert.deepEqual(states[0]?.messages, states[1]?.messages)
    assert.equal((await local.routes.modes()).default, 'build')
  })

  it('fails at once with a wrong token, and says so', async () => {
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
})
