import type { JsonObject, NativeRef } from '@evener/protocol'
import { asText } from '../../kit/fields.ts'

/** Whose a record is: the thread we talk to, or one of its subagents. */
export class Threads {
  #main: string | undefined
  /** The calls that started subagents, by their threads. */
  readonly #callers = new Map<string, string>()
  readonly #forks = new Set<string>()

  constructor(main: string | undefined) {
    this.#main = main
  }

  get main(): string | undefined {
    return this.#main
  }

  /** A subagent's thread may begin as a fork, too: it has a parent. */
  started(thread: JsonObject): void {
    const id = asText(thread['id'])
    if (id === undefined || asText(thread['forkedFromId']) === undefined) return
    if (asText(thread['parentThreadId']) === undefined) this.#forks.add(id)
  }

  /** The first turn that nobody else's turn has caused is of the main thread; a fork that gets one takes its place. */
  turnStarted(threadId: string | undefined, turn: JsonObject): void {
    const root = asText(turn['rootTurnId'])
    if (root !== undefined && root !== asText(turn['id'])) return
    if (threadId !== undefined && this.#forks.has(threadId)) this.#main = threadId
    else this.#main ??= threadId
  }

  /** Until a turn has begun there is only one. */
  isMain(threadId: string | undefined): boolean {
    return this.#main === undefined || threadId === undefined || threadId === this.#main
  }

  /** False when the subagent is known already. */
  spawned(threadId: string, callId: string): boolean {
    if (this.#callers.has(threadId)) return false
    this.#callers.set(threadId, callId)
    return true
  }

  /** `undefined` for the main thread. A subagent of which nobody said who started it goes by its own id. */
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
