import type { ChangedFile, RewindReport } from '@inspan/tools'
import { InspanError, type JsonValue } from '@inspan/protocol'
import { toHarnessThread, type HarnessMessage, type HarnessThread } from '@inspan/protocol/harness'
import type { ThreadState } from '@inspan/protocol/log'
import { MAX_PAGE, type ThreadInfo } from '@inspan/protocol/store'
import { type DeleteReport, noSuchThread } from '../../engine/index.ts'
import { aFlag, aText, listOf, words } from '@inspan/protocol/internal'
import { givenFields, givenJson } from '../checks/check-given.ts'
import type { SessionContext } from './session-context.ts'
import { changedFiles } from '../threads/thread-files.ts'
import { ThreadWorktree } from '../threads/thread-worktree.ts'
import type { CloneRequest, ThreadToCreate } from '../threads/thread-lifecycle.ts'
import {
  checkPage,
  listed,
  readFirstUserMessage,
  readMessages,
  type Listed,
  type MessageListQuery,
} from '../threads/thread-reads.ts'

export interface ThreadListQuery {
  readonly allResources?: boolean
  readonly includeForkedSubagents?: boolean
  /** Default: 1,000. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly cursor?: string
}

interface ThreadChoice {
  readonly threadId: string
}

interface AnyResource {
  /** Allows threads of other resources too. */
  readonly allResources?: boolean
}

/** What was restored. With conflicts: nothing yet, and a question with the id `waitId` asks what to do about them. */
export interface RestoredFiles extends Omit<RewindReport, 'turnId'> {
  readonly waitId?: string
}

/** A rewind that can be undone. */
export interface ThreadRewind {
  /** Shows again what the rewind took away; what was said since then is no longer shown. */
  readonly undo: () => Promise<void>
}

export type ThreadPage = Listed<HarnessThread>
export type MessagePage = Listed<HarnessMessage>

/** The thread a session is bound to, and reads of this and other threads. */
export class SessionThread {
  readonly worktree: ThreadWorktree
  readonly #session: SessionContext

  constructor(session: SessionContext) {
    this.#session = session
    this.worktree = new ThreadWorktree(session.core, () => session.binding.requireRuntime())
  }

  getId(): string | null {
    return this.#session.binding.threadId
  }

  isSet(): boolean {
    return this.getId() !== null
  }

  requireId(): string {
    return this.#session.binding.requireRuntime().state.head.stream
  }

  async create(options: ThreadToCreate = {}): Promise<HarnessThread> {
    givenFields(options, 'createThread({ title? })', {}, { title: words, id: aText })
    const { lifecycle } = this.#session
    return lifecycle.inTurn((resourceId) => lifecycle.create(resourceId, options))
  }

  async switch(options: ThreadChoice): Promise<void> {
    const { threadId } = chosen(options, 'switchThread({ threadId })')
    const { lifecycle } = this.#session
    await lifecycle.inTurn(async (resourceId) => {
      await lifecycle.find(threadId, resourceId)
      await lifecycle.moveTo(threadId)
    })
  }

  /** The same as `switch`: choosing a thread binds the session to it. */
  set(options: ThreadChoice): Promise<void> {
    return this.switch(options)
  }

  async rename(options: { readonly title: string }): Promise<void> {
    const { title } = givenFields(options, 'renameThread({ title })', { title: words })
    const { lifecycle } = this.#session
    await lifecycle.inTurn(() => lifecycle.bound().configure({ title }))
  }

  async clone(request: CloneRequest = {}): Promise<HarnessThread> {
    const optional = { sourceThreadId: aText, resourceId: aText, title: words }
    givenFields(request, 'cloneThread({ sourceThreadId?, title? })', {}, optional)
    return this.#session.lifecycle.clone(request)
  }

  /**
   * Moves the bound thread back to before a message: this and all after it are no longer shown, to nobody. Throws
   * `misuse` while a run is open. Files that tools have changed stay as they are:
   * `restoreFiles` puts them back.
   */
  async rewind(options: { readonly messageId: string }): Promise<ThreadRewind> {
    const { messageId } = givenFields(options, 'thread.rewind({ messageId })', { messageId: aText })
    const { lifecycle } = this.#session
    const { undo } = await lifecycle.inTurn(() => lifecycle.bound().rewind({ messageId, scope: 'conversation' }))
    return { undo: () => lifecycle.inTurn(async () => undo?.()) }
  }

  /**
   * Puts the files of the workspace back as they were before the turn of a message, or with `dryRun` only reports what
   * that would change. If somebody else changed one of them since, nothing is restored, and a question lists those
   * files: answer it with `respondToToolSuspension({ toolCallId: waitId, resumeData })` and `overwrite`, `keep` or
   * `cancel`, after a restart too.
   */
  async restoreFiles(options: { readonly messageId: string; readonly dryRun?: boolean }): Promise<RestoredFiles> {
    const call = 'thread.restoreFiles({ messageId, dryRun? })'
    const { dryRun = false, messageId } = givenFields(options, call, { messageId: aText })
    const { lifecycle } = this.#session
    const { report } = await lifecycle.inTurn(() => lifecycle.bound().rewind({ messageId, dryRun }))
    return report as unknown as RestoredFiles
  }

  /** Returns the files that the bound thread has changed in the workspace, with their contents before and after. */
  async changes(): Promise<readonly ChangedFile[]> {
    const threadId = this.getId()
    return threadId === null
      ? []
      : changedFiles(this.#session.core, await this.#session.core.threads.registry.read(threadId))
  }

  async delete(options: ThreadChoice): Promise<DeleteReport> {
    return this.#session.lifecycle.delete(chosen(options, 'deleteThread({ threadId })'))
  }

  /**
   * Leaves the thread. Its run, also one that waits for an approval, is cancelled, unless another session looks at the
   * thread or the run waits only for answers to tools' questions.
   */
  clear(): Promise<void> {
    return this.#session.lifecycle.clear()
  }

  /** Returns the threads, most recently changed first. */
  async list(query: ThreadListQuery = {}): Promise<ThreadPage> {
    checkPage(query, 'thread.list({ limit?, cursor? })')
    givenFields(query, 'thread.list({ limit?, cursor? })', {}, { allResources: aFlag, includeForkedSubagents: aFlag })
    await this.#session.core.ready()
    const { limit = MAX_PAGE } = query
    const threads: HarnessThread[] = []
    let next: string | null = query.cursor ?? null
    do {
      const page = await this.#session.core.store.listThreads({
        limit: Math.min(MAX_PAGE, limit - threads.length),
        ...(query.allResources === true ? {} : { resourceId: this.#session.identity.getResourceId() }),
        ...(query.includeForkedSubagents === true ? { includeHidden: true } : {}),
        ...(next === null ? {} : { cursor: next }),
      })
      threads.push(...page.items.map((info) => toHarnessThread(info)))
      ;({ next } = page)
    } while (next !== null && threads.length < limit)
    return listed(threads, next)
  }

  async getById(options: ThreadChoice & AnyResource): Promise<HarnessThread | null> {
    const { threadId } = chosen(options, 'thread.getById({ threadId })')
    const isInReach = this.#reach(options)
    await this.#session.core.ready()
    const info = await this.#session.core.store.getThread(threadId)
    if (info === null || !isInReach(info)) return null
    return toHarnessThread(info, (await this.#session.core.threads.registry.read(threadId)).head.usage.own)
  }

  /** Returns the newest messages, oldest first. `next` is the cursor of those before. */
  async listMessages(options: ThreadChoice & AnyResource & MessageListQuery): Promise<MessagePage> {
    const { threadId } = chosen(options, 'thread.listMessages({ threadId })')
    const query = checkPage(options, 'thread.listMessages({ threadId })')
    return readMessages(this.#session.core.store, await this.#stateInReach(threadId, options), query)
  }

  /** Returns the messages of the bound thread; none without one. */
  async listActiveMessages(query: MessageListQuery = {}): Promise<MessagePage> {
    checkPage(query, 'thread.listActiveMessages({ limit?, cursor? })')
    const threadId = this.getId()
    return threadId === null ? listed([], null) : this.listMessages({ threadId, ...query })
  }

  async firstUserMessage(options: ThreadChoice & AnyResource): Promise<HarnessMessage | null> {
    const { threadId } = chosen(options, 'thread.firstUserMessage({ threadId })')
    return readFirstUserMessage(this.#session.core.store, await this.#stateInReach(threadId, options))
  }

  /** Returns messages by thread. Threads without a user's message and unknown ones are left out. */
  async firstUserMessages(
    options: AnyResource & { readonly threadIds: readonly string[] },
  ): Promise<Map<string, HarnessMessage>> {
    const call = 'thread.firstUserMessages({ threadIds })'
    const ids = { threadIds: listOf(aText, 'texts that are not empty') }
    const { allResources, threadIds } = givenFields(options, call, ids, { allResources: aFlag })
    const found = new Map<string, HarnessMessage>()
    for (const threadId of threadIds) {
      try {
        const message = await this.firstUserMessage({ threadId, allResources: allResources === true })
        if (message !== null) found.set(threadId, message)
      } catch (error) {
        if (!InspanError.is(error, 'not-found')) throw error
      }
    }
    return found
  }

  getSetting(options: { readonly key: string }): JsonValue | undefined {
    return this.#session.settings.get(givenFields(options, 'thread.getSetting({ key })', { key: aText }).key)
  }

  async setSetting(options: { readonly key: string; readonly value: JsonValue }): Promise<void> {
    const { key, value } = givenFields(options, 'thread.setSetting({ key, value })', { key: aText })
    await this.#session.settings.set(key, givenJson(value, 'value'))
  }

  async deleteSetting(options: { readonly key: string }): Promise<void> {
    const { key } = givenFields(options, 'thread.deleteSetting({ key })', { key: aText })
    await this.#session.settings.set(key, null)
  }

  /**
   * In reach are threads of the current resource, and the bound one: a clone may have been made for another resource.
   */
  #reach({ allResources }: AnyResource): (info: ThreadInfo) => boolean {
    const resourceId = this.#session.identity.getResourceId()
    const bound = this.getId()
    return (info) => allResources === true || info.resourceId === resourceId || info.id === bound
  }

  async #stateInReach(threadId: string, options: AnyResource): Promise<ThreadState> {
    const isInReach = this.#reach(options)
    await this.#session.core.ready()
    const info = await this.#session.core.store.getThread(threadId)
    if (info === null || !isInReach(info)) throw noSuchThread(threadId)
    return this.#session.core.threads.registry.read(threadId)
  }
}

function chosen(options: ThreadChoice & AnyResource, call: string): ThreadChoice & AnyResource {
  return givenFields(options, call, { threadId: aText }, { allResources: aFlag })
}
