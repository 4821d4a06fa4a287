import { EvenerError, type Answer, type PartAddress, type Store, type WaitRequest } from '@evener/protocol'
import type { ThreadLog } from './thread-log.ts'

/**
 * Where questions are put and answers come in. What waits stands in the log; here is only who in this process is waiting
 * for it, which may be nobody.
 */
export class WaitDesk {
  readonly #store: Store
  readonly #log: ThreadLog
  readonly #waiters = new Map<string, PromiseWithResolvers<Answer>>()

  constructor(store: Store, log: ThreadLog) {
    this.#store = store
    this.#log = log
  }

  /** Puts the question on record, or finds it there after a restart, and waits. */
  async ask(
    wait: WaitRequest,
    call: PartAddress | undefined,
    origin: { readonly run: string; readonly turn: string },
  ): Promise<Answer> {
    const pending = Object.values(this.#log.state.head.waits).find(
      (other) => call !== undefined && other.call?.messageId === call.messageId && other.call.partId === call.partId,
    )
    const waiter = Promise.withResolvers<Answer>()
    this.#waiters.set(pending?.id ?? wait.id, waiter)
    if (pending === undefined) {
      await this.#log.commit([{ type: 'wait.opened', wait, ...(call === undefined ? {} : { call }) }], origin)
    }
    this.parkIfWaiting()
    return waiter.promise
  }

  /** Puts the answer on record and tells who waits for it. False when nobody in this process does. */
  async answer(waitId: string, answer: Answer, by: string | undefined): Promise<boolean> {
    if (!Object.hasOwn(this.#log.state.head.waits, waitId)) throw await this.#noSuchWait(waitId)
    await this.#log.commit([{ type: 'wait.answered', waitId, answer }], by === undefined ? {} : { by })
    const waiter = this.#waiters.get(waitId)
    this.#waiters.delete(waitId)
    if (waiter === undefined) return false
    this.#unpark()
    waiter.resolve(answer)
    return true
  }

  /** Nobody in this process waits any more; the questions stay. */
  forget(): void {
    this.#waiters.clear()
  }

  /** The run is cancelled: whoever waits is told so. */
  dismiss(): void {
    for (const waiter of this.#waiters.values()) waiter.reject(new EvenerError('closed', 'The run was cancelled.'))
    this.#waiters.clear()
  }

  /** Says so when there is nothing left to do but wait: from here on the run needs no process. */
  parkIfWaiting(): void {
    const { run, waits } = this.#log.state.head
    if (run?.status !== 'running' || !this.isOnlyWaiting()) return
    this.#log.add({ type: 'run.parked', runId: run.runId, waitIds: Object.keys(waits) }, { run: run.runId })
  }

  /** Every call that has no result waits for an answer, and the model is not being asked. */
  isOnlyWaiting(): boolean {
    const { head, messages } = this.#log.state
    if (head.run === null || head.run.isStepOpen || Object.keys(head.waits).length === 0) return false
    for (const message of messages) {
      for (const part of message.parts) {
        if (part.type === 'tool-call' && part.call.stage !== 'ended' && part.call.stage !== 'waiting') return false
      }
    }
    return true
  }

  #unpark(): void {
    const { run } = this.#log.state.head
    if (run?.status !== 'parked') return
    this.#log.add({ type: 'run.resumed', runId: run.runId, attempt: run.attempt, reason: 'answer' }, { run: run.runId })
  }

  async #noSuchWait(waitId: string): Promise<EvenerError> {
    const { stream } = this.#log
    const row = await this.#store.getWait(stream, waitId)
    if (row === null) return new EvenerError('not-found', `Thread ${stream} waits for nothing with the id "${waitId}".`)
    const who = row.answeredBy === undefined ? '' : ` by ${row.answeredBy}`
    return new EvenerError('conflict', `"${waitId}" has been ${row.state}${who} already.`, {
      details: { state: row.state },
    })
  }
}
