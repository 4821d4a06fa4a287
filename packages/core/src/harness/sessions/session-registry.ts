import type { HarnessEvent } from '@inspan/protocol/harness'
import { endAll } from '../end-all.ts'
import type { HarnessState } from '../harness-config.ts'
import type { HarnessCore } from '../harness-core.ts'
import { SessionLog } from './session-log.ts'
import { lifeOf, Session } from '../session.ts'

/** The sessions of a harness. The first one exists from the start and stays after `close`. */
export class SessionRegistry<State extends HarnessState> {
  readonly first: Session<State>
  readonly #core: HarnessCore
  readonly #sessions = new Set<Session<State>>()
  readonly #named = new Map<string, Promise<Session<State>>>()
  /** Sessions that are ending. */
  readonly #ending = new Set<Promise<void>>()

  constructor(core: HarnessCore, resourceId: string) {
    this.#core = core
    this.first = new Session<State>(core, { resourceId })
    this.#sessions.add(this.first)
  }

  /** Opens a session. One with an id is opened once per resource: further calls return the same session. */
  async open(resourceId: string, id: string | undefined): Promise<Session<State>> {
    if (id === undefined) return this.#make(resourceId)
    const name = JSON.stringify([resourceId, id])
    const opening = this.#named.get(name) ?? this.#openNamed(name, id, resourceId)
    this.#named.set(name, opening)
    try {
      return await opening
    } catch (error) {
      this.#named.delete(name)
      throw error
    }
  }

  emit(event: HarnessEvent): void {
    for (const session of this.#sessions) session.emit(event)
  }

  /** The calls that wait for approval, one line each. */
  unapproved(): string[] {
    const pending = [...this.#sessions].flatMap((session) => session.displayState.get().pendingApprovals)
    return pending.map(({ description, toolCallId }) => `${description} (call ${toolCallId})`)
  }

  async close(): Promise<void> {
    const open = [...this.#sessions]
    this.#sessions.clear()
    this.#named.clear()
    this.#sessions.add(this.first)
    const ends = open.map((session) => () => (session === this.first ? lifeOf(session).close() : lifeOf(session).end()))
    await endAll([...ends, ...[...this.#ending].map((end) => () => end)])
  }

  #make(resourceId: string): Session<State> {
    const session: Session<State> = new Session<State>(this.#core, { resourceId, end: () => this.#end(session) })
    this.#sessions.add(session)
    return session
  }

  async #openNamed(name: string, id: string, resourceId: string): Promise<Session<State>> {
    // An earlier session with this id may still be ending, and owns the stream until then.
    await Promise.allSettled(this.#ending)
    const log = await SessionLog.open(this.#core, id, resourceId)
    const end = (): Promise<void> => {
      // If it was ended by `close`, its name may belong to another session by now.
      if (this.#sessions.has(session)) this.#named.delete(name)
      return this.#end(session)
    }
    const session: Session<State> = new Session<State>(this.#core, { resourceId, id, end }, log)
    try {
      await lifeOf(session).reopen()
    } catch (error) {
      // Its thread cannot be opened: close everything, so that it can be tried again.
      await lifeOf(session).close()
      throw error
    }
    this.#sessions.add(session)
    return session
  }

  async #end(session: Session<State>): Promise<void> {
    if (!this.#sessions.delete(session)) return
    const ending = lifeOf(session).end()
    this.#ending.add(ending)
    try {
      await ending
    } finally {
      this.#ending.delete(ending)
    }
  }
}
