import { RequestContext } from '@inspan/agent'
import type { JsonObject } from '@inspan/protocol'
import type { LogEntry } from '../../engine/index.ts'
import type { SessionContext } from '../sessions/session-context.ts'
import { requestContextOf, type RestoreRequestContext } from './request-context.ts'

/**
 * The request contexts of runs in this process as their callers gave them, including values that no record can hold. A
 * message brings its context to the run that hears it, be it a new one or one that is going on.
 */
export class RunContexts {
  readonly #byMessage = new Map<
    string,
    { readonly context: RequestContext; readonly sender: SessionContext | undefined }
  >()
  readonly #byRun = new Map<string, RequestContext>()
  readonly #senders = new Map<string, SessionContext>()
  readonly #begunHere = new Set<string>()
  readonly #restore: RestoreRequestContext | undefined

  constructor(restore: RestoreRequestContext | undefined) {
    this.#restore = restore
  }

  /** Keeps the context of a message for the run that will hear it. */
  keep(messageId: string, context: RequestContext, sender?: SessionContext): void {
    this.#byMessage.set(messageId, { context, sender })
  }

  /** Forgets the context of a message that no run will hear. */
  drop(messageId: string): void {
    this.#byMessage.delete(messageId)
  }

  /** Returns the session whose message began the run; `undefined` when that was in another process. */
  senderOf(runId: string): SessionContext | undefined {
    return this.#senders.get(runId)
  }

  add(runId: string, context: RequestContext): void {
    const known = this.#byRun.get(runId)
    if (known === undefined) this.#byRun.set(runId, context)
    else for (const [key, value] of context.entries()) known.set(key, value)
  }

  /** Returns the context of a run at work. */
  find(runId: string): RequestContext | undefined {
    return this.#byRun.get(runId)
  }

  /** Returns the context of a run. For a run that began in another process it is rebuilt from what was recorded. */
  of(runId: string, recorded: JsonObject | undefined): RequestContext {
    const known = this.#byRun.get(runId)
    if (known !== undefined) return known
    const context = RequestContext.from(recorded)
    const restored = this.#begunHere.has(runId) ? undefined : this.#restore?.(structuredClone(recorded ?? {}))
    for (const [key, value] of requestContextOf(restored).entries()) context.set(key, value)
    this.#byRun.set(runId, context)
    return context
  }

  /** Called when no session is bound to the run's thread any more: forgets the sender and its `harness` entry. */
  leave(runId: string): void {
    this.#senders.delete(runId)
    this.#byRun.get(runId)?.delete('harness')
  }

  follow(entry: LogEntry, isOwnRun: (runId: string) => boolean): void {
    if (entry.kind !== 'record') return
    const { body, run } = entry.record
    if (body.type === 'run.started' && entry.others !== true && isOwnRun(body.runId)) this.#begunHere.add(body.runId)
    if (body.type === 'run.ended') {
      this.#begunHere.delete(body.runId)
      this.#byRun.delete(body.runId)
      this.#senders.delete(body.runId)
    }
    if (body.type !== 'message.added') return
    const kept = this.#byMessage.get(body.messageId)
    this.#byMessage.delete(body.messageId)
    if (kept === undefined || run === undefined) return
    if (kept.sender !== undefined && !this.#senders.has(run)) this.#senders.set(run, kept.sender)
    if (kept.context.size > 0) this.add(run, kept.context)
  }
}
