import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Client } from '@inspan/client'
import { startPostgres, type PostgresServer } from '../server.fixture.ts'
import { Fleet, noneTwice, percentile, until } from './fleet.fixture.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

/** A few here; the soak has ten threads with a hundred clients each, and holds them to the time. */
const THREADS = Number(process.env['INSPAN_WATCHED'] ?? 2)
const CLIENTS = Number(process.env['INSPAN_CLIENTS'] ?? 5)
const IS_SOAK = process.env['INSPAN_CLIENTS'] !== undefined
const MOST_BEHIND_MS = 150
/** Seldom: a thousand clients are asked for their state, in the process that measures when they hear something. */
const LOOK_MS = 500
/** How many calls of a second each the runs of a thread make. */
const NOTES = IS_SOAK ? [4, 5, 6] : [1, 2, 1]

/** What a client shows of the conversation. */
function shown(client: Client): unknown {
  const { head, messages, pendingApprovals } = client.getState()
  return { messages, pendingApprovals, run: head.run, lastRun: head.lastRun }
}

/** Whether the client has seen the end of as many runs. */
function hasSeen(client: Client, runs: number): boolean {
  const { head, messages } = client.getState()
  return head.run === null && messages.filter(({ role }) => role === 'user').length === runs
}

suite('clients of several machines', () => {
  test('a command to a process that does not own the thread is carried out by the one that does', async () => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 0)
    const [one = 0, two = 0] = await fleet.serve(2)
    const thread = await fleet.create()
    const [first, second] = [await fleet.connect(one, thread), await fleet.connect(two, thread)]
    first.send({ type: 'submit', prompt: 'note 60' })
    await until(async () => (await fleet.effects()).length > 2)
    const owner = await fleet.ownerOf(thread)
    assert.ok(owner === one || owner === two)
    // Whichever process has it, the other one's client steers and cancels.
    const other = owner === one ? second : first
    const { status } = await other.send({ type: 'cancel' }).receipt
    assert.equal(status, 'done')
    await until(() => hasSeen(first, 1) && hasSeen(second, 1))
    const done = (await fleet.effects()).length
    assert.ok(done < 60, `${done} effects happened`)
    assert.deepEqual(shown(first), shown(second))
  })

  test('an approval that one process opened is answered by a client of another', async () => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 0)
    const [one = 0, two = 0] = await fleet.serve(2)
    const thread = await fleet.create()
    const [first, second] = [await fleet.connect(one, thread), await fleet.connect(two, thread)]
    first.send({ type: 'submit', prompt: 'careful 1' })
    await until(() => (second.getState().pendingApprovals ?? []).length === 1)
    const [approval] = second.getState().pendingApprovals ?? []
    assert.ok(approval !== undefined)
    const { status } = await second.send({ type: 'approve', toolCallId: approval.toolCallId }).receipt
    assert.equal(status, 'done')
    await until(() => hasSeen(first, 1) && hasSeen(second, 1))
    assert.deepEqual(shown(first), shown(second))
    assert.equal(noneTwice(await fleet.effects()), 1)
  })

  test(`${THREADS} × ${CLIENTS} clients on three processes end equal, and see each append soon`, async (t) => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 0)
    const pids = await fleet.serve(3)
    const watched: {
      readonly thread: string
      readonly clients: Client[]
      readonly seen: [seq: number, at: number][]
    }[] = []
    for (let index = 0; index < THREADS; index++) {
      const thread = await fleet.create()
      const clients: Client[] = []
      const seen: [number, number][] = []
      const onDelta = (seq: number): void => void seen.push([seq, Date.now()])
      for (let each = 0; each < CLIENTS; each++) {
        clients.push(await fleet.connect(pids[each % pids.length] ?? 0, thread, onDelta))
      }
      watched.push({ thread, clients, seen })
    }
    const lags: number[] = []
    for (const [round, notes] of NOTES.entries()) {
      // By another client each time, so through another process.
      for (const { clients } of watched) clients[round]?.send({ type: 'submit', prompt: `slow ${notes}` })
      await until(() => watched.every(({ clients }) => clients.every((client) => hasSeen(client, round + 1))), LOOK_MS)
    }
    for (const { clients, seen, thread } of watched) {
      const [first, ...others] = clients
      assert.ok(first !== undefined)
      for (const other of others) assert.deepEqual(shown(other), shown(first))
      // A record says when it was made, a moment before it was appended.
      const { items } = await fleet.store.readRecords(thread, { limit: 1000 })
      const madeAt = new Map(items.map(({ at, seq }) => [seq, at]))
      for (const [seq, at] of seen) if (madeAt.has(seq)) lags.push(at - (madeAt.get(seq) ?? 0))
    }
    assert.equal(noneTwice(await fleet.effects()), THREADS * NOTES.reduce((sum, notes) => sum + notes))
    const p99 = percentile(lags, 0.99)
    t.diagnostic(`${lags.length} looks: ${percentile(lags, 0.5)} ms (median), ${p99} ms (p99) behind the append`)
    if (IS_SOAK) assert.ok(p99 <= MOST_BEHIND_MS, `p99 is ${p99} ms`)
  })
})
