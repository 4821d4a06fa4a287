import type { HarnessEvent, HarnessEventListener } from '@inspan/protocol/harness'
import { endAll } from '../end-all.ts'
import { isEcho } from '../events/event-bus.ts'
import { outsideEvent } from '../events/outside-event.ts'
import type { StateShape } from '../harness-config.ts'
import type { HarnessCore } from '../harness-core.ts'
import { SessionLog } from './session-log.ts'
import { insideOf, Session } from '../session.ts'

/** A listener to all sessions. */
interface HarnessSubscription<State extends StateShape> {
  readonly listener: HarnessEventListener
  readonly ends: Map<Session<State>, () => void>
}

/** The sessions of a harness. The first one exists from the start and stays after `close`. */
export class SessionRegistry<State extends StateShape> {
  readonly first: Session<State>
  readonly #core: HarnessCore
  readonly #sessions = new Set<Session<State>>()
  readonly #named = new Map<string, Promise<Session<State>>>()
  /** Sessions that are ending. */
  readonly #ending = new Set<Promise<void>>()
  readonly #subscriptions = new Set<HarnessSubscription<State>>()

  constructor(core: HarnessCore, resourceId: string) {
    this.#core = core
    this.first = new Session<State>(core, { resourceId })
    this.#sessions.add(this.first)
  }

  /** Calls the listener with the events of all sessions, also of those opened later. */
  subscribe(listener: HarnessEventListener): () => void {
    const subscription: HarnessSubscription<State> = { listener, ends: new Map() }
    this.#subscriptions.add(subscription)
    for (const session of this.#sessions) this.#connect(session, subscription)
    return () => {
      this.#subscriptions.delete(subscription)
      for (const end of subscription.ends.values()) end()
      subscription.ends.clear()
    }
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

  /** Emits the event in every session. Listeners to all of them hear that of the first. */
  emit(event: HarnessEvent): void {
    for (const session of this.#sessions) {
      if (session === this.first) session.emit(event)
      else insideOf(session).binding.emitEcho(outsideEvent(event))
    }
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
    const ends = open.map(
      (session) => () => (session === this.first ? insideOf(session).close() : insideOf(session).end()),
    )
    await endAll([...ends, ...[...this.#ending].map((end) => () => end)])
    for (const session of open) if (session !== this.first) this.#disconnect(session)
  }

  #make(resourceId: string): Session<State> {
    const session: Session<State> = new Session<State>(this.#core, { resourceId, end: () => this.#end(session) })
    this.#sessions.add(session)
    this.#connectAll(session)
    return session
  }

  #connectAll(session: Session<State>): void {
    for (const subscription of this.#subscriptions) this.#connect(session, subscription)
  }

  #connect(session: Session<State>, { ends, listener }: HarnessSubscription<State>): void {
    ends.set(
      session,
      session.subscribe((event) => (isEcho(event) ? undefined : listener(event))),
    )
  }

  #disconnect(session: Session<State>): void {
    for (const { ends } of this.#subscriptions) {
      ends.get(session)?.()
      ends.delete(session)
    }
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
    this.#connectAll(session)
    try {
      await insideOf(session).reopen()
    } catch (error) {
      // Its thread cannot be opened: close everything, so that it can be tried again.
      await insideOf(session).close()
      this.#disconnect(session)
      throw error
    }
    this.#sessions.add(session)
    return session
  }

  async #end(session: Session<State>): Promise<void> {
    if (!this.#sessions.delete(session)) return
    const ending = insideOf(session).end()
    this.#ending.add(ending)
    try {
      await ending
    } finally {
      this.#ending.delete(ending)
      this.#disconnect(session)
    }
  }
}
