import type { Pool } from 'pg'
import type { Append, Member, Membership } from '@inspan/protocol/store'
import { listOwned } from '../claims.ts'
import { listCommands } from '../commands.ts'
import type { Connection } from '../connection.ts'
import { CHANNEL, Line } from './line.ts'
import { LOCK_SQL, PostgresMembership } from './membership.ts'
import { decodeSignal, SignalSender } from './signals.ts'
import { Jobs, type JobHandlers } from './jobs.ts'

const PAGE = 1000

/** What a store does when it is due, whichever process gets the job. */
export type SharedWorkPorts = Pick<JobHandlers, 'scheduled' | 'upkeep'>

type OnChange = (stream: string, seq: number) => void

/** What a store does for other processes on the same database. Costs nothing while this process has not joined them. */
export class SharedWork {
  readonly #url: string
  readonly #pool: Pool
  readonly #db: Connection
  readonly #listeners = new Set<OnChange>()
  /** The streams that this process owns: it needs no signal about them. */
  readonly #owned = new Set<string>()
  #members = new Map<PostgresMembership, Member>()
  #line: Line | undefined
  #jobs: Jobs | undefined
  #isWorking = false
  #signals: SignalSender | undefined

  readonly #ports: SharedWorkPorts

  constructor(url: string, pool: Pool, db: Connection, ports: SharedWorkPorts) {
    this.#url = url
    this.#pool = pool
    this.#db = db
    this.#ports = ports
  }

  /** For what is due at some time. Takes no jobs as long as this process has not joined. */
  get jobs(): Jobs {
    this.#jobs ??= new Jobs(this.#pool, this.#db)
    return this.#jobs
  }

  join(member: Member): Membership {
    this.#signals ??= new SignalSender(async (payload) => {
      await this.#pool.query('SELECT pg_notify($1, $2)', [CHANNEL, payload])
    })
    if (!this.#isWorking) {
      this.#isWorking = true
      const { scheduled, upkeep } = this.#ports
      this.jobs.work({
        scheduled,
        upkeep: async () => {
          await upkeep()
          await this.#wakeOrphans()
        },
        wake: (thread) => this.#wakeIfNeeded(thread),
      })
    }
    // Every member has a line of its own: the lock belongs to the session.
    const line: Line = new Line({
      url: this.#url,
      onConnected: async (client) => {
        membership.reconnected()
        await client.query(LOCK_SQL, [member.owner])
      },
      onNotification: (payload) => this.#heard(payload, member),
    })
    const membership = new PostgresMembership(member, {
      line,
      listOwned: (owner) => this.#listOwned(owner),
      removeDead: async (owner) => {
        const unused = 'NOT EXISTS (SELECT FROM inspan.streams WHERE owner = $1)'
        await this.#db.run(`DELETE FROM inspan.owners WHERE id = $1 AND ${unused}`, owner)
      },
      onLeave: async () => {
        this.#members.delete(membership)
        await line.close()
      },
    })
    this.#members.set(membership, member)
    return membership
  }

  onChange(listener: OnChange): () => void {
    this.#listeners.add(listener)
    this.#line ??= new Line({
      url: this.#url,
      onConnected: async () => undefined,
      onNotification: (payload) => {
        for (const [stream, seq] of decodeSignal(payload).changed) for (const each of this.#listeners) each(stream, seq)
      },
    })
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      void this.#line?.close()
      this.#line = undefined
    }
  }

  claimed(stream: string): void {
    this.#owned.add(stream)
  }

  released(stream: string): void {
    this.#owned.delete(stream)
  }

  appended({ stream, waits = [] }: Append, head: number): void {
    this.#signals?.changed(stream, head)
    for (const { state, wait } of waits) {
      if (state === 'pending' && wait.due !== undefined) {
        // Lost jobs are no harm: due waits are also looked for.
        if (this.#isWorking) void this.#jobs?.wakeAt(stream, wait.id, wait.due).catch(() => undefined)
      }
    }
  }

  admitted(thread: string): void {
    if (this.#owned.has(thread)) return
    this.#signals?.wanted(thread)
    if (this.#isWorking) void this.#jobs?.wake(thread).catch(() => undefined)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#members.keys()].map((membership) => membership.leave()))
    await this.#line?.close()
    await this.#signals?.close()
    await this.#jobs?.stop()
  }

  /** Commands for a thread of this process, admitted by another one. */
  #heard(payload: string, member: Member): void {
    for (const thread of decodeSignal(payload).wanted) if (this.#owned.has(thread)) member.onWake(thread)
  }

  async #wakeIfNeeded(thread: string): Promise<void> {
    const { items } = await listCommands(this.#db, { target: thread, state: 'accepted', limit: 1 })
    const [due] = await this.#db.all<{ due: boolean }>(
      `SELECT EXISTS (SELECT FROM inspan.waits JOIN inspan.streams ON streams.no = waits.stream_no
         WHERE streams.id = $1 AND state = 'pending' AND due <= extract(epoch FROM clock_timestamp()) * 1000) AS due`,
      thread,
    )
    if (items.length === 0 && due?.due !== true) return
    for (const member of this.#members.values()) member.onWake(thread)
  }

  /** Threads whose owner is not even known any more, e.g. because somebody deleted its row. */
  async #wakeOrphans(): Promise<void> {
    const orphans = await this.#db.all<{ id: string }>(
      `SELECT id FROM inspan.streams WHERE owner IS NOT NULL AND kind = 'thread' AND deleted = 0
         AND NOT EXISTS (SELECT FROM inspan.owners WHERE owners.id = streams.owner) LIMIT ${PAGE}`,
    )
    for (const { id } of orphans) for (const member of this.#members.values()) member.onWake(id)
  }

  async #listOwned(owner: string): Promise<readonly string[]> {
    const threads: string[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof listOwned>> = await listOwned(this.#db, {
        owner,
        limit: PAGE,
        ...(cursor === null ? {} : { cursor }),
      })
      threads.push(...page.items.filter(({ kind }) => kind === 'thread').map(({ stream }) => stream))
      cursor = page.next
    } while (cursor !== null)
    return threads
  }
}
