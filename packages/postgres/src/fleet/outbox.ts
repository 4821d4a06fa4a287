import type { Delivery, Outbox } from '@inspan/protocol/store'
import type { PostgresConnection } from '../connection.ts'
import type { Jobs } from './jobs.ts'

const MOST_BEHIND = 100
/** Threads that no process has looked at yet are found if they changed within this time. */
const RECENT_MS = 60 * 60 * 1000

/** Deliveries to other systems: each is a job, made in one transaction with the cursor that says it was. */
export class PostgresOutbox implements Outbox {
  readonly #open: () => Promise<{ readonly db: PostgresConnection; readonly jobs: Jobs }>

  constructor(open: () => Promise<{ readonly db: PostgresConnection; readonly jobs: Jobs }>) {
    this.#open = open
  }

  async cursor(thread: string): Promise<number | null> {
    const { db } = await this.#open()
    const [row] = await db.all<{ seq: number }>(
      `SELECT seq FROM harness.outbox_cursors JOIN harness.streams ON streams.no = stream_no WHERE streams.id = $1`,
      thread,
    )
    return row?.seq ?? null
  }

  async put(
    thread: string,
    { from, to }: { readonly from: number | null; readonly to: number },
    deliveries: readonly Delivery[],
  ): Promise<boolean> {
    const { db, jobs } = await this.#open()
    return db.write(async (session) => {
      const moved = await session.run(
        from === null
          ? `INSERT INTO harness.outbox_cursors (stream_no, seq) SELECT no, $2 FROM harness.streams WHERE id = $1
             ON CONFLICT (stream_no) DO NOTHING`
          : `UPDATE harness.outbox_cursors SET seq = $2
             WHERE stream_no = (SELECT no FROM harness.streams WHERE id = $1) AND seq = $3`,
        ...(from === null ? [thread, to] : [thread, to, from]),
      )
      if (moved === 0) return false
      for (const delivery of deliveries) await jobs.putDelivery(session, delivery)
      return true
    })
  }

  async behind(since: number): Promise<readonly string[]> {
    const { db } = await this.#open()
    const known = await db.all<{ id: string }>(
      `SELECT id FROM harness.outbox_cursors AS c JOIN harness.streams ON streams.no = c.stream_no
       WHERE head_seq > c.seq AND deleted = 0 LIMIT ${MOST_BEHIND}`,
    )
    const fresh = await db.all<{ id: string }>(
      `SELECT id FROM harness.threads WHERE NOT hidden AND created_at > $1
         AND updated_at > extract(epoch FROM clock_timestamp()) * 1000 - ${RECENT_MS}
         AND NOT EXISTS (SELECT FROM harness.outbox_cursors AS c WHERE c.stream_no = threads.stream_no)
       ORDER BY updated_at DESC LIMIT ${MOST_BEHIND}`,
      since,
    )
    return [...known, ...fresh].map(({ id }) => id)
  }

  onDue(send: (delivery: Delivery) => Promise<boolean>): () => void {
    let stop: (() => void) | undefined
    let isOver = false
    this.#open().then(
      ({ jobs }) => {
        if (!isOver) stop = jobs.onDelivery(send)
      },
      () => undefined,
    )
    return () => {
      isOver = true
      stop?.()
    }
  }
}
