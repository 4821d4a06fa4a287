import type { JsonObject, NativeRef } from '@inspan/protocol'
import { asText } from '../../kit/fields.ts'

/** Tells whose a record is: the thread we talk to, or one of its subagents. */
export class Threads {
  #main: string | undefined
  /** The calls that started subagents, by the subagent's thread. */
  readonly #callers = new Map<string, string>()
  readonly #forks = new Set<string>()

  constructor(main: string | undefined) {
    this.#main = main
  }

  get main(): string | undefined {
    return this.#main
  }

  /** Notes forks. A subagent's thread may be a fork as well, but has a parent. */
  started(thread: JsonObject): void {
    const id = asText(thread['id'])
    if (id === undefined || asText(thread['forkedFromId']) === undefined) return
    if (asText(thread['parentThreadId']) === undefined) this.#forks.add(id)
  }

  /** The first turn that no other turn caused belongs to the main thread. A fork with such a turn replaces it. */
  turnStarted(threadId: string | undefined, turn: JsonObject): void {
    const root = asText(turn['rootTurnId'])
    if (root !== undefined && root !== asText(turn['id'])) return
    if (threadId !== undefined && this.#forks.has(threadId)) this.#main = threadId
    else this.#main ??= threadId
  }

  /** Returns true for every thread until a turn has begun. */
  isMain(threadId: string | undefined): boolean {
    return this.#main === undefined || threadId === undefined || threadId === this.#main
  }

  /** Returns false if the subagent is known already. */
  spawned(threadId: string, callId: string): boolean {
    if (this.#callers.has(threadId)) return false
    this.#callers.set(threadId, callId)
    return true
  }

  /** Returns `undefined` for the main thread, and the thread's own id for a subagent whose caller is unknown. */
  parentOf(threadId: string | undefined): string | undefined {
    if (threadId === undefined || this.isMain(threadId)) return undefined
    return this.#callers.get(threadId) ?? threadId
  }

  callerOf(threadId: string): string | undefined {
    return this.#callers.get(threadId)
  }

  native(params: JsonObject, itemId?: string): NativeRef {
    const sessionId = asText(params['threadId'])
    const turnId = asText(params['turnId'])
    return {
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(turnId === undefined ? {} : { turnId }),
      ...(itemId === undefined ? {} : { itemId }),
    }
  }
}
