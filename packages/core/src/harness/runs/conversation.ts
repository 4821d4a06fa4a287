import type { RequestContext } from '@inspan/agent'
import { InspanError, type JsonObject, type Part } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { aFlag, checkNames } from '@inspan/protocol/internal'
import type { Submission, ThreadRuntime } from '../../engine/index.ts'
import { checkOptional, isFields } from '../checks/check-given.ts'
import { messageParts, type MessageFile } from './message-files.ts'
import { requestContextOf, type RequestContextInput } from '../agents/request-context.ts'
import { RunAbort } from './run-abort.ts'
import type { SessionContext } from '../sessions/session-context.ts'
import type { OpenThread } from '../threads/open-threads.ts'

export interface MessageInput {
  readonly content: string
  readonly files?: readonly MessageFile[]
  /** For tools and subagents. Its JSON part survives a restart. */
  readonly requestContext?: RequestContextInput
  /**
   * When true, the call resolves only when nothing more follows: no queued message, no run for a goal, no notification
   * that was due.
   */
  readonly untilIdle?: boolean
}

/** Sends messages to the agent and stops it. */
export class Conversation {
  readonly #session: SessionContext
  /** The abort controller of the run. */
  readonly aborting: RunAbort
  /** Messages that are about to start a run. */
  readonly #beginnings = new Set<Promise<unknown>>()
  #isAbortRequested = false

  constructor(session: SessionContext) {
    this.#session = session
    this.aborting = new RunAbort(session.binding, () => this.abort())
  }

  get isAbortRequested(): boolean {
    return this.#isAbortRequested
  }

  /**
   * Resolves when the run is over or waits for a tool's question. What follows from it is awaited only with
   * `untilIdle`. Events report how the run ended; the call rejects only when the message cannot be sent at all.
   */
  async send(input: MessageInput): Promise<void> {
    const parts = partsOf(input)
    const beginning = this.#begin(parts, input)
    this.#beginnings.add(beginning)
    const { runId, thread } = await beginning.finally(() => this.#beginnings.delete(beginning))
    if (runId === undefined) await this.#steer(thread.runtime, parts, input)
    else await this.#session.binding.atRest(runId)
    if (input.untilIdle === true) await thread.control.settled()
  }

  /** Starts a run. Returns no run id when there is a run already, which is to hear the message. */
  async #begin(parts: readonly Part[], input: MessageInput): Promise<{ thread: OpenThread; runId?: string }> {
    const thread = await this.#session.lifecycle.ensure()
    if (hasRun(thread.runtime)) return { thread }
    const { runId } = await thread.runtime.submit(this.#submission(parts, input))
    return { thread, runId }
  }

  /** Queues a message until the run is over; sends it at once when there is none. */
  async followUp(input: MessageInput): Promise<void> {
    const parts = partsOf(input)
    const { runtime } = await this.#session.lifecycle.ensure()
    await this.#begun(runtime)
    if (!hasRun(runtime)) return this.send(input)
    await runtime.followUp(this.#submission(parts, input))
  }

  /** Puts a message before all queued ones; sends it at once when there is neither a run nor a queue. */
  async requeue(input: MessageInput): Promise<void> {
    const parts = partsOf(input)
    const { runtime } = await this.#session.lifecycle.ensure()
    await this.#begun(runtime)
    const waiting = [...runtime.state.head.queue].filter(({ lane }) => lane === 'follow-up')
    if (!hasRun(runtime) && waiting.length === 0) return this.send(input)
    const { core } = this.#session
    const { runId: _runId, ...submission } = this.#submission(parts, input)
    const first = { ...submission, id: core.newId(), lane: 'follow-up', door: core.config.id } as const
    await runtime.record([
      ...waiting.map(({ id }) => ({ type: 'queue.removed', itemId: id, reason: 'dropped' }) as const),
      ...[first, ...waiting].map((item) => ({ type: 'queue.added', item }) as const),
    ])
  }

  /** Waits for messages sent before, whose run the thread may not know of yet. */
  async #begun(runtime: ThreadRuntime): Promise<void> {
    while (!hasRun(runtime) && this.#beginnings.size > 0) await Promise.allSettled(this.#beginnings)
  }

  /** Cancels the run with its calls and waits, and stops what would follow from it. Resolves when that is done. */
  async abort(): Promise<void> {
    const { binding, core } = this.#session
    // Messages sent before this count, although the thread may not know of their run yet.
    if ((binding.head?.run ?? null) === null) await Promise.allSettled(this.#beginnings)
    const { runtime } = binding
    if (runtime === undefined) return
    const stopped = core.threads.registry.stopFollowing(runtime.state.head.stream)
    if (runtime.state.head.run === null) await stopped
    if (runtime.state.head.run === null) return
    this.#isAbortRequested = true
    this.aborting.requested()
    try {
      await runtime.cancel()
    } finally {
      this.#isAbortRequested = false
    }
  }

  /** Keeps the context of a message for the run that will hear it. Returns the part that is recorded. */
  keepContext(messageId: string, context: RequestContext): JsonObject {
    const { binding, core } = this.#session
    const { dropped, values } = context.toRecord()
    if (dropped.length > 0) {
      const names = dropped.join(', ')
      binding.emit({ type: 'info', message: `Not recorded with the request, since they are no JSON: ${names}.` })
    }
    core.contexts.keep(messageId, context, this.#session)
    return values
  }

  async #steer(runtime: ThreadRuntime, parts: readonly Part[], input: MessageInput): Promise<void> {
    const { binding } = this.#session
    const { run } = runtime.state.head
    const submission = this.#submission(parts, input)
    // A driver that cannot be asked may be gone, while a question of its run still waits for an answer.
    const capabilities = run === null ? undefined : await runtime.capabilities()
    // A run that asks something is not cancelled: its question would be lost.
    const isAsking = !binding.isRunning
    if (capabilities?.steer === 'none' && !isAsking) {
      binding.emit(RESTARTED)
      await runtime.cancel()
    } else if (capabilities?.continuity === 'log') {
      // For foreign programs the thread itself reports how they took it.
      binding.emit(INJECTED)
    }
    const { runId } = await runtime.steer(submission)
    await binding.atRest(runId)
  }

  #submission(parts: readonly Part[], input: MessageInput): Submission {
    const { core, mode } = this.#session
    const messageId = core.newId()
    const isOwnId = core.config.idGenerator === undefined
    const values = this.keepContext(messageId, requestContextOf(input.requestContext))
    return {
      parts,
      agentId: core.agents.of(mode.resolve()).id,
      door: core.doorKey,
      // Only for ids of the user's own making, which may come twice.
      ...(isOwnId ? { isNewMessageId: true } : { runId: core.newId() }),
      messageId,
      ...(Object.keys(values).length === 0 ? {} : { requestContext: values }),
    }
  }
}

/** True also for a run that waits for an answer. */
function hasRun({ state }: ThreadRuntime): boolean {
  return state.head.run !== null
}

const MESSAGE: readonly (keyof MessageInput)[] = ['content', 'files', 'requestContext', 'untilIdle']

/** Checks a message before anything is done with it, and returns its parts. */
function partsOf(input: MessageInput): readonly Part[] {
  const { content, files, requestContext, untilIdle }: Partial<MessageInput> = isFields(input) ? input : {}
  checkNames('a message', isFields(input) ? input : {}, MESSAGE)
  requestContextOf(requestContext)
  checkOptional(untilIdle, 'untilIdle', aFlag)
  if (typeof content !== 'string')
    throw new InspanError('invalid-input', 'The `content` of a message has to be a string.')
  if (content === '' && (files ?? []).length === 0) {
    throw new InspanError('invalid-input', 'A message must not be empty.')
  }
  return messageParts(content, files)
}

const INJECTED: HarnessEvent = {
  type: 'info',
  message: 'The agent hears it before its next step.',
  steered: 'injected',
}

const RESTARTED: HarnessEvent = {
  type: 'info',
  message: 'The agent cannot listen while it works: it is stopped and asked anew.',
  steered: 'restarted',
}
