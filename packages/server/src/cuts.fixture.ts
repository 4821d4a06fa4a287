import assert from 'node:assert/strict'
import { Agent, Harness, MemoryStore } from '@inspan/core'
import { connect, webSocketTransport, type Client, type Transport } from '@inspan/client'
import { storedHead } from '@inspan/protocol/log'
import { scriptedModel } from '@inspan/testing'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { eventTransport } from './event-transport.fixture.ts'
import { serve } from './serve.ts'

/** One random history of clients, cuts, repeated commands and restarts. */
export interface CutPlan {
  /** After how many messages each connection is cut, one after the other; the last one stays. */
  readonly cuts: readonly number[]
  /** For how many milliseconds each connection reads nothing after its third message. */
  readonly stalls: readonly number[]
  /** What each client says, whether it is sent twice, and whether it asks for something impossible. */
  readonly said: readonly { readonly client: number; readonly twice: boolean; readonly isImpossible: boolean }[]
  /** Before which of the messages the server is restarted. */
  readonly restarts: readonly number[]
}

/**
 * Loses connections: each is cut after so many messages from the server, and is slow to read some. Sends some commands
 * twice. Several clients share the lists, so that their connections are lost in any order.
 */
function cutting(
  transport: Transport,
  cuts: number[],
  stalls: number[],
  on: { readonly twice: () => boolean; readonly cut: () => void },
): Transport {
  return {
    request: (path, init) => transport.request(path, init),
    open: (events) => {
      let left = cuts.shift() ?? Infinity
      let untilStall = 3
      let reading: Promise<unknown> = Promise.resolve()
      let isStalled = false
      const read = (message: Parameters<typeof events.onMessage>[0]): void => {
        // The message is lost together with the connection.
        if (left-- === 0) on.cut()
        if (left < 0) connection.close()
        else events.onMessage(message)
      }
      const connection = transport.open({
        ...events,
        onMessage: (message) => {
          const stall = --untilStall === 0 ? (stalls.shift() ?? 0) : 0
          if (stall > 0) reading = reading.then(() => sleep(stall))
          isStalled ||= stall > 0
          if (isStalled) reading = reading.then(() => read(message))
          else read(message)
        },
        onClose: (disconnect) => void reading.then(() => events.onClose(disconnect)),
      })
      return {
        close: () => connection.close(),
        send: (message) => {
          connection.send(message)
          if (message.type === 'commands' && on.twice()) connection.send(message)
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

/** How long the last changes may take to reach a client. */
const LATE_MS = 60_000

/** All replicas hold what the server has: the whole head and all messages, not only the texts. */
async function allShow(clients: readonly Client[], truth: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + LATE_MS
  for (;;) {
    const wanted = await truth()
    const wrong = clients.map(replicaOf).find((replica) => !isDeepStrictEqual(replica, wanted))
    if (wrong === undefined) return
    if (performance.now() > until) assert.deepEqual(wrong, wanted)
    await sleep(10)
  }
}

/** Everything that a client shows of the thread, as data, without what is its own: its connection and its commands. */
function replicaOf(client: Client): unknown {
  const {
    connection: _connection,
    head,
    pending: _pending,
    problem: _problem,
    refused: _refused,
    ...shown
  } = client.getState()
  // Only a snapshot brings the seq of the head.
  const { seq: _seq, ...stored } = storedHead(head)
  return JSON.parse(JSON.stringify({ ...shown, head: stored }))
}

/** Plays a plan and returns how many connections were cut. All clients must end with the server's state, and every message must be there exactly once. */
export async function play({ cuts, restarts, said, stalls }: CutPlan): Promise<number> {
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
  const pauses = [...stalls]
  let isTwice = false
  let made = 0
  const on = { twice: () => isTwice, cut: () => void made++ }
  const transports = [webSocketTransport({ url, token }), eventTransport({ url, token })]
  const retry = { firstMs: 1, longestMs: 5 }
  const clients = await Promise.all(
    transports.map((transport) => connect({ transport: cutting(transport, left, pauses, on), retry })),
  )
  try {
    const receipts = []
    for (const [index, { client, isImpossible, twice }] of said.entries()) {
      if (restarts.includes(index)) {
        await server.close()
        server = await serve({ harness, port, token })
      }
      isTwice = twice
      const sent = clients[client % clients.length]?.send(
        isImpossible ? { type: 'queue-remove', itemId: 'nowhere' } : { type: 'follow-up', message: `message ${index}` },
      )
      if (sent !== undefined) receipts.push(sent.receipt)
    }
    for (const [index, { reason, status }] of (await Promise.all(receipts)).entries()) {
      const outcome = said[index]?.isImpossible === true ? ['rejected', 'unknown-id'] : ['done', undefined]
      assert.deepEqual([status, reason], outcome)
    }
    const possible = said.flatMap(({ isImpossible }, index) => (isImpossible ? [] : [`user: message ${index}`]))
    const fresh = await connect({ url, token })
    clients.push(fresh)
    const isDone = ({ getState }: { getState: () => ReturnType<Client['getState']> }): boolean => {
      const { connection, head, messages, status } = getState()
      const users = messages.filter(({ role }) => role === 'user')
      return connection === 'open' && status === 'idle' && head.queue.size === 0 && users.length >= possible.length
    }
    await Promise.all(clients.map((client) => until(client, () => isDone({ getState: () => client.getState() }))))
    await allShow(clients, async () => {
      const last = await connect({ url, token })
      await last.close()
      return replicaOf(last)
    })
    const shown = fresh.getState().messages.map(({ content, role }) => `${role}: ${content}`)
    const users = shown.filter((line) => line.startsWith('user: '))
    assert.deepEqual(users.toSorted(), possible.toSorted())
    return made
  } finally {
    for (const client of clients) await client.close()
    await server.close()
    await harness.destroy()
  }
}
