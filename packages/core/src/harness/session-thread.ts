import {
  EvenerError,
  MAX_PAGE,
  toHarnessThread,
  type HarnessMessage,
  type HarnessThread,
  type JsonValue,
  type ThreadState,
} from '@evener/protocol'
import type { DeleteReport } from '../engine/delete-thread.ts'
import type { HarnessCore } from './harness-core.ts'
import type { SessionBinding } from './session-binding.ts'
import type { ThreadSettings } from './session-defaults.ts'
import type { SessionIdentity } from './session-identity.ts'
import type { CloneRequest, ThreadLifecycle } from './thread-lifecycle.ts'
import {
  listed,
  readFirstUserMessage,
  readMessages,
  readThreadState,
  type Listed,
  type MessageListQuery,
} from './thread-reads.ts'

export interface ThreadListQuery {
  readonly allResources?: boolean
  readonly includeForkedSubagents?: boolean
  /** 1,000 when absent. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly cursor?: string
}

export type ThreadPage = Listed<HarnessThread>
export type MessagePage = Listed<HarnessMessage>

/** The thread a session is bound to, and what can be read of this and others. */
export class SessionThread {
  readonly #core: HarnessCore
  readonly #binding: SessionBinding
  readonly #settings: ThreadSettings
  readonly #identity: SessionIdentity
  readonly #lifecycle: ThreadLifecycle

  constructor(
    core: HarnessCore,
    binding: SessionBinding,
    settings: ThreadSettings,
    identity: SessionIdentity,
    lifecycle: ThreadLifecycle,
  ) {
    this.#core = core
    this.#binding = binding
    this.#settings = settings
    this.#identity = identity
    this.#lifecycle = lifecycle
  }

  getId(): string | null {
    return this.#binding.threadId
  }

  isSet(): boolean {
    return this.getId() !== null
  }

  requireId(): string {
    return this.#binding.requireRuntime().state.head.stream
  }

  create(options?: { readonly title?: string; readonly id?: string }): Promise<HarnessThread> {
    return this.#lifecycle.create(options)
  }

  switch(options: { readonly threadId: string }): Promise<void> {
    return this.#lifecycle.switch(options)
  }

  /** The same as `switch`: a thread that is chosen is also looked at. */
  set(options: { readonly threadId: string }): Promise<void> {
    return this.switch(options)
  }

  rename(options: { readonly title: string }): Promise<void> {
    return this.#lifecycle.rename(options)
  }

  clone(request?: CloneRequest): Promise<HarnessThread> {
    return this.#lifecycle.clone(request)
  }

  delete(options: { readonly threadId: string }): Promise<DeleteReport> {
    return this.#lifecycle.delete(options)
  }

  /** Leaves the thread. A run that is at work is ended; what waits goes on waiting. */
  clear(): Promise<void> {
    return this.#lifecycle.clear()
  }

  /** Newest change first. */
  async list(query: ThreadListQuery = {}): Promise<ThreadPage> {
    await this.#core.ready()
    const { limit = MAX_PAGE } = query
    const threads: HarnessThread[] = []
    let next: string | null = query.cursor ?? null
    do {
      const page = await this.#core.store.listThreads({
        limit: Math.min(MAX_PAGE, limit - threads.length),
        ...(query.allResources === true ? {} : { resourceId: this.#identity.getResourceId() }),
        ...(query.includeForkedSubagents === true ? { includeHidden: true } : {}),
        ...(next === null ? {} : { cursor: next }),
      })
      threads.push(...page.items.map((info) => toHarnessThread(info)))
      ;({ next } = page)
    } while (next !== null && threads.length < limit)
    return listed(threads, next)
  }

  async getById({ threadId }: { readonly threadId: string }): Promise<HarnessThread | null> {
    await this.#core.ready()
    const info = await this.#core.store.getThread(threadId)
    if (info === null) return null
    return toHarnessThread(info, (await this.#state(threadId)).head.usage.own)
  }

  /** The newest messages, oldest of them first. `next` leads to those before. */
  async listMessages({ threadId, ...query }: { readonly threadId: string } & MessageListQuery): Promise<MessagePage> {
    await this.#core.ready()
    return readMessages(this.#core.store, await this.#state(threadId), query)
  }

  /** Of the bound thread; none without one. */
  async listActiveMessages(query: MessageListQuery = {}): Promise<MessagePage> {
    const threadId = this.getId()
    return threadId === null ? listed([], null) : this.listMessages({ threadId, ...query })
  }

  async firstUserMessage({ threadId }: { readonly threadId: string }): Promise<HarnessMessage | null> {
    await this.#core.ready()
    return readFirstUserMessage(this.#core.store, await this.#state(threadId))
  }

  /** By thread; those without a user's message, or that do not exist, are left out. */
  async firstUserMessages({
    threadIds,
  }: {
    readonly threadIds: readonly string[]
  }): Promise<Map<string, HarnessMessage>> {
    const found = new Map<string, HarnessMessage>()
    for (const threadId of threadIds) {
      try {
        const message = await this.firstUserMessage({ threadId })
        if (message !== null) found.set(threadId, message)
      } catch (error) {
        if (!EvenerError.is(error, 'not-found')) throw error
      }
    }
    return found
  }

  getSetting({ key }: { readonly key: string }): JsonValue | undefined {
    return this.#settings.get(key)
  }

  async setSetting({ key, value }: { readonly key: string; readonly value: JsonValue }): Promise<void> {
    await this.#settings.set(key, value)
  }

  async deleteSetting({ key }: { readonly key: string }): Promise<void> {
    await this.#settings.set(key, null)
  }

  async #state(threadId: string): Promise<ThreadState> {
    return this.#core.threads.find(threadId)?.state ?? readThreadState(this.#core.store, threadId)
  }
}
