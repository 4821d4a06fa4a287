import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { after, before, suite, test } from 'node:test'
import type pg from 'pg'
import type { Command } from '@inspan/protocol/wire'
import { startPostgres, withClient, type PostgresServer } from '../server.fixture.ts'
import { Fleet, noneTwice, until, uuid7, type Request } from './fleet.fixture.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

/** Enough to see the common case here. `npm run test:soak` takes its time. */
const THREADS = Number(process.env['INSPAN_THREADS'] ?? 60)
const PARKED = Number(process.env['INSPAN_PARKED'] ?? 2000)
const ANSWERED = Number(process.env['INSPAN_ANSWERED'] ?? 40)

/** Seldom: counting many rows takes a while itself. */
const LOOK_MS = 250

/** Commands that still have no outcome. */
async function open(fleet: Fleet): Promise<number> {
  return (await fleet.store.listCommands({ state: 'accepted', limit: 1000 })).items.length
}

const PENDING_SQL = `SELECT count(*)::int AS n FROM harness.waits WHERE state = 'pending'`
const ENDED_SQL = `SELECT count(*)::int AS n FROM harness.records WHERE type = 'run.ended'`

const DOUBTED_SQL = `SELECT DISTINCT id FROM harness.records JOIN harness.streams ON no = stream_no
  WHERE type = 'tool-result' AND body LIKE '%"in-doubt"%'`
const TAKEN_SQL = `SELECT DISTINCT id FROM harness.records JOIN harness.streams ON no = stream_no
  WHERE type = 'run.resumed' AND body NOT LIKE '%"reason":"answer"%'`

async function idsOf(client: pg.Client, sql: string): Promise<Set<string>> {
  const { rows } = await client.query(sql)
  return new Set((rows as { id: string }[]).map(({ id }) => id))
}

async function countOf(client: pg.Client, sql: string): Promise<number> {
  const { rows } = await client.query(sql)
  return (rows as { n: number }[])[0]?.n ?? 0
}

suite('many threads on three machines', () => {
  test(`${THREADS} threads on each: every command happens once, though a tenth is sent again through another machine`, async () => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 3)
    const machines = [...fleet.machines.values()]
    const command: Command = { type: 'submit', prompt: 'note 2' }
    const threads: string[] = []
    let again = 0
    for (let index = 0; index < THREADS * machines.length; index++) {
      const thread = await fleet.create()
      threads.push(thread)
      const request: Request = { commandId: uuid7(), thread, command }
      const place = Math.floor(Math.random() * machines.length)
      const [first, second] = [machines[place], machines[(place + 1) % machines.length]]
      assert.ok(first !== undefined && second !== undefined)
      const sent = [fleet.through(first, request)]
      if (index % 10 === 0) sent.push(fleet.through(second, request))
      const answers = (await Promise.all(sent)).sort()
      again += answers.length - 1
      assert.deepEqual(answers, ['accepted', 'duplicate'].slice(0, answers.length))
    }
    assert.equal(again, Math.ceil(threads.length / 10))
    for (const thread of threads) await until(() => fleet.hasEnded(thread))
    assert.equal(noneTwice(await fleet.effects()), threads.length * 2)
    assert.equal(await open(fleet), 0)
    // Per process: a pool of ten and one line; the test has a pool as well.
    assert.ok((await fleet.connections()) <= 4 * 10 + 3)
  })

  test(`${PARKED} threads wait without a process, and those that are answered continue elsewhere, once`, async (t) => {
    const url = await server.emptyDatabase()
    await using fleet = await Fleet.start(url, 1)
    const model = await fleet.submit('careful 1')
    await until(async () => (await fleet.store.listWaits({ state: 'pending' })).items.length === 1)
    await until(async () => (await fleet.ownerOf(model)) === undefined)
    for (const pid of fleet.machines.keys()) await fleet.kill(pid)
    await withClient(url, (client) => client.query(COPY_SQL, [model, PARKED]))
    await withClient(url, (client) => client.query('ANALYZE'))
    await Promise.all([fleet.add(), fleet.add(), fleet.add()])
    const machines = [...fleet.machines.values()]
    const [{ wait } = { wait: undefined }] = (await fleet.store.listWaits({ stream: model })).items
    assert.ok(wait !== undefined)
    const every = Math.floor(PARKED / ANSWERED)
    const answered = Array.from({ length: ANSWERED }, (_, index) => `${model}/${1 + index * every}`)
    const left = [...answered]
    const command: Command = { type: 'answer', waitId: wait.id, decision: 'approve' }
    const answerAll = async (machine: ChildProcess): Promise<void> => {
      for (let thread = left.pop(); thread !== undefined; thread = left.pop()) {
        assert.equal(await fleet.through(machine, { commandId: uuid7(), thread, command }), 'accepted')
      }
    }
    const startedAt = performance.now()
    await Promise.all([...machines, ...machines, ...machines].map(answerAll))
    await withClient(url, async (client) => {
      const unanswered = PARKED + 1 - ANSWERED
      await until(async () => (await countOf(client, PENDING_SQL)) === unanswered, LOOK_MS)
      await until(async () => (await countOf(client, ENDED_SQL)) === ANSWERED, LOOK_MS)
    })
    const seconds = (performance.now() - startedAt) / 1000
    t.diagnostic(`${ANSWERED} answers took ${Math.round(seconds)} s, ${Math.round(ANSWERED / seconds)} per second`)
    const effects = (await fleet.effects()).map((line) => line.split(' ')[0] ?? '')
    noneTwice(effects)
    const acted = new Set(effects)
    // A machine that is too busy to show that it lives loses its runs. What it was just beginning is in doubt.
    const [doubted, taken] = await withClient(url, async (client) => [
      await idsOf(client, DOUBTED_SQL),
      await idsOf(client, TAKEN_SQL),
    ])
    assert.deepEqual(
      [...doubted].filter((thread) => !taken.has(thread)),
      [],
    )
    assert.deepEqual(new Set([...acted, ...doubted]), new Set(answered))
    t.diagnostic(`${acted.size} acted; ${doubted.size} calls are in doubt, of ${taken.size} runs that were taken over`)
  })

  test('machines that are replaced one after the other under load lose nothing and repeat nothing', async () => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 3)
    const threads: string[] = []
    const over = new AbortController()
    const load = (async () => {
      while (!over.signal.aborted) {
        threads.push(await fleet.submit('note 4'))
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    })()
    const old = Array.from(fleet.machines.keys())
    for (const pid of old) {
      await fleet.add()
      await fleet.kill(pid, 'SIGTERM')
    }
    over.abort()
    await load
    for (const thread of threads) await until(() => fleet.hasEnded(thread))
    // Nothing was in doubt, so every call happened.
    assert.equal(noneTwice(await fleet.effects()), threads.length * 4)
  })

  test('machines whose clocks are minutes apart take over from each other, and nothing happens twice', async () => {
    await using fleet = await Fleet.start(await server.emptyDatabase(), 0)
    const minutes = 60_000
    const behind = await fleet.add({ CLOCK_AHEAD_MS: String(-7 * minutes) })
    const ahead = await fleet.add({ CLOCK_AHEAD_MS: String(5 * minutes) })
    const few = await Promise.all(Array.from({ length: 6 }, () => fleet.submit('note 2')))
    for (const thread of few) await until(() => fleet.hasEnded(thread))
    assert.equal(noneTwice(await fleet.effects()), 12)
    for (const victim of [behind, ahead]) {
      const thread = await fleet.submit('note 40')
      await until(async () => (await fleet.ownerOf(thread)) !== undefined)
      const owner = (await fleet.ownerOf(thread)) ?? 0
      const skew = owner === victim.pid ? 5 * minutes : -7 * minutes
      await fleet.kill(owner)
      await fleet.isTakenFrom(thread, owner)
      await until(() => fleet.hasEnded(thread))
      await fleet.add({ CLOCK_AHEAD_MS: String(skew) })
    }
    noneTwice(await fleet.effects())
  })
})

/** Copies a thread that waits, with everything that belongs to it: a run of each would take hours. */
const COPY_SQL = `WITH model AS (SELECT * FROM harness.streams WHERE id = $1),
  copies AS (INSERT INTO harness.streams (id, kind, head_seq, owner, epoch, format, resource_id, labels)
    SELECT id || '/' || n, kind, head_seq, NULL, epoch, format, resource_id, labels FROM model, generate_series(1, $2) AS n
    RETURNING no, id),
  threads AS (INSERT INTO harness.threads (stream_no, id, resource_id, hidden, created_at, updated_at, root, links, title, metadata)
    SELECT copies.no, copies.id, resource_id, hidden, created_at, updated_at, root, links, title, metadata
    FROM copies, harness.threads WHERE threads.id = $1),
  records AS (INSERT INTO harness.records (stream_no, seq, first, type, v, at, extra, part, body)
    SELECT copies.no, seq, first, type, v, at, extra, part, body FROM copies, harness.records
    WHERE stream_no = (SELECT no FROM model)),
  messages AS (INSERT INTO harness.messages (stream_no, seq, id, json)
    SELECT copies.no, seq, messages.id, json FROM copies, harness.messages WHERE stream_no = (SELECT no FROM model))
  INSERT INTO harness.waits (stream_no, id, state, opened_at, due, wait, settled)
    SELECT copies.no, waits.id, state, opened_at, due, wait, settled FROM copies, harness.waits
    WHERE stream_no = (SELECT no FROM model)`
