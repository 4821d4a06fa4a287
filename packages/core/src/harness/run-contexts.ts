import { RequestContext } from '@evener/agent'
import type { JsonObject } from '@evener/protocol'
import type { LogEntry } from '../engine/thread-log.ts'

/**
 * The request contexts of runs in this process, as their callers gave them: with what no record can hold. A message brings
 * its context to the run that hears it, be it a new one or one that is going on.
 */
export class RunContexts {
  readonly #byMessage = new Map<string, RequestContext>()
  readonly #byRun = new Map<string, RequestContext>()

  /** For the run that will hear the message. */
  keep(messageId: string, context: RequestContext): void {
    if (context.size > 0) this.#byMessage.set(messageId, context)
  }

  add(runId: string, context: RequestContext): void {
    const known = this.#byRun.get(runId)
    if (known === undefined) this.#byRun.set(runId, context)
    else for (const [key, value] of context.entries()) known.set(key, value)
  }

  /** Of a run that began in another process there is only what was recorded. */
  of(runId: string, recorded: JsonObject | undefined): RequestContext {
    const known = this.#byRun.get(runId)
    if (known !== undefined) return known
    const context = RequestContext.from(recorded)
    this.#byRun.set(runId, context)
    return context
  }

  follow(entry: LogEntry): void {
    if (entry.kind !== 'record') return
    const { body, run } = entry.record
    if (body.type === 'run.ended') this.#byRun.delete(body.runId)
    if (body.type !== 'message.added' || run === undefined) return
    const context = this.#byMessage.get(body.messageId)
    this.#byMessage.delete(body.messageId)
    if (context !== undefined) this.add(run, context)
  }
}
