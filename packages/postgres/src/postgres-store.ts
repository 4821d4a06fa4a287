import type { StoredMessage } from '@inspan/protocol'
import {
  aFunction,
  anObject,
  aPositiveCount,
  aText,
  checkOptions,
  listOf,
  type OptionRules,
} from '@inspan/protocol/internal'
import type { Lineage, LogRecord, RecordType, StoredHead } from '@inspan/protocol/log'
import {
  RECORD_FORMAT,
  type Admission,
  type Append,
  type Blob,
  type Claim,
  type CommandKey,
  type CommandOutcome,
  type CommandRow,
  type CommandState,
  type DeleteResult,
  type EraseResult,
  type Fence,
  type ForkReach,
  type Member,
  type Membership,
  type MessageQuery,
  type NewCommand,
  type NewStream,
  type Outbox,
  type Owner,
  type Page,
  type PageRequest,
  type RecordFormat,
  type RecordQuery,
  type Store,
  type StreamStatus,
  type ThreadInfo,
  type WaitRow,
} from '@inspan/protocol/store'
import {
  addErased,
  checkRanges,
  noSuchStream,
  notYetOpened,
  openStore,
  storeClosed,
  type ForksQuery,
  type Range,
} from '@inspan/stores/shared'
import { append, createStream } from './append.ts'
import { readBlob } from './blobs.ts'
import { claim, listOwned, release, removeOwner, type ClaimRequest } from './claims.ts'
import { admitCommand, failCommand, getCommand, listCommands, pruneCommands, settleCommand } from './commands.ts'
import { PostgresConnection } from './connection.ts'
import { PostgresOutbox } from './fleet/outbox.ts'
import { checkSchedule, scheduledCommand, type Schedule } from './fleet/schedules.ts'
import { SharedWork } from './fleet/shared-work.ts'
import { hideThread, purge } from './delete-thread.ts'
import { eraseChunk, type PostgresEraseStep } from './erase.ts'
import { getMessage, listMessages } from './messages.ts'
import { getOwner, heartbeat, listOwners, putOwner } from './owners.ts'
import { checkUrl, openPool } from './pool.ts'
import { hasNamedRun, latestRecord, readHead, readLineage, readRecords } from './records.ts'
import { migrate, type DataIdentity } from './schema/migrate.ts'
import { findStream, statusOf } from './streams.ts'
import type { Tenant } from './tenant.ts'
import { expireThreads, listTenants, setTenant } from './tenants.ts'
import { getThread, listForks, listResourceIds, listThreads } from './threads.ts'
import { getWait, listDue, listWaits } from './waits.ts'

export interface PostgresStoreOptions {
  /**
   * `postgres://user:password@host:5432/database`. The database must exist. The store creates its tables in the schemas
   * `harness` and `harness_jobs`.
   */
  readonly url: string
  /** The maximum number of connections in the pool. Each process opens one more, its direct line. Default: 10. */
  readonly maxConnections?: number
  /** For tests. Default: the system's clock. Leases always use the clock of the database. */
  readonly clock?: () => number
  /** How records are read. Default: the format of this release. */
  readonly format?: RecordFormat
  /**
   * The format in which this process writes streams. A process with a lower format can read such a stream but not claim
   * it. Default: the format of this release.
   */
  readonly streamFormat?: number
  /**
   * What this machine has, such as `checkout:app` or `codex`. It works only on threads whose `metadata.machineLabels` are
   * all among these.
   */
  readonly labels?: readonly string[]
  /** Labels that threads made by this store need. Threads of subagents and forks inherit them. */
  readonly pinTo?: readonly string[]
}

const OPTIONS: OptionRules<PostgresStoreOptions> = {
  url: aText,
  maxConnections: aPositiveCount,
  clock: aFunction,
  format: anObject,
  streamFormat: aPositiveCount,
  labels: listOf(aText, 'texts'),
  pinTo: listOf(aText, 'texts'),
}

const STREAM_FORMAT = 1
const MAX_CONNECTIONS = 10

interface DatabaseHandles {
  readonly db: PostgresConnection
  readonly shared: SharedWork
}

/** A store in a Postgres database, for processes on several machines. Each thread has one writer. */
export class PostgresStore implements Store {
  readonly #options: PostgresStoreOptions
  readonly #now: () => number
  readonly #format: RecordFormat
  readonly #streamFormat: number
  #opening: Promise<DatabaseHandles> | undefined
  #identity: DataIdentity | undefined
  #isClosed = false
  readonly outbox: Outbox = new PostgresOutbox(async () => {
    const { db, shared } = await this.#opened()
    return { db, jobs: shared.jobs }
  })

  constructor(options: PostgresStoreOptions) {
    checkOptions('a Postgres store', options, OPTIONS)
    checkUrl(options.url)
    this.#options = options
    this.#now = options.clock ?? Date.now
    this.#format = options.format ?? RECORD_FORMAT
    this.#streamFormat = options.streamFormat ?? STREAM_FORMAT
  }

  static async open(options: PostgresStoreOptions): Promise<PostgresStore> {
    return openStore(new PostgresStore(options))
  }

  async open(): Promise<void> {
    await this.#db()
  }

  /** Changes while the store is open if a standby is promoted, or the data is restored, behind its url. */
  get epoch(): string {
    if (this.#identity !== undefined) return this.#identity.epoch
    throw notYetOpened()
  }

  async createStream(stream: NewStream): Promise<StreamStatus> {
    const { db, shared } = await this.#opened()
    const status = await createStream(
      db,
      stream,
      { format: this.#streamFormat, pinTo: this.#options.pinTo ?? [] },
      this.#now(),
    )
    if (stream.start !== undefined) shared.claimed(status.stream)
    return status
  }

  async getStream(stream: string): Promise<StreamStatus | null> {
    const row = await findStream(await this.#db(), stream)
    return row?.deleted === 0 ? statusOf(row) : null
  }

  async append(request: Append): Promise<number> {
    const { db, shared } = await this.#opened()
    const head = await append(db, request, this.#now())
    shared.appended(request, head)
    return head
  }

  async readRecords(stream: string, query: RecordQuery): Promise<Page<LogRecord>> {
    return readRecords(await this.#db(), this.#format, stream, query)
  }

  async readLineage(lineage: Lineage, query: RecordQuery): Promise<Page<LogRecord>> {
    return readLineage(await this.#db(), this.#format, lineage, query)
  }

  async latestRecord(lineage: Lineage, type: RecordType, upTo: number): Promise<LogRecord | null> {
    return latestRecord(await this.#db(), this.#format, lineage, type, upTo)
  }

  async hasNamedRun(lineage: Lineage, runId: string): Promise<boolean> {
    return hasNamedRun(await this.#db(), lineage, runId)
  }

  async readHead(stream: string, reducerVersion: number): Promise<StoredHead | null> {
    return readHead(await this.#db(), stream, reducerVersion)
  }

  async getThread(thread: string): Promise<ThreadInfo | null> {
    return getThread(await this.#db(), thread)
  }

  async listThreads(query: Parameters<Store['listThreads']>[0]): Promise<Page<ThreadInfo>> {
    return listThreads(await this.#db(), query)
  }

  async listResourceIds(query: PageRequest): Promise<Page<string>> {
    return listResourceIds(await this.#db(), query)
  }

  async listForks(query: ForksQuery): Promise<Page<ForkReach>> {
    return listForks(await this.#db(), query)
  }

  async deleteThread(thread: string, fence: Fence, outcome?: CommandOutcome): Promise<DeleteResult> {
    const db = await this.#db()
    const result = await hideThread(db, thread, fence, this.#now(), outcome)
    await purge(db)
    return result
  }

  async listMessages(lineage: Lineage, query: MessageQuery): Promise<Page<StoredMessage>> {
    return listMessages(await this.#db(), lineage, query)
  }

  async getMessage(lineage: Lineage, messageId: string): Promise<StoredMessage | null> {
    return getMessage(await this.#db(), lineage, messageId)
  }

  async listWaits(query: Parameters<Store['listWaits']>[0]): Promise<Page<WaitRow>> {
    return listWaits(await this.#db(), query)
  }

  async listDue(query: PageRequest & { readonly now: number }): Promise<Page<WaitRow>> {
    return listDue(await this.#db(), query)
  }

  async getWait(stream: string, waitId: string): Promise<WaitRow | null> {
    return getWait(await this.#db(), stream, waitId)
  }

  async readBlob(hash: string, lineage?: Lineage): Promise<Blob | null> {
    return readBlob(await this.#db(), hash, lineage)
  }

  async erase(stream: string, fence: Fence, ...ranges: readonly Range[]): Promise<EraseResult> {
    checkRanges(ranges)
    const db = await this.#db()
    const total = { records: 0, messages: 0, blobs: 0 }
    for (const { from, to } of ranges) {
      for (let next: number | null = from; next !== null;) {
        const step: PostgresEraseStep = await eraseChunk(
          db,
          this.#format,
          stream,
          fence,
          { from: next, to },
          this.#now(),
        )
        addErased(total, step.done)
        next = step.next
      }
    }
    return total
  }

  async admitCommand(command: NewCommand): Promise<Admission> {
    const { db, shared } = await this.#opened()
    const admission = await admitCommand(db, command)
    if (admission.status === 'accepted') shared.admitted(command.target)
    return admission
  }

  async listCommands(
    query: PageRequest & { readonly target?: string; readonly state: CommandState },
  ): Promise<Page<CommandRow>> {
    return listCommands(await this.#db(), query)
  }

  async getCommand(key: CommandKey): Promise<CommandRow | null> {
    return getCommand(await this.#db(), key)
  }

  async settleCommand(outcome: CommandOutcome): Promise<boolean> {
    return settleCommand(await this.#db(), outcome)
  }

  async failCommand(key: CommandKey): Promise<number> {
    return failCommand(await this.#db(), key)
  }

  async pruneCommands(before: number): Promise<number> {
    return pruneCommands(await this.#db(), before, this.#now())
  }

  async putOwner(owner: Owner): Promise<void> {
    await putOwner(await this.#db(), owner, this.#now())
  }

  async heartbeat(owner: string, until: number): Promise<boolean> {
    return heartbeat(await this.#db(), owner, until, this.#now())
  }

  async removeOwner(owner: string): Promise<void> {
    await removeOwner(await this.#db(), owner)
  }

  async getOwner(owner: string): Promise<Owner | null> {
    return getOwner(await this.#db(), owner, this.#now())
  }

  async listOwners(query: PageRequest): Promise<Page<Owner>> {
    return listOwners(await this.#db(), query, this.#now())
  }

  async claim(stream: string, owner: string): Promise<Claim> {
    return this.#claim({ stream, owner })
  }

  async takeOver(stream: string, owner: string, seenEpoch: number): Promise<Claim> {
    return this.#claim({ stream, owner, seenEpoch })
  }

  async release(stream: string, fence: Fence): Promise<void> {
    const { db, shared } = await this.#opened()
    shared.released(stream)
    await release(db, stream, fence)
  }

  async listOwned(query: PageRequest & { readonly owner: string }): Promise<Page<StreamStatus>> {
    return listOwned(await this.#db(), query)
  }

  async join(member: Member): Promise<Membership> {
    return (await this.#opened()).shared.join(member)
  }

  onChange(listener: (stream: string, seq: number) => void): () => void {
    let stop: (() => void) | undefined
    let isStopped = false
    this.#opened().then(
      ({ shared }) => {
        if (!isStopped) stop = shared.onChange(listener)
      },
      () => undefined,
    )
    return () => {
      isStopped = true
      stop?.()
    }
  }

  /** Gives a command to a thread again and again, as one of the processes at work finds it due. Replaces its older self. */
  async putSchedule(schedule: Schedule): Promise<void> {
    checkSchedule(schedule)
    if ((await this.getThread(schedule.thread)) === null) throw noSuchStream(schedule.thread)
    await (await this.#opened()).shared.jobs.putSchedule(schedule)
  }

  async listSchedules(): Promise<readonly Schedule[]> {
    return (await this.#opened()).shared.jobs.listSchedules()
  }

  async removeSchedule(id: string): Promise<void> {
    await (await this.#opened()).shared.jobs.removeSchedule(id)
  }

  /** Sets quotas, retention and the login role of a tenant. Needs the role that owns the tables. */
  async setTenant(tenant: Tenant): Promise<void> {
    await setTenant(await this.#db(), tenant)
  }

  async listTenants(): Promise<readonly Tenant[]> {
    return listTenants(await this.#db())
  }

  /** Deletes threads that were kept for as long as their tenants want. Machines at work do so by themselves. */
  async expireThreads(): Promise<readonly string[]> {
    const db = await this.#db()
    const expired = await expireThreads(db, { format: this.#streamFormat, labels: [] })
    if (expired.length > 0) await purge(db)
    return expired
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const opened = await this.#opening?.catch(() => undefined)
    await opened?.shared.close()
    await opened?.db.close()
  }

  async #claim(request: Omit<ClaimRequest, 'format' | 'labels'>): Promise<Claim> {
    const { db, shared } = await this.#opened()
    const labels = this.#options.labels ?? []
    const result = await claim(db, { ...request, format: this.#streamFormat, labels }, this.#now())
    if (result.status === 'owned') shared.claimed(request.stream)
    return result
  }

  async #db(): Promise<PostgresConnection> {
    return (await this.#opened()).db
  }

  async #opened(): Promise<DatabaseHandles> {
    if (this.#isClosed) throw storeClosed()
    this.#opening ??= this.#connect()
    const opened = await this.#opening
    if (this.#isClosed) throw storeClosed()
    return opened
  }

  async #connect(): Promise<DatabaseHandles> {
    const pool = await openPool(this.#options.url, this.#options.maxConnections ?? MAX_CONNECTIONS)
    const db = new PostgresConnection(pool)
    try {
      this.#identity = await db.write((session) => migrate(session))
      await purge(db)
      const shared = new SharedWork(this.#options.url, pool, db, {
        scheduled: async (schedule, occurrence) => {
          if ((await this.getThread(schedule.thread)) === null) return shared.jobs.removeSchedule(schedule.id)
          await this.admitCommand(scheduledCommand(schedule, occurrence))
        },
        upkeep: async () => {
          while ((await this.expireThreads()).length > 0);
          await this.pruneCommands(this.#now())
        },
        origin: () => this.#identity?.origin,
        moved: async (origin) => {
          if (this.#identity?.origin !== origin) this.#identity = await db.write((session) => migrate(session))
        },
      })
      return { db, shared }
    } catch (error) {
      // The next call tries again.
      this.#opening = undefined
      await db.close()
      throw error
    }
  }
}
