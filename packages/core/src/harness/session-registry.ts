import type { HarnessEvent } from '@evener/protocol'
import { endAll } from './end-all.ts'
import type { HarnessState } from './harness-config.ts'
import type { HarnessCore } from './harness-core.ts'
import { SessionLog } from './session-log.ts'
import { lifeOf, Session } from './session.ts'

/** The sessions of a harness. The first one is there from the start and comes back after every end. */
export class SessionRegistry<State extends HarnessState> {
  readonly first: Session<State>
  readonly #core: HarnessCore
  readonly #sessions = new Set<Session<State>>()
  readonly #named = new Map<string, Promise<Session<State>>>()

  constructor(core: HarnessCore, resourceId: string) {
    this.#core = core
    this.first = new Session<State>(core, { resourceId })
    this.#sessions.add(this.first)
  }

  /** One with an id is opened once: whoever asks for it again, for the same resource, gets the same. */
  async open(resourceId: string, id: string | undefined): Promise<Session<State>> {
    if (id === undefined) return this.#add(new Session<State>(this.#core, { resourceId }))
    const name = JSON.stringify([resourceId, id])
    const opening = this.#named.get(name) ?? this.#openNamed(id, resourceId)
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

  async close(): Promise<void> {
    const open = [...this.#sessions]
    this.#sessions.clear()
    this.#named.clear()
    this.#sessions.add(this.first)
    await endAll(open.map((session) => () => lifeOf(session).close()))
  }

  async #openNamed(id: string, resourceId: string): Promise<Session<State>> {
    const log = await SessionLog.open(this.#core, id, resourceId)
    const session = new Session<State>(this.#core, { resourceId, id }, log)
    try {
      await lifeOf(session).reopen()
    } catch (error) {
      // Its thread cannot be had: nothing of it stays open, so that it can be tried again.
      await lifeOf(session).close()
      throw error
    }
    return this.#add(session)
  }

  #add(session: Session<State>): Session<State> {
    this.#sessions.add(session)
    return session
  }
}
