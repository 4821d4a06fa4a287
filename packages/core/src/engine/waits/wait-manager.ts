import { InspanError, type Answer, type Part, type Wait, type WaitRequest } from '@inspan/protocol'
import type { PartAddress, RecordBody } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { PASSED_ON } from '../rules/remembered.ts'
import { isOpenCall, waitsOf } from '../turns/active-run.ts'
import type { CommitExtras, ThreadLog } from '../log/thread-log.ts'

export interface NewWait {
  readonly wait: WaitRequest
  /** What the asking tool needs to go on. */
  readonly state?: string
  /** The call that waits, if the question is about one. */
  readonly call?: PartAddress
  readonly origin: { readonly run: string; readonly turn: string }
  /** The asker is a foreign agent, which may ask in the middle of a step. */
  readonly isForeign?: boolean
}

export interface GivenAnswer {
  readonly waitId: string
  readonly answer: Answer
  readonly by?: string
  /** Records to write together with the answer. */
  readonly more?: readonly RecordBody[]
  /** The asker is gone: the answer is kept until the same is asked again. */
  readonly isDetached?: boolean
  readonly extras?: CommitExtras
}

/**
 * Opens waits and takes their answers. The waits themselves are in the log; this only knows who in this process awaits
 * them, which may be nobody.
 */
export class WaitManager {
  readonly #store: Store
  readonly #log: ThreadLog
  readonly #withDue: (wait: WaitRequest) => WaitRequest
  readonly #waiters = new Map<string, PromiseWithResolvers<Answer>>()
  /** Waits being written: the log has them before anything that comes now, but its state does not show them yet. */
  readonly #opening = new Set<string>()
  /** Kept answers already given out, while the record of that is still being written. */
  readonly #used = new WeakSet<Answer>()
  /** An asker has its answer and has done nothing since. */
  #mayGoOn = false
  /** A call of the step that was last seen working. */
  #atWork: PartAddress | undefined

  constructor(store: Store, log: ThreadLog, withDue: (wait: WaitRequest) => WaitRequest = (wait) => wait) {
    this.#withDue = withDue
    this.#store = store
    this.#log = log
  }

  /** Whether anybody in this process awaits an answer. */
  get isWaitedFor(): boolean {
    return this.#waiters.size > 0
  }

  /** Opens the wait, or finds it open after a restart, and resolves with its answer. */
  async ask({ wait, call, origin, isForeign = false, state }: NewWait): Promise<Answer> {
    const opened = {
      type: 'wait.opened',
      wait,
      ...(call === undefined ? {} : { call }),
      ...(state === undefined ? {} : { state }),
    } as const
    const kept = this.#keptAnswer(wait.subject.hash)
    if (kept !== undefined) {
      // Answered while the asker was gone: valid once, and only for the very same question.
      this.#used.add(kept)
      const answered = { type: 'wait.answered', waitId: wait.id, answer: kept } as const
      await this.#log.commit([{ ...opened, answered: true }, answered], origin)
      return kept
    }
    const pending = call === undefined ? undefined : this.#pendingOf(call)
    const waiter = Promise.withResolvers<Answer>()
    // A cancel may reject it while the question is still being written and nobody listens yet.
    waiter.promise.catch(() => undefined)
    this.#waiters.set(pending?.id ?? wait.id, waiter)
    try {
      if (pending === undefined) await this.#open({ ...opened, wait: this.#withDue(wait) }, origin)
    } catch (error) {
      this.#waiters.delete(wait.id)
      throw error
    }
    this.parkIfWaiting(isForeign)
    return waiter.promise
  }

  /** Returns the ids of the run's open waits, including those being written. */
  waitsOf(runId: string): string[] {
    const asked = [...this.#log.state.head.waits].filter((wait) => wait.run === runId).map(({ id }) => id)
    return [...asked, ...this.#opening]
  }

  /** Records the answer and resolves the asker's promise. Returns false if nobody in this process awaits it. */
  async answer({ waitId, answer, by, more = [], isDetached = false, extras }: GivenAnswer): Promise<boolean> {
    const answered = {
      type: 'wait.answered',
      waitId,
      answer,
      ...(isDetached ? { detached: true as const } : {}),
    } as const
    await this.#log.commit([answered, ...more], by === undefined ? {} : { by }, extras)
    const waiter = this.#waiters.get(waitId)
    this.#waiters.delete(waitId)
    if (waiter === undefined) return false
    this.#unpark()
    waiter.resolve(answer)
    return true
  }

  /** Closes a wait that its asker takes back. */
  async withdraw(waitId: string): Promise<void> {
    const waiter = this.#waiters.get(waitId)
    this.#waiters.delete(waitId)
    waiter?.reject(new InspanError('closed', 'The question was withdrawn.'))
    if (!this.#opening.has(waitId) && !this.#log.state.head.waits.has(waitId)) return
    await this.#log.commit([{ type: 'wait.superseded', waitId }])
    this.#unpark()
  }

  /** Drops the waiters of this process; the waits stay open. */
  forget(): void {
    this.#waiters.clear()
  }

  /** Rejects all waiters because the run is cancelled. */
  dismiss(): void {
    for (const waiter of this.#waiters.values()) waiter.reject(new InspanError('closed', 'The run was cancelled.'))
    this.#waiters.clear()
  }

  /** Parks the run if there is nothing left to do but wait: from then on it needs no process. */
  parkIfWaiting(isForeign = false): void {
    const { run, waits } = this.#log.state.head
    // A cancelled run may be about to end: that is not shown yet, but nobody awaits an answer any more.
    if (!this.isWaitedFor || run?.status !== 'running' || !this.isOnlyWaiting(isForeign)) return
    this.#log.add({ type: 'run.parked', runId: run.runId, waitIds: [...waits.keys()] }, { run: run.runId })
  }

  /** Whether every call without a result waits for an answer and no step is open. */
  isOnlyWaiting(isForeign = false): boolean {
    const { head, messages } = this.#log.state
    // Subagents in the background may ask something as well; no run waits for that.
    if (head.run === null || waitsOf(this.#log.state, head.run).length === 0) return false
    // A program that asks has not ended its step, but does nothing until it is answered.
    if (head.run.isStepOpen && !isForeign) return false
    // A program may ask before the log has the call that it asks about.
    const asked = new Set(
      waitsOf(this.#log.state, head.run).flatMap(({ call, payload, subject }) =>
        // The call of a subagent is none of this thread's.
        call === undefined && payload?.[PASSED_ON] === undefined && subject.toolCallId !== undefined
          ? [subject.toolCallId]
          : [],
      ),
    )
    const isAtWork = (part: Part | undefined): boolean =>
      isOpenCall(part) && part.call.stage !== 'waiting' && !asked.has(part.toolCallId)
    // Called at every result of a step, which may have very many calls: most often the same call is still working.
    if (this.#atWork !== undefined && isAtWork(this.#partAt(this.#atWork))) return false
    this.#atWork = undefined
    for (const { id: messageId, parts } of messages) {
      for (const part of parts) if (isAtWork(part)) this.#atWork = { messageId, partId: part.id }
    }
    return this.#atWork === undefined
  }

  /** Returns the error for a wait that cannot be answered: it is settled already, or was never opened here. */
  async noSuchWait(waitId: string): Promise<InspanError> {
    const { stream } = this.#log
    const row = await this.#store.getWait(stream, waitId)
    if (row === null) return new InspanError('not-found', `Thread ${stream} has no wait with the id "${waitId}".`)
    const who = row.answeredBy === undefined ? '' : ` by ${row.answeredBy}`
    return new InspanError('conflict', `"${waitId}" has been ${row.state}${who} already.`, {
      details: { state: row.state },
    })
  }

  async #open(opened: Extract<RecordBody, { type: 'wait.opened' }>, origin: NewWait['origin']): Promise<void> {
    const { id } = opened.wait
    this.#opening.add(id)
    try {
      await this.#log.commit([opened], origin)
    } finally {
      this.#opening.delete(id)
    }
  }

  /** Returns the open wait of the call, as an earlier process left it. */
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
    // A program may have asked several things. It then still waits, or shows by an event that it does not.
    this.#mayGoOn = true
    if (!this.isOnlyWaiting(true)) this.goOn()
  }

  /** Called when the asker does something: if it has an answer, it works again, whatever else it has asked. */
  goOn(): void {
    if (!this.#mayGoOn) return
    this.#mayGoOn = false
    const { run } = this.#log.state.head
    if (run?.status !== 'parked') return
    this.#log.add({ type: 'run.resumed', runId: run.runId, attempt: run.attempt, reason: 'answer' }, { run: run.runId })
  }
}
