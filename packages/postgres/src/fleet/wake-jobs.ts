import type { PgBoss } from 'pg-boss'
import type { Pool } from 'pg'
import type { Connection } from '../connection.ts'

const SCHEMA = 'inspan_jobs'
/** "jobs" as a number. */
const START_LOCK = 0x6a6f6273
const WAKE = 'wake'
const DUE = 'due'
/** Whoever admits a command usually carries it out at once: a job is for the case that it dies before. */
const WAKE_AFTER_MS = 500
const POLL_SECONDS = 0.5
const KEEP_SECONDS = 60

interface WakeJob {
  readonly thread: string
}

/** Wakes of threads, as jobs that one of the processes takes. A sweep finds whatever has no job. */
export class WakeJobs {
  readonly #boss: Promise<PgBoss | undefined>
  #isStopped = false

  constructor(pool: Pool, db: Connection, wake: (thread: string) => Promise<void>) {
    this.#boss = startBoss(pool, db, wake).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      process.emitWarning(`Jobs on Postgres cannot be used: ${reason} Threads are woken by looking for work instead.`)
      return undefined
    })
  }

  /** Has a thread looked at by some process, in case nobody carries out its commands. */
  async wake(thread: string): Promise<void> {
    await this.#send(WAKE, thread, thread, Date.now() + WAKE_AFTER_MS)
  }

  async wakeAt(thread: string, wait: string, due: number): Promise<void> {
    await this.#send(DUE, thread, `${thread} ${wait}`, due)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await (await this.#boss)?.stop({ graceful: false, close: false })
  }

  async #send(queue: string, thread: string, key: string, at: number): Promise<void> {
    const boss = await this.#boss
    if (boss === undefined || this.#isStopped) return
    const data: WakeJob = { thread }
    await boss.send(queue, data, { singletonKey: key, startAfter: new Date(at) })
  }
}

async function startBoss(pool: Pool, db: Connection, wake: (thread: string) => Promise<void>): Promise<PgBoss> {
  const { PgBoss } = await import('pg-boss')
  const boss = new PgBoss({
    schema: SCHEMA,
    schedule: false,
    db: { executeSql: (text, values) => pool.query(text, values) },
  })
  // A failed look is repeated by the next one.
  boss.on('error', () => undefined)
  // One process after the other: the first creates the tables.
  await db.write(async (session) => {
    await session.run('SELECT pg_advisory_xact_lock($1)', START_LOCK)
    await boss.start()
  })
  const queue = { policy: 'short', retryLimit: 0, expireInSeconds: KEEP_SECONDS, deleteAfterSeconds: KEEP_SECONDS }
  for (const name of [WAKE, DUE]) {
    await boss.createQueue(name, queue)
    await boss.work<WakeJob>(name, { pollingIntervalSeconds: POLL_SECONDS, batchSize: 20 }, async (jobs) => {
      for (const { data } of jobs) await wake(data.thread)
    })
  }
  return boss
}
