import type { StoredMessage } from '@inspan/protocol'
import type { Lineage, LogRecord } from '@inspan/protocol/log'
import type { MessageQuery, Page, PageRequest, RecordQuery, ThreadInfo } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'

/** A store that counts the rows read from it, and the most rows of a single call. */
export class CountingStore extends MemoryStore {
  reads = 0
  rows = 0
  largestPage = 0

  reset(): void {
    this.reads = 0
    this.rows = 0
    this.largestPage = 0
  }

  override async listMessages(lineage: Lineage, query: MessageQuery): Promise<Page<StoredMessage>> {
    return this.#count(await super.listMessages(lineage, query))
  }

  override async readRecords(stream: string, query: RecordQuery): Promise<Page<LogRecord>> {
    return this.#count(await super.readRecords(stream, query))
  }

  override async listThreads(query: PageRequest & { readonly resourceId?: string }): Promise<Page<ThreadInfo>> {
    return this.#count(await super.listThreads(query))
  }

  override async listResourceIds(query: PageRequest): Promise<Page<string>> {
    return this.#count(await super.listResourceIds(query))
  }

  #count<T>(page: Page<T>): Page<T> {
    this.reads++
    this.rows += page.items.length
    this.largestPage = Math.max(this.largestPage, page.items.length)
    return page
  }
}
