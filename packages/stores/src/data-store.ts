import type { StoredMessage } from '@inspan/protocol'
import { rootLineage, type Lineage, type LogRecord, type RecordType, type StoredHead } from '@inspan/protocol/log'
import type {
  Admission,
  Blob,
  Claim,
  CommandKey,
  CommandOutcome,
  CommandRow,
  Fence,
  ForkReach,
  MessageQuery,
  NewCommand,
  NewStream,
  Owner,
  Page,
  PageRequest,
  RecordQuery,
  Store,
  StreamStatus,
  ThreadInfo,
  WaitRow,
} from '@inspan/protocol/store'
import type { ForksQuery } from './shared/stretches.ts'
import type { ThreadQuery } from './shared/thread-row.ts'

/** What can be done with the data of a store: the methods of `DataStore`, with the data as their first argument. */
export type DataOperations<Data> = {
  readonly [Name in Exclude<keyof DataStore<Data>, 'readRecords' | 'takeOver'>]: (
    data: Data,
    ...given: Parameters<Store[Name]>
  ) => Awaited<ReturnType<Store[Name]>>
} & {
  /** With `seenEpoch`: takes the stream of an owner found dead. */
  readonly claim: (data: Data, stream: string, owner: string, seenEpoch?: number) => Claim
}

/** A store whose data is at hand within the process. Most of its methods are one operation on the data. */
export abstract class DataStore<Data> {
  protected abstract use<T>(work: (data: Data, on: DataOperations<Data>) => T): Promise<T>

  async createStream(stream: NewStream): Promise<StreamStatus> {
    return this.use((data, on) => on.createStream(data, stream))
  }

  async getStream(stream: string): Promise<StreamStatus | null> {
    return this.use((data, on) => on.getStream(data, stream))
  }

  async readRecords(stream: string, query: RecordQuery): Promise<Page<LogRecord>> {
    return this.use((data, on) => on.readLineage(data, rootLineage(stream), query))
  }

  async readLineage(lineage: Lineage, query: RecordQuery): Promise<Page<LogRecord>> {
    return this.use((data, on) => on.readLineage(data, lineage, query))
  }

  async latestRecord(lineage: Lineage, type: RecordType, upTo: number): Promise<LogRecord | null> {
    return this.use((data, on) => on.latestRecord(data, lineage, type, upTo))
  }

  async hasNamedRun(lineage: Lineage, runId: string): Promise<boolean> {
    return this.use((data, on) => on.hasNamedRun(data, lineage, runId))
  }

  async readHead(stream: string, reducerVersion: number): Promise<StoredHead | null> {
    return this.use((data, on) => on.readHead(data, stream, reducerVersion))
  }

  async getThread(thread: string): Promise<ThreadInfo | null> {
    return this.use((data, on) => on.getThread(data, thread))
  }

  async listThreads(query: ThreadQuery): Promise<Page<ThreadInfo>> {
    return this.use((data, on) => on.listThreads(data, query))
  }

  async listResourceIds(query: PageRequest): Promise<Page<string>> {
    return this.use((data, on) => on.listResourceIds(data, query))
  }

  async listForks(query: ForksQuery): Promise<Page<ForkReach>> {
    return this.use((data, on) => on.listForks(data, query))
  }

  async listMessages(lineage: Lineage, query: MessageQuery): Promise<Page<StoredMessage>> {
    return this.use((data, on) => on.listMessages(data, lineage, query))
  }

  async getMessage(lineage: Lineage, messageId: string): Promise<StoredMessage | null> {
    return this.use((data, on) => on.getMessage(data, lineage, messageId))
  }

  async listWaits(query: Parameters<Store['listWaits']>[0]): Promise<Page<WaitRow>> {
    return this.use((data, on) => on.listWaits(data, query))
  }

  async listDue(query: PageRequest & { readonly now: number }): Promise<Page<WaitRow>> {
    return this.use((data, on) => on.listDue(data, query))
  }

  async getWait(stream: string, waitId: string): Promise<WaitRow | null> {
    return this.use((data, on) => on.getWait(data, stream, waitId))
  }

  async readBlob(hash: string, lineage?: Lineage): Promise<Blob | null> {
    return this.use((data, on) => on.readBlob(data, hash, lineage))
  }

  async admitCommand(command: NewCommand): Promise<Admission> {
    return this.use((data, on) => on.admitCommand(data, command))
  }

  async listCommands(query: Parameters<Store['listCommands']>[0]): Promise<Page<CommandRow>> {
    return this.use((data, on) => on.listCommands(data, query))
  }

  async getCommand(key: CommandKey): Promise<CommandRow | null> {
    return this.use((data, on) => on.getCommand(data, key))
  }

  async settleCommand(outcome: CommandOutcome): Promise<boolean> {
    return this.use((data, on) => on.settleCommand(data, outcome))
  }

  async failCommand(key: CommandKey): Promise<number> {
    return this.use((data, on) => on.failCommand(data, key))
  }

  async putOwner(owner: Owner): Promise<void> {
    return this.use((data, on) => on.putOwner(data, owner))
  }

  async heartbeat(owner: string, until: number): Promise<boolean> {
    return this.use((data, on) => on.heartbeat(data, owner, until))
  }

  async removeOwner(owner: string): Promise<void> {
    return this.use((data, on) => on.removeOwner(data, owner))
  }

  async getOwner(owner: string): Promise<Owner | null> {
    return this.use((data, on) => on.getOwner(data, owner))
  }

  async listOwners(query: PageRequest): Promise<Page<Owner>> {
    return this.use((data, on) => on.listOwners(data, query))
  }

  async claim(stream: string, owner: string): Promise<Claim> {
    return this.use((data, on) => on.claim(data, stream, owner))
  }

  async takeOver(stream: string, owner: string, seenEpoch: number): Promise<Claim> {
    return this.use((data, on) => on.claim(data, stream, owner, seenEpoch))
  }

  async release(stream: string, fence: Fence): Promise<void> {
    return this.use((data, on) => on.release(data, stream, fence))
  }

  async listOwned(query: PageRequest & { readonly owner: string }): Promise<Page<StreamStatus>> {
    return this.use((data, on) => on.listOwned(data, query))
  }
}
