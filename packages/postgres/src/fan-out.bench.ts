/** Measures what signals to other processes cost: appends of many threads with a reader that hears of them, and without. */
import type { LogRecord } from '@inspan/protocol/log'
import { compare, report } from '@inspan/testing'
import { PostgresStore } from './postgres-store.ts'
import { installedPrograms } from './programs.fixture.ts'
import { startPostgres } from './server.fixture.ts'

const THREADS = 50
const APPENDS = 20
/** Signals on have to leave 0.9 of what is possible with signals off. */
const LIMIT = 1 / 0.9

interface Writers {
  /** Appends to all threads at once. Returns how many appends there were. */
  readonly append: () => Promise<number>
  readonly close: () => Promise<void>
}

async function writersIn(url: string, prefix: string, hasSignals: boolean): Promise<Writers> {
  const store = await PostgresStore.open({ url })
  const owner = `${prefix}-owner`
  await store.putOwner({ id: owner, host: 'h', pid: 1, startTime: '1', bootId: 'b', until: Date.now() + 3_600_000 })
  const reader = await PostgresStore.open({ url })
  const isHeard = Promise.withResolvers<boolean>()
  const stop = hasSignals ? reader.onChange(() => isHeard.resolve(true)) : undefined
  // Only a process that has joined the others sends signals.
  const membership = hasSignals
    ? await store.join({ owner, onWake: () => undefined, onLost: () => undefined })
    : undefined
  const threads = await Promise.all(
    Array.from({ length: THREADS }, async (_, index) => {
      const id = `${prefix}-${index}`
      const info = { id, resourceId: 'r', title: null, createdAt: 0, updatedAt: 0, hidden: false, metadata: {} }
      await store.createStream({ kind: 'thread', info, headSeq: 0 })
      return { id, fence: { owner, epoch: (await store.claim(id, owner)).epoch }, seq: 0 }
    }),
  )
  const append = async (): Promise<number> => {
    await Promise.all(
      threads.map(async (thread) => {
        for (let n = 0; n < APPENDS; n++) {
          thread.seq += 1
          await store.append({ stream: thread.id, fence: thread.fence, records: [recordOf(thread.id, thread.seq)] })
        }
      }),
    )
    return THREADS * APPENDS
  }
  // The direct lines take a moment to connect.
  for (let isConnected = !hasSignals; !isConnected;) {
    await append()
    isConnected = await Promise.race([isHeard.promise, pause(50)])
  }
  return {
    append,
    close: async () => {
      stop?.()
      await membership?.leave()
      await reader.close()
      await store.close()
    },
  }
}

function pause(ms: number): Promise<boolean> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms))
}

function recordOf(stream: string, seq: number): LogRecord {
  return { v: 1, stream, seq, at: seq, body: { type: 'note', kind: 'info', text: 'A line that somebody follows.' } }
}

// Elsewhere nobody needs it to run the other benchmarks.
if (installedPrograms() !== undefined) {
  const server = await startPostgres({ isDurable: true })
  const off = await writersIn(await server.emptyDatabase(), 'off', false)
  const on = await writersIn(await server.emptyDatabase(), 'on', true)
  report(
    await compare({
      name: `appends of ${THREADS} threads on Postgres with signals to a reader, relative to none`,
      limit: Number(LIMIT.toPrecision(3)),
      rounds: 25,
      floor: off.append,
      ours: on.append,
    }),
  )
  await off.close()
  await on.close()
  await server.stop()
}
