import {
  EvenerError,
  type Answer,
  type Part,
  type PartAddress,
  type RecordBody,
  type Store,
  type Wait,
  type WaitRequest,
} from '@evener/protocol'
import { isOpenCall } from '../turns/active-run.ts'
import type { ThreadLog } from '../log/thread-log.ts'

export interface Question {
  readonly wait: WaitRequest
  /** The call that waits, if it is one. */
  readonly call?: PartAddress
  readonly origin: { readonly run: string; readonly turn: string }
  /** The asker is a program of its own, which may be asking in the middle of a step. */
  readonly isForeign?: boolean
}

export interface GivenAnswer {
  readonly waitId: string
  readonly answer: Answer
  readonly by?: string
  /** Written together with the answer. */
  readonly more?: readonly RecordBody[]
  /** Whoever asked is gone: the answer is kept for when the same is asked again. */
  readonly isDetached?: boolean
}

/**
 * Where questions are put and answers come in. What waits stands in the log; here is only who in this process is waiting
 * for it, which may be nobody.
 */
export class WaitDesk {
  readonly #store: Store
  readonly #log: ThreadLog
  readonly #waiters = new Map<string, PromiseWithResolvers<Answer>>()
  /** Questions that are being written: they stand in the log before whatever comes now, and not in its state yet. */
  readonly #opening = new Set<string>()
  /** Kept answers that somebody has got while the record of it was still being written. */
  readonly #used = new WeakSet<Answer>()
  /** Somebody got an answer, and has not been heard of since. */
  #mayGoOn = false
  /** The last call of the step that was found at work. */
  #atWork: PartAddress | undefined

  constructor(store: Store, log: ThreadLog) {
    this.#store = store
    this.#log = log
  }

  /** Whether somebody in this process waits for an answer. */
  get isWaitedFor(): boolean {
    return this.#waiters.size > 0
  }

  /** Puts the question on record, or finds it there after a restart, and waits. */
  async ask({ wait, call, origin, isForeign = false }: Question): Promise<Answer> {
    const opened = { type: 'wait.opened', wait, ...(call === undefined ? {} : { call }) } as const
    const kept = this.#keptAnswer(wait.subject.hash)
    if (kept !== undefined) {
      // Answered before the asker was there again: this once, and for the very same.
      this.#used.add(kept)
      await this.#log.commit([opened, { type: 'wait.answered', waitId: wait.id, answer: kept }], origin)
      return kept
    }
    const pending = call === undefined ? undefined : this.#pendingOf(call)
    const waiter = Promise.withResolvers<Answer>()
    // A cancel may come while the question is still being written, and nobody listens yet.
    waiter.promise.catch(() => undefined)
    this.#waiters.set(pending?.id ?? wait.id, waiter)
    try {
      if (pending === undefined) await this.#open(opened, origin)
    } catch (error) {
      this.#waiters.delete(wait.id)
      throw error
    }
    this.parkIfWaiting(isForeign)
    return waiter.promise
  }

  /** What the run waits for, and what it is about to. */
  waitsOf(runId: string): string[] {
    const asked = [...this.#log.state.head.waits].filter((wait) => wait.run === runId).map(({ id }) => id)
    return [...asked, ...this.#opening]
  }

  /** Puts the answer on record and tells who waits for it. False when nobody in this process does. */
  async answer({ waitId, answer, by, more = [], isDetached = false }: GivenAnswer): Promise<boolean> {
    const answered = {
      type: 'wait.answered',
      waitId,
      answer,
      ...(isDetached ? { detached: true as const } : {}),
    } as const
    await this.#log.commit([answered, ...more], by === undefined ? {} : { by })
    const waiter = this.#waiters.get(waitId)
    this.#waiters.delete(waitId)
    if (waiter === undefined) return false
    this.#unpark()
    waiter.resolve(answer)
    return true
  }

  /** The asker takes its question back. */
  async withdraw(waitId: string): Promise<void> {
    const waiter = this.#waiters.get(waitId)
    this.#waiters.delete(waitId)
    waiter?.reject(new EvenerError('closed', 'The question was taken back.'))
    if (!this.#opening.has(waitId) && !this.#log.state.head.waits.has(waitId)) return
    await this.#log.commit([{ type: 'wait.superseded', waitId }])
    this.#unpark()
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
  parkIfWaiting(isForeign = false): void {
    const { run, waits } = this.#log.state.head
    // The end of a run that was cancelled may be on its way: it is not shown yet, and nobody waits any more.
    if (!this.isWaitedFor || run?.status !== 'running' || !this.isOnlyWaiting(isForeign)) return
    this.#log.add({ type: 'run.parked', runId: run.runId, waitIds: [...waits.keys()] }, { run: run.runId })
  }

  /** Every call that has no result waits for an answer, and the model is not being asked. */
  isOnlyWaiting(isForeign = false): boolean {
    const { head, messages } = this.#log.state
    if (head.run === null || head.waits.size === 0) return false
    // A program that asks has not ended its step, but says nothing until it is answered.
    if (head.run.isStepOpen && !isForeign) return false
    // Asked at every result of a step, which may have very many calls: most often the same one is still at work.
    if (this.#atWork !== undefined && isAtWork(this.#partAt(this.#atWork))) return false
    this.#atWork = undefined
    for (const { id: messageId, parts } of messages) {
      for (const part of parts) if (isAtWork(part)) this.#atWork = { messageId, partId: part.id }
    }
    return this.#atWork === undefined
  }

  /** Why there is nothing to answer: it was answered, or taken back, or never asked here. */
  async noSuchWait(waitId: string): Promise<EvenerError> {
    const { stream } = this.#log
    const row = await this.#store.getWait(stream, waitId)
    if (row === null) return new EvenerError('not-found', `Thread ${stream} has no wait with the id "${waitId}".`)
    const who = row.answeredBy === undefined ? '' : ` by ${row.answeredBy}`
    return new EvenerError('conflict', `"${waitId}" has been ${row.state}${who} already.`, {
      details: { state: row.state },
    })
  }

  async #open(opened: Extract<RecordBody, { type: 'wait.opened' }>, origin: Question['origin']): Promise<void> {
    const { id } = opened.wait
    this.#opening.add(id)
    try {
      await this.#log.commit([opened], origin)
    } finally {
      this.#opening.delete(id)
    }
  }

  /** What the call itself waits for, as an earlier process left it. */
  #pendingOf(call: PartAddress): Wait | undefined {
    const part = this.#partAt(call)
    if (part?.type !== 'tool-call' || part.call.waitId === undefined) return undefined
    return this.#log.state.head.waits.get(part.call.waitId)
  }

  #partAt({ messageId, partId }: PartAddress): Part | undefined {
    return this.#log.state.messages.get(messageId)?.parts.at(Number(partId))
  }

  #keptAnswer(hash: string | undefined): Answer | undefined {
    const kept = hash === undefined ? undefined : this.#log.state.head.run?.kept?.get(hash)
    return kept?.find((answer) => !this.#used.has(answer))
  }

  #unpark(): void {
    // A program may have asked more than one thing, and then waits on, or says that it does not.
    this.#mayGoOn = true
    if (!this.isOnlyWaiting(true)) this.goOn()
  }

  /** The asker does something: if it has got an answer, it is at work again, whatever else it has asked. */
  goOn(): void {
    if (!this.#mayGoOn) return
    this.#mayGoOn = false
    const { run } = this.#log.state.head
    if (run?.status !== 'parked') return
    this.#log.add({ type: 'run.resumed', runId: run.runId, attempt: run.attempt, reason: 'answer' }, { run: run.runId })
  }
}

function isAtWork(part: Part | undefined): boolean {
  return isOpenCall(part) && part.call.stage !== 'waiting'
}
