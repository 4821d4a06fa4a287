import type { Member, Membership } from '@inspan/protocol/store'
import type { DirectLine } from './line.ts'
import { Sightings, type OwnerSighting } from './sightings.ts'

const BEAT_MS = 300
/** An owner that could not beat for so long stops by itself, well before others may take its threads. */
const LOST_MS = 4000
/** How often threads of a dead owner are offered again, e.g. because no process could open them. */
const OFFER_AGAIN_MS = 5000
/** After a failover all machines find all threads left at once. They take them over within this time, in random order. */
const SPREAD_MS = 2000

/** Two 32-bit halves of the lock's key, as `pg_locks` shows them. */
const IS_LOCKED_SQL = `EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (classid::bigint << 32) | objid::bigint = hashtextextended(owners.id, 0))`

export const LOCK_SQL = 'SELECT pg_advisory_lock(hashtextextended($1, 0))'

const TABLE = `'harness.owners'::regclass::oid::bigint::float8 AS "table"`
export const TABLE_SQL: string = `SELECT ${TABLE}`

/** Raises the owner's counter and shows those of all owners, in one round trip. A restored table is another one. */
const BEAT_SQL = `WITH mine AS (UPDATE harness.owners SET beat = beat + 1, beat_at = clock_timestamp()
  WHERE id = $1 RETURNING id)
 SELECT id AS owner, beat::float8 AS beat,
    (extract(epoch FROM clock_timestamp() - beat_at) * 1000)::float8 AS "ageMs",
    ${IS_LOCKED_SQL} AS "isLocked", (SELECT count(*) FROM mine)::int AS mine,
    ${TABLE}
  FROM harness.owners`

interface BeatRow extends OwnerSighting {
  readonly mine: number
  readonly table: number
}

/** A thread of a dead owner. */
export interface LeftThread {
  readonly id: string
  /** Whether the database was restarted or promoted since the thread was claimed. */
  readonly hasServerRestarted: boolean
}

export interface MembershipPorts {
  readonly line: Pick<DirectLine, 'query' | 'reconnect'>
  /** Returns the threads of an owner. */
  readonly listOwned: (owner: string) => Promise<readonly LeftThread[]>
  /** Removes the row of a dead owner that owns nothing any more. */
  readonly removeDead: (owner: string) => Promise<void>
  readonly onLeave: () => Promise<void>
}

/** One process among those that share a store: it beats, watches the others, and offers what the dead have left. */
export class PostgresMembership implements Membership {
  readonly #member: Member
  readonly #ports: MembershipPorts
  readonly #sightings = new Sightings()
  readonly #offeredAt = new Map<string, number>()
  readonly #watchdog: NodeJS.Timeout
  #lastBeat = performance.now()
  #hasBeaten = false
  #table: number | undefined
  #isOver = false
  #pause: (() => void) | undefined
  readonly #beating: Promise<void>

  constructor(member: Member, ports: MembershipPorts) {
    this.#member = member
    this.#ports = ports
    this.#watchdog = setInterval(() => this.#checkLost(), BEAT_MS).unref()
    this.#beating = this.#beat()
  }

  isDead(owner: string): boolean {
    return this.#sightings.isDead(owner)
  }

  /**
   * Called when the connection is a new one: what was seen before proves nothing. `table` is the one that was there
   * before the origin of the data was looked at. The first beat could not tell: while a dump is being restored, it waits
   * for the new table.
   */
  reconnected(table: number | undefined): void {
    this.#sightings.clear()
    this.#table = table
  }

  async leave(): Promise<void> {
    if (this.#isOver) return
    this.#end()
    await this.#ports.onLeave()
    await this.#beating
  }

  async #beat(): Promise<void> {
    while (!this.#isOver) {
      await this.#beatOnce().catch(() => undefined)
      if (this.#isOver) return
      await this.#wait(this.#untilNextLook())
    }
  }

  async #beatOnce(): Promise<void> {
    const askedAt = performance.now()
    const rows = await this.#ports.line.query<BeatRow>(BEAT_SQL, [this.#member.owner])
    if (this.#isOver) return
    // A dump was restored in its place. The next connection finds out what that means.
    if (this.#table !== undefined && rows[0]?.table !== this.#table) return this.#ports.line.reconnect()
    // Somebody took this process for dead.
    if (rows.length > 0 && rows[0]?.mine !== 1 && this.#hasBeaten) return this.lose()
    this.#hasBeaten = true
    this.#lastBeat = askedAt
    const others = rows.filter(({ owner }) => owner !== this.#member.owner)
    this.#sightings.look(others, { askedAt, answeredAt: performance.now() })
    for (const owner of this.#sightings.dead()) await this.#offer(owner)
  }

  async #offer(owner: string): Promise<void> {
    const before = this.#offeredAt.get(owner)
    if (before !== undefined && performance.now() - before < OFFER_AGAIN_MS) return
    this.#offeredAt.set(owner, performance.now())
    const threads = await this.#ports.listOwned(owner)
    if (threads.length === 0) {
      this.#offeredAt.delete(owner)
      await this.#ports.removeDead(owner)
      return
    }
    // In another order in every process, so that they do not all try the same thread at once.
    for (const { id, hasServerRestarted } of shuffled(threads)) {
      if (hasServerRestarted) this.#wakeWithin(SPREAD_MS, id)
      else this.#member.onWake(id)
    }
  }

  #wakeWithin(ms: number, thread: string): void {
    const wake = (): void => void (this.#isOver || this.#member.onWake(thread))
    setTimeout(wake, Math.random() * ms).unref()
  }

  #untilNextLook(): number {
    const next = this.#sightings.nextDeath()
    const left = next === undefined ? BEAT_MS : next - performance.now()
    return Math.min(BEAT_MS, Math.max(10, left))
  }

  #checkLost(): void {
    if (!this.#isOver && performance.now() - this.#lastBeat > LOST_MS) this.lose()
  }

  /** Ends the membership as if others had taken this process for dead. */
  lose(): void {
    if (this.#isOver) return
    this.#end()
    this.#member.onLost()
    void this.#ports.onLeave()
  }

  #end(): void {
    this.#isOver = true
    clearInterval(this.#watchdog)
    this.#pause?.()
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      this.#pause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
}
