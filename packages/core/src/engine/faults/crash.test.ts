import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { agentEventsOf, type LogRecord } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { SqliteStore } from '@inspan/stores'
import { recordsAfter } from '../log/load-state.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { closeInterruptedRun } from '../turns/close-interrupted.ts'
import { ThreadLog } from '../log/thread-log.ts'
import { createThread } from '../threads/threads.ts'

const CHILD = fileURLToPath(new URL('crash-child.fixture.ts', import.meta.url))
const POINTS = 50

interface Killed {
  /** The last seq the process reported as written. */
  readonly written: number
  readonly done: boolean
}

/** Starts the child and kills it `pause` ms after it reported its `reports`-th write. */
async function runAndKill(url: string, journal: string, reports: number, pause: number): Promise<Killed> {
  const child = spawn(process.execPath, [CHILD, url, 'thread', journal], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  let isDue = false
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (chunk: string) => {
    output += chunk
    if (isDue || output.split('\n').length <= reports) return
    isDue = true
    void delay(pause).then(() => child.kill('SIGKILL'))
  })
  await new Promise((resolve) => child.once('close', resolve))
  // An incomplete line does not count.
  const lines = output.split('\n').slice(0, -1)
  const written = lines.filter((line) => line.startsWith('written ')).map((line) => Number(line.slice(8)))
  return { written: written.at(-1) ?? 0, done: lines.includes('done') }
}

function assertTiled(records: readonly LogRecord[], head: number): void {
  const covered = new Set<number>()
  for (const { first, seq } of records) for (let at = first ?? seq; at <= seq; at++) covered.add(at)
  for (let seq = 1; seq <= head; seq++) assert.ok(covered.has(seq), `seq ${seq} is in no row`)
}

/** Returns how many parts were open when the process died; they are sealed as interrupted now. */
async function check(store: Store, killed: Killed, journal: string): Promise<number> {
  const status = await store.getStream('thread')
  const head = status?.headSeq ?? 0
  assert.ok(head >= killed.written, `${killed.written} was acknowledged, the log ends at ${head}`)
  assertTiled(await Array.fromAsync(recordsAfter(store, 'thread', 0)), head)

  const owner = await ProcessOwner.register(store)
  const log = await ThreadLog.open({ store, stream: 'thread', fence: await owner.claim('thread') })
  const wasOpen = log.state.head.run !== null
  const openParts = log.state.messages
    .toArray()
    .flatMap((message) => message.parts.toArray())
    .filter((part) => part.state === 'open')
  const openText = openParts.filter((part) => part.type === 'text')
  const closed = await closeInterruptedRun(log)
  assert.equal(closed !== null, wasOpen)
  const { items } = await store.listMessages(log.state.head.lineage, { order: 'newest', limit: 20 })
  assert.ok(items.every((message) => message.state !== 'open'))
  assert.ok(items.every((message) => message.parts.every((part) => part.state !== 'open')))
  for (const open of openText) {
    const sealed = items
      .flatMap((message) => message.parts)
      .find((part) => part.state === 'interrupted' && part.type === 'text')
    assert.equal(sealed?.type === 'text' && sealed.text, open.type === 'text' && open.text)
  }
  // Every call has exactly one result, and every tool that ran has its start on record.
  const records = await Array.fromAsync(recordsAfter(store, 'thread', 0))
  assertTiled(records, log.state.head.seq)
  const ran = (await readFile(journal, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
  assert.equal(new Set(ran).size, ran.length, 'a tool ran twice')
  const intents = new Set(records.flatMap(({ body }) => (body.type === 'call.started' ? [body.idempotencyKey] : [])))
  for (const key of ran) assert.ok(intents.has(key), 'a tool ran without its intent on record')
  const events = records.flatMap(agentEventsOf)
  const count = (type: string): number => events.filter((event) => event.type === type).length
  // A call whose input was cut off does not count and has no result.
  const cut = events.filter((event) => event.type === 'tool-call' && event.meta?.interrupted === true)
  assert.equal(count('tool-call') - cut.length, count('tool-result'))
  assert.equal(count('start'), count('finish'), 'every turn has one finish')
  await log.close()
  await owner.close()
  const left = items.flatMap((message) => message.parts).filter((part) => part.state === 'interrupted')
  assert.ok(left.length >= openParts.length, 'what was open is sealed as interrupted')
  return openParts.length
}

suite('kill -9 in the middle of a stream', () => {
  test(
    `at ${POINTS} random points: nothing acknowledged is lost and the thread goes on`,
    { timeout: 600_000 },
    async () => {
      let done = 0
      let open = 0
      const point = async (index: number): Promise<void> => {
        const folder = await mkdtemp(join(tmpdir(), 'inspan-crash-'))
        try {
          const url = join(folder, 'data.db')
          const journal = join(folder, 'journal')
          const setup = new SqliteStore({ url })
          await createThread(setup, { id: 'thread', resourceId: 'test' })
          await setup.close()
          // Two deaths in a row: the second process first has to close what the first left open.
          for (const round of [0, 1]) {
            const killed = await runAndKill(url, journal, 1 + ((index + round) % 10), Math.random() * 45)
            if (killed.done) done++
            const store = new SqliteStore({ url })
            open += await check(store, killed, journal)
            await store.close()
          }
        } finally {
          await rm(folder, { recursive: true })
        }
      }
      // Two at a time: one core each on a small machine.
      const queue = Array.from({ length: POINTS / 2 }, (_, index) => index)
      const worker = async (): Promise<void> => {
        for (let index = queue.shift(); index !== undefined; index = queue.shift()) await point(index)
      }
      await Promise.all([worker(), worker()])
      assert.ok(done < POINTS / 2, `${done} of ${POINTS} processes ended before they were killed`)
      assert.ok(open > 0, 'no process died with a part open, so nothing was shown about that')
    },
  )
})
