import { addUsage, NO_USAGE, type UsageMetadata } from '@inspan/protocol'
import type { OperationStatus, OperationUsage } from '@inspan/protocol/chat'
import type { LogRecord, RunOutcome, ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import type { ThreadRuntime } from '@inspan/core/engine'
import { AgentSDKError } from '../errors.ts'
import { limitOf } from './chat-request.ts'

export interface OperationsPorts {
  readonly store: Store
  readonly threadId: string
  readonly runtime: () => Promise<ThreadRuntime>
  readonly state: () => Promise<ThreadState>
  readonly usageOf: (runId: string) => OperationUsage | undefined
}

/** Where an operation is on record. Without a run it is queued. */
export interface FoundOperation {
  readonly runId?: string
  /** The seq of its message. */
  readonly from: number
}

const STATES: Readonly<Record<RunOutcome, OperationStatus['state']>> = {
  complete: 'completed',
  error: 'failed',
  aborted: 'aborted',
  interrupted: 'interrupted',
}

/** Turns that the caller named. The name is the id of their message, so the log knows them for ever. */
export class Operations {
  readonly #ports: OperationsPorts

  constructor(ports: OperationsPorts) {
    this.#ports = ports
  }

  async find(operationId: string): Promise<FoundOperation | undefined> {
    const { head, messages } = await this.#ports.state()
    for (const item of head.queue) if (item.messageId === operationId) return { from: item.addedAt }
    const message = messages.get(operationId) ?? (await this.#ports.store.getMessage(head.lineage, operationId))
    return message?.run === undefined ? undefined : { runId: message.run, from: message.order }
  }

  async get(operationId: string): Promise<OperationStatus | undefined> {
    const found = await this.find(operationId)
    if (found === undefined) return undefined
    const { runId } = found
    if (runId === undefined) return { operationId, state: 'queued' }
    const current = await this.#ports.state()
    const { head } = current
    if (head.run?.runId === runId) {
      const usage = this.#ports.usageOf(runId)
      const state = head.run.status === 'parked' ? 'waiting' : 'running'
      const resumesAt = limitOf(current)?.due
      return {
        operationId,
        state,
        ...(resumesAt === undefined ? {} : { resumesAt }),
        ...(usage === undefined ? {} : { usage }),
      }
    }
    return this.#ended(operationId, runId, found.from)
  }

  /** Resolves when the operation is over, whichever process ends it. */
  async wait(operationId: string): Promise<OperationStatus> {
    for (;;) {
      const runtime = await this.#ports.runtime()
      const found = await this.find(operationId)
      if (found === undefined) throw unknown(operationId)
      const { runId } = found
      if (runId !== undefined && runtime.state.head.run?.runId !== runId) break
      if (runId === undefined) await this.#started(runtime, operationId)
      else await runtime.outcome(runId)
    }
    const status = await this.get(operationId)
    if (status === undefined) throw unknown(operationId)
    return status
  }

  async abort(operationId: string): Promise<void> {
    const runtime = await this.#ports.runtime()
    const found = await this.find(operationId)
    if (found === undefined) throw unknown(operationId)
    if (found.runId !== undefined) {
      if (runtime.state.head.run?.runId === found.runId) await runtime.cancel()
      return
    }
    const item = [...runtime.state.head.queue].find(({ messageId }) => messageId === operationId)
    if (item !== undefined) await runtime.record([{ type: 'queue.removed', itemId: item.id, reason: 'dropped' }])
  }

  /** Reads the records of a run from its message on. */
  async *recordsOf(runId: string, from: number): AsyncGenerator<LogRecord, void> {
    const { store } = this.#ports
    const { lineage } = (await this.#ports.state()).head
    let after = Math.max(0, from - 2)
    for (;;) {
      const page = await store.readLineage(lineage, { after, limit: 500 })
      for (const record of page.items) {
        after = record.seq
        if (record.run !== runId) continue
        yield record
        if (record.body.type === 'run.ended') return
      }
      if (page.next === null) return
    }
  }

  async #ended(operationId: string, runId: string, from: number): Promise<OperationStatus> {
    const totals = new Totals()
    for await (const { body } of this.recordsOf(runId, from)) {
      if (body.type === 'step.ended') totals.add(body.usage)
      if (body.type === 'turn.ended') {
        totals.add(body.increment)
        totals.finishReason = body.finishReason
      }
      if (body.type !== 'run.ended') continue
      const { usage, finishReason } = totals
      return {
        operationId,
        state: STATES[body.outcome],
        ...(finishReason === undefined ? {} : { finishReason }),
        ...(usage === undefined ? {} : { usage }),
        ...(body.error === undefined ? {} : { error: body.error }),
      }
    }
    return { operationId, state: 'interrupted' }
  }

  /** Resolves when the queued message was sent or dropped. */
  async #started(runtime: ThreadRuntime, operationId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = runtime.onEntry((entry) => {
      if (entry.kind === 'record' && entry.record.body.type === 'queue.removed') resolve()
    })
    const isQueued = [...runtime.state.head.queue].some(({ messageId }) => messageId === operationId)
    if (isQueued) await promise
    stop()
  }
}

type Increment = UsageMetadata & { readonly costUsd?: number; readonly source?: string; readonly scope?: string }

/** Adds up usage. Counts that were never reported stay away. */
class Totals {
  finishReason: OperationStatus['finishReason']
  #sum = NO_USAGE
  readonly #reported = new Set<string>()
  #isEstimated = false

  add(increment: Increment | undefined): void {
    if (increment === undefined) return
    const { scope: _scope, source, ...counts } = increment
    this.#sum = addUsage(this.#sum, counts)
    for (const key of Object.keys(counts)) this.#reported.add(key)
    if (source === 'estimated') this.#isEstimated = true
  }

  get usage(): OperationUsage | undefined {
    if (this.#reported.size === 0) return undefined
    const known = Object.entries(this.#sum).filter(([key]) => this.#reported.has(key))
    return { ...Object.fromEntries(known), source: this.#isEstimated ? 'estimated' : 'reported' }
  }
}

function unknown(operationId: string): AgentSDKError {
  return new AgentSDKError('OPERATION_NOT_FOUND', `There is no operation "${operationId}" in this session.`)
}
