import type { Client, Pool } from 'pg'
import type { Append, Member, Membership } from '@inspan/protocol/store'
import { listCommands } from '../commands.ts'
import type { PostgresConnection } from '../connection.ts'
import { ORIGIN_SQL } from '../schema/migrate.ts'
import { CHANNEL, DirectLine } from './line.ts'
import { LOCK_SQL, PostgresMembership, TABLE_SQL, type LeftThread } from './membership.ts'
import { decodeSignal, SignalSender } from './signals.ts'
import { Jobs, type JobHandlers } from './jobs.ts'

const PAGE = 1000

/** What a store provides for jobs and connections that all processes share. */
export interface SharedWorkPorts extends Pick<JobHandlers, 'scheduled' | 'upkeep'> {
  /** Where the store last found its data. */
  readonly origin: () => string | undefined
  /** Called when the data has moved: a standby was promoted, or a dump was restored. Commits may be missing. */
  readonly moved: (origin: string) => Promise<void>
}

type OnChange = (stream: string, seq: number) => void

/** Connects a store with the other processes on the same database. Costs nothing until this process joins them. */
export class SharedWork {
  readonly #url: string
  readonly #pool: Pool
  readonly #db: PostgresConnection
  readonly #listeners = new Set<OnChange>()
  /** The streams that this process owns and so needs no signals about. */
  readonly #owned = new Set<string>()
  #members = new Map<PostgresMembership, Member>()
  #line: DirectLine | undefined
  #jobs: Jobs | undefined
  #isWorking = false
  #signals: SignalSender | undefined

  readonly #ports: SharedWorkPorts

  constructor(url: string, pool: Pool, db: PostgresConnection, ports: SharedWorkPorts) {
    this.#url = url
    this.#pool = pool
    this.#db = db
    this.#ports = ports
  }

  /** Jobs that become due at some time. This process takes none until it has joined. */
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
    const hasMoved = this.#watchOrigin()
    // Every member has a line of its own: the lock belongs to the session.
    const line: DirectLine = new DirectLine({
      url: this.#url,
      onConnected: async (client) => {
        // Before the origin: a table that is replaced after this look is another one at the next beat.
        const { rows } = await client.query(TABLE_SQL)
        membership.reconnected((rows as { table: number }[])[0]?.table)
        // The commits behind what this process has in memory may be missing there.
        if (await hasMoved(client)) membership.lose()
        else await client.query(LOCK_SQL, [member.owner])
      },
      onNotification: (payload) => this.#heard(payload, member),
    })
    const membership = new PostgresMembership(member, {
      line,
      listOwned: (owner) => this.#listOwned(owner),
      removeDead: async (owner) => {
        const unused = 'NOT EXISTS (SELECT FROM harness.streams WHERE owner = $1)'
        await this.#db.run(`DELETE FROM harness.owners WHERE id = $1 AND ${unused}`, owner)
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
    const hasMoved = this.#watchOrigin()
    this.#line ??= new DirectLine({
      url: this.#url,
      onConnected: async (client) => void (await hasMoved(client)),
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
        // A lost job does no harm: processes also poll for due waits.
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

  /** Returns a check for every new connection of a line: has the data moved since the last one? */
  #watchOrigin(): (client: Client) => Promise<boolean> {
    let known = this.#ports.origin()
    return async (client) => {
      const { rows } = await client.query(ORIGIN_SQL)
      const { origin } = (rows as { origin: string }[])[0] ?? { origin: '' }
      if (origin === known) return false
      await this.#ports.moved(origin)
      known = origin
      return true
    }
  }

  /** Handles a signal that another process has admitted commands for threads of this one. */
  #heard(payload: string, member: Member): void {
    for (const thread of decodeSignal(payload).wanted) if (this.#owned.has(thread)) member.onWake(thread)
  }

  async #wakeIfNeeded(thread: string): Promise<void> {
    const { items } = await listCommands(this.#db, { target: thread, state: 'accepted', limit: 1 })
    const [due] = await this.#db.all<{ due: boolean }>(
      `SELECT EXISTS (SELECT FROM harness.waits JOIN harness.streams ON streams.no = waits.stream_no
         WHERE streams.id = $1 AND state = 'pending' AND due <= extract(epoch FROM clock_timestamp()) * 1000) AS due`,
      thread,
    )
    if (items.length === 0 && due?.due !== true) return
    for (const member of this.#members.values()) member.onWake(thread)
  }

  /** Wakes threads whose owner has no row any more, e.g. because somebody deleted it. */
  async #wakeOrphans(): Promise<void> {
    const orphans = await this.#db.all<{ id: string }>(
      `SELECT id FROM harness.streams WHERE owner IS NOT NULL AND kind = 'thread' AND deleted = 0
         AND NOT EXISTS (SELECT FROM harness.owners WHERE owners.id = streams.owner) LIMIT ${PAGE}`,
    )
    for (const { id } of orphans) for (const member of this.#members.values()) member.onWake(id)
  }

  #listOwned(owner: string): Promise<readonly LeftThread[]> {
    return this.#db.all<LeftThread>(
      `SELECT id, server_start <> pg_postmaster_start_time() AS "hasServerRestarted"
         FROM harness.streams WHERE owner = $1 AND kind = 'thread' AND deleted = 0`,
      owner,
    )
  }
}
