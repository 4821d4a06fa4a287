import { setTimeout as sleep } from 'node:timers/promises'
import type { JobWithMetadata, PgBoss, SendOptions } from 'pg-boss'
import type { Pool } from 'pg'
import type { Delivery } from '@inspan/protocol/store'
import type { PostgresConnection, SqlSession } from '../connection.ts'
import type { Schedule } from './schedules.ts'

const SCHEMA = 'harness_jobs'
/** "jobs" as a number. */
const START_LOCK = 0x6a6f6273
const WAKE = 'wake'
const DUE = 'due'
const SCHEDULE = 'schedule'
const DELIVERY = 'delivery'
const UPKEEP = 'upkeep'
/** Whoever admits a command usually carries it out at once: a job is for the case that it dies before. */
const WAKE_AFTER_SECONDS = 1
const POLL_SECONDS = 0.5
const KEEP_SECONDS = 60
const CRON_SECONDS = 5
const DAY_SECONDS = 24 * 60 * 60
/** How long jobs are not used after they could not be started. */
const RETRY_MS = 2000
const EVERY_MINUTE = '* * * * *'

interface WakeJob {
  readonly thread: string
}

/** What a process at work does with the jobs that it gets. */
export interface JobHandlers {
  wake(thread: string): Promise<void>
  /** A scheduled command is due. `at` and `id` are the same if it is tried again. */
  scheduled(schedule: Schedule, occurrence: { readonly id: string; readonly at: Date }): Promise<void>
  /** Once a minute, in one of the processes. */
  upkeep(): Promise<void>
}

/** Everything that is due at some time, as jobs that one of the processes takes. A sweep finds whatever has no job. */
export class Jobs {
  readonly #pool: Pool
  readonly #db: PostgresConnection
  #starting: Promise<PgBoss> | undefined
  #isStopped = false

  constructor(pool: Pool, db: PostgresConnection) {
    this.#pool = pool
    this.#db = db
  }

  /** Takes jobs from now on. */
  work(handlers: JobHandlers): void {
    let hasWarned = false
    void this.#onceStarted(
      (boss) => takeJobs(boss, handlers),
      (error) => {
        if (hasWarned) return
        hasWarned = true
        const reason = error instanceof Error ? error.message : String(error)
        process.emitWarning(
          `Jobs on Postgres cannot be used yet: ${reason} Until then threads are woken by looking for work.`,
        )
      },
    )
  }

  /** Has a thread looked at by some process, in case nobody carries out its commands. */
  async wake(thread: string): Promise<void> {
    await this.#send(WAKE, { thread }, { singletonKey: thread, startAfter: WAKE_AFTER_SECONDS })
  }

  async wakeAt(thread: string, wait: string, due: number): Promise<void> {
    await this.#send(DUE, { thread }, { singletonKey: `${thread} ${wait}`, startAfter: new Date(due) })
  }

  async putSchedule(schedule: Schedule): Promise<void> {
    const { cron, id, timeZone = 'UTC' } = schedule
    // What came due while nothing ran is done once, and not as often as it was missed.
    await (await this.#boss()).schedule(SCHEDULE, cron, schedule, { tz: timeZone, key: id, missed: 'once' })
  }

  async listSchedules(): Promise<readonly Schedule[]> {
    return (await (await this.#boss()).getSchedules(SCHEDULE)).map(({ data }) => data as Schedule)
  }

  async removeSchedule(id: string): Promise<void> {
    await (await this.#boss()).unschedule(SCHEDULE, id)
  }

  /** Keeps a delivery as part of a transaction. The same one again is not kept twice. */
  async putDelivery(session: SqlSession, delivery: Delivery): Promise<void> {
    const boss = await this.#boss()
    const db = {
      executeSql: async (text: string, values?: unknown[]) => ({ rows: await session.all(text, ...(values ?? [])) }),
    }
    await boss.send(DELIVERY, delivery, { id: asUuid(delivery.id), db })
  }

  /** Has this process send deliveries that are due. What `send` does not get rid of is due again later. */
  onDelivery(send: (delivery: Delivery) => Promise<boolean>): () => void {
    let id: string | undefined
    let isOver = false
    const working = this.#onceStarted(async (boss) => {
      if (isOver) return
      id = await boss.work<Delivery>(DELIVERY, { pollingIntervalSeconds: POLL_SECONDS }, async ([job]) => {
        if (job !== undefined && !(await send(job.data))) throw new Error('The receiver did not take it.')
      })
    })
    return () => {
      isOver = true
      void working
        .then(async () => {
          if (id !== undefined) await (await this.#boss()).offWork(DELIVERY, { id })
        })
        .catch(() => undefined)
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await (await this.#starting?.catch(() => undefined))?.stop({ graceful: false, close: false })
  }

  #boss(): Promise<PgBoss> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  async #start(): Promise<PgBoss> {
    try {
      return await startBoss(this.#pool, this.#db)
    } catch (error) {
      // Not at every call: where jobs cannot be used at all, each would wait for another failure.
      setTimeout(() => (this.#starting = undefined), RETRY_MS).unref()
      throw error
    }
  }

  /** Resolves when the task was done, or jobs are no longer used. Tries again while it fails: the database may be away. */
  async #onceStarted(task: (boss: PgBoss) => Promise<void>, onFailure?: (error: unknown) => void): Promise<void> {
    while (!this.#isStopped) {
      try {
        return await task(await this.#boss())
      } catch (error) {
        if (!this.#isStopped) onFailure?.(error)
        await sleep(RETRY_MS, undefined, { ref: false })
      }
    }
  }

  async #send(queue: string, data: WakeJob, options: SendOptions): Promise<void> {
    const boss = await this.#boss()
    if (!this.#isStopped) await boss.send(queue, data, options)
  }
}

async function startBoss(pool: Pool, db: PostgresConnection): Promise<PgBoss> {
  const { PgBoss } = await import('pg-boss')
  const boss = new PgBoss({
    schema: SCHEMA,
    cronMonitorIntervalSeconds: CRON_SECONDS,
    cronWorkerIntervalSeconds: 1,
    db: { executeSql: (text, values) => pool.query(text, values) },
  })
  // A failed look is repeated by the next one.
  boss.on('error', () => undefined)
  try {
    // One process after the other: the first creates the tables.
    await db.write(async (session) => {
      await session.run('SELECT pg_advisory_xact_lock($1)', START_LOCK)
      await boss.start()
    })
    await createQueues(boss)
  } catch (error) {
    await boss.stop({ graceful: false, close: false }).catch(() => undefined)
    throw error
  }
  return boss
}

async function createQueues(boss: PgBoss): Promise<void> {
  const brief = { retryLimit: 0, expireInSeconds: KEEP_SECONDS, deleteAfterSeconds: KEEP_SECONDS }
  await boss.createQueue(WAKE, { ...brief, policy: 'short' })
  // A wait may be due in a year.
  await boss.createQueue(DUE, { ...brief, policy: 'short', retentionSeconds: 1000 * DAY_SECONDS })
  await boss.createQueue(UPKEEP, { ...brief, policy: 'short' })
  await boss.createQueue(SCHEDULE, {
    retryLimit: 10,
    retryDelay: 1,
    retryBackoff: true,
    deleteAfterSeconds: DAY_SECONDS,
  })
  await boss.createQueue(DELIVERY, {
    // With an hour between the last ones, that is about three days.
    retryLimit: 80,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60 * 60,
    expireInSeconds: 30,
    // Longer than anybody collects the same one again.
    deleteAfterSeconds: DAY_SECONDS,
  })
}

async function takeJobs(boss: PgBoss, handlers: JobHandlers): Promise<void> {
  // First, because only this needs the database: what has failed is tried again as a whole.
  await boss.schedule(UPKEEP, EVERY_MINUTE)
  const polling = { pollingIntervalSeconds: POLL_SECONDS }
  for (const name of [WAKE, DUE]) {
    await boss.work<WakeJob>(name, { ...polling, batchSize: 100 }, async (jobs) => {
      for (const { data } of jobs) await handlers.wake(data.thread)
    })
  }
  await boss.work(SCHEDULE, { ...polling, includeMetadata: true }, async ([job]: JobWithMetadata<Schedule>[]) => {
    if (job !== undefined) await handlers.scheduled(job.data, { id: job.id, at: job.createdOn })
  })
  await boss.work(UPKEEP, { pollingIntervalSeconds: CRON_SECONDS }, () => handlers.upkeep())
}

/** 32 hexadecimal digits as Postgres shows them. */
function asUuid(id: string): string {
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
