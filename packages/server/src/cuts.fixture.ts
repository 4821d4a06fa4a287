import assert from 'node:assert/strict'
import { Agent, Harness, MemoryStore } from '@inspan/core'
import { connect, webSocketTransport, type Client, type Transport } from '@inspan/client'
import { scriptedModel } from '@inspan/testing'
import { serve } from './serve.ts'

/** One random history of clients, cuts, repeated commands and restarts. */
export interface Plan {
  /** After how many messages each connection is cut, one after the other; the last one stays. */
  readonly cuts: readonly number[]
  /** What each client says, and whether it is sent twice. */
  readonly said: readonly { readonly client: number; readonly twice: boolean }[]
  /** Before which of the messages the server is restarted. */
  readonly restarts: readonly number[]
}

/** Loses connections: each is cut after so many messages from the server. Sends some commands twice. */
function cutting(transport: Transport, cuts: number[], twice: () => boolean): Transport {
  return {
    request: (path, init) => transport.request(path, init),
    open: (events) => {
      let left = cuts.shift() ?? Infinity
      const connection = transport.open({
        ...events,
        onMessage: (message) => {
          // The message is lost together with the connection.
          if (left-- <= 0) connection.close()
          else events.onMessage(message)
        },
      })
      return {
        close: () => connection.close(),
        send: (message) => {
          connection.send(message)
          if (message.type === 'commands' && twice()) connection.send(message)
        },
      }
    },
  }
}

function until(client: Client, holds: (client: Client) => boolean): Promise<void> {
  return new Promise((resolve) => {
    if (holds(client)) {
      resolve()
      return
    }
    const stop = client.subscribe(() => {
      if (!holds(client)) return
      stop()
      resolve()
    })
  })
}

/** Plays a plan. All clients must end with the server's state, and every message must be there exactly once. */
export async function play({ cuts, restarts, said }: Plan): Promise<void> {
  const model = scriptedModel(said.flatMap(() => [{ text: ['ans', 'wer'] }, { text: 'more' }]))
  const harness = new Harness({
    id: 'cuts',
    agent: new Agent({ id: 'agent', model }),
    modes: [{ id: 'build' }],
    storage: new MemoryStore(),
  })
  let server = await serve({ harness })
  const { port, token, url } = server
  const left = [...cuts]
  let isTwice = false
  const transport = (): Transport => cutting(webSocketTransport({ url, token }), left, () => isTwice)
  const options = { retry: { firstMs: 1, longestMs: 5 } }
  const clients = await Promise.all([0, 1].map(() => connect({ transport: transport(), ...options })))
  try {
    const receipts = []
    for (const [index, { client, twice }] of said.entries()) {
      if (restarts.includes(index)) {
        await server.close()
        server = await serve({ harness, port, token })
      }
      isTwice = twice
      const sent = clients[client % clients.length]?.send({ type: 'follow-up', message: `message ${index}` })
      if (sent !== undefined) receipts.push(sent.receipt)
    }
    for (const { reason, status } of await Promise.all(receipts)) assert.equal(status, 'done', reason)
    const fresh = await connect({ url, token })
    clients.push(fresh)
    const isDone = ({ getState }: { getState: () => ReturnType<Client['getState']> }): boolean => {
      const { connection, head, messages, status } = getState()
      const users = messages.filter(({ role }) => role === 'user')
      return connection === 'open' && status === 'idle' && head.queue.size === 0 && users.length >= said.length
    }
    await Promise.all(clients.map((client) => until(client, () => isDone({ getState: () => client.getState() }))))
    const shown = clients.map((client) => client.getState().messages.map(({ content, role }) => `${role}: ${content}`))
    for (const each of shown) assert.deepEqual(each, shown.at(-1))
    const users = shown.at(-1)?.filter((line) => line.startsWith('user: ')) ?? []
    assert.deepEqual(users.toSorted(), said.map((_, index) => `user: message ${index}`).toSorted())
  } finally {
    for (const client of clients) await client.close()
    await server.close()
    await harness.destroy()
  }
}
