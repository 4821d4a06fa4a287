import {
  noSuchThread,
  type DeleteReport,
  type ProcessOwner,
  ThreadRegistry,
  type ThreadRuntime,
} from '../../engine/index.ts'
import { Mailbox } from '../../common/mailbox.ts'
import type { HarnessCore } from '../harness-core.ts'
import type { SessionContext } from '../sessions/session-context.ts'
import { harnessDoor, type HarnessDoor } from './thread-opening.ts'
import { forgetFiles } from './thread-files.ts'
import type { ThreadControl } from './thread-control.ts'

/** Somebody who has a thread open by way of the harness: one of its sessions, or a server. */
export interface ThreadGuest {
  readonly session?: SessionContext
  resourceId(): string
  /** Called when the thread is going to be deleted. */
  leave(): Promise<void>
}

/** A thread that is open by way of this harness. */
export interface OpenThread {
  readonly threadId: string
  readonly runtime: ThreadRuntime
  readonly control: ThreadControl
  readonly guests: ReadonlySet<ThreadGuest>
}

/** Called when a thread has been claimed, before anything goes on in it. */
export interface Opening {
  begin(runtime: ThreadRuntime): void
}

interface ThreadWithGuests {
  readonly guests: Set<ThreadGuest>
  /** Serialises opening and closing the thread. */
  readonly turns: Mailbox
  /** The number of guests that are entering. */
  entering: number
  open: { readonly door: HarnessDoor; readonly thread: OpenThread } | undefined
}

/** The threads of a harness: it is one door to each, however many of its sessions are bound to it. */
export class OpenThreads {
  readonly #core: HarnessCore
  /** All open threads of the store in this process, here and elsewhere. */
  readonly registry: ThreadRegistry
  readonly #places = new Map<string, ThreadWithGuests>()
  /** The functions that leave the threads which are open only because something in them was due. */
  readonly #swept = new Set<() => Promise<void>>()
  #isServing = false

  constructor(core: HarnessCore) {
    this.#core = core
    this.registry = ThreadRegistry.of(core.store)
  }

  /** Returns this process as an owner of threads, registered on first use. */
  owner(): Promise<ProcessOwner> {
    return this.registry.owner(this)
  }

  /** A listener added in `opening.begin` hears everything that happens in the thread. */
  enter(threadId: string, guest: ThreadGuest, opening: Opening): Promise<OpenThread> {
    const place = this.#place(threadId)
    place.entering++
    return place.turns.post(async () => {
      const { guests } = place
      place.entering--
      guests.add(guest)
      try {
        if (place.open !== undefined) opening.begin(place.open.thread.runtime)
        else place.open = await this.#open(threadId, guests, opening)
        return place.open.thread
      } catch (error) {
        guests.delete(guest)
        this.#forget(threadId, place)
        throw error
      }
    })
  }

  async leave(threadId: string, guest: ThreadGuest): Promise<void> {
    const place = this.#places.get(threadId)
    await place?.turns.post(async () => {
      const { open, guests } = place
      try {
        // Left before its guest is removed, so that it hears how the run ends.
        if (guests.size !== 1 || !guests.has(guest) || open === undefined) return
        place.open = undefined
        await this.registry.leave(threadId, open.door.door).finally(() => open.door.close())
        await open.door.settled()
      } finally {
        guests.delete(guest)
        this.#forget(threadId, place)
      }
    })
  }

  /** Makes everybody in this process leave a thread, then deletes it, and what was kept of its files before that. */
  async delete(threadId: string): Promise<DeleteReport> {
    const { config, store } = this.#core
    if ((await store.getThread(threadId)) === null) throw noSuchThread(threadId)
    await this.registry.evict(threadId)
    const state = await this.registry.read(threadId).catch(() => undefined)
    const left = state === undefined ? undefined : await forgetFiles(this.#core, state)
    const { spool } = config
    const report = await this.registry.delete(threadId, spool === undefined ? {} : { spool })
    return left === undefined ? report : { ...report, remains: [...report.remains, { kind: 'worktree', ...left }] }
  }

  /** Continues what is due in threads that nobody has open, until `close`. */
  serveDue(): void {
    this.#isServing = true
    this.registry.serve(this, { door: this.#core.config.id, open: (threadId) => this.#openSwept(threadId) })
  }

  drain(timeoutMs: number): Promise<void> {
    return this.registry.drain(timeoutMs)
  }

  async close(): Promise<void> {
    this.#isServing = false
    for (const leave of this.#swept) await leave()
    await this.registry.quit(this)
  }

  async #openSwept(threadId: string): Promise<{ readonly runtime: ThreadRuntime; leave(): Promise<void> }> {
    const info = await this.#core.store.getThread(threadId)
    if (info === null) throw noSuchThread(threadId)
    const leave = async (): Promise<void> => {
      this.#swept.delete(leave)
      await this.leave(threadId, guest)
    }
    const guest = { resourceId: () => info.resourceId, leave }
    const { runtime } = await this.enter(threadId, guest, { begin: () => undefined })
    this.#swept.add(leave)
    if (!this.#isServing) await leave()
    return { runtime, leave }
  }

  async #open(
    threadId: string,
    guests: ReadonlySet<ThreadGuest>,
    opening: Opening,
  ): Promise<NonNullable<ThreadWithGuests['open']>> {
    await this.owner()
    const door = harnessDoor(this.#core, threadId, guests)
    try {
      const runtime = await this.registry.enter(threadId, door.door, (opened) => {
        door.begin(opened)
        opening.begin(opened)
      })
      return { door, thread: { threadId, runtime, control: door.control(), guests } }
    } catch (error) {
      door.close()
      throw error
    }
  }

  #place(threadId: string): ThreadWithGuests {
    const known = this.#places.get(threadId)
    if (known !== undefined) return known
    const place: ThreadWithGuests = { guests: new Set(), turns: new Mailbox(), entering: 0, open: undefined }
    this.#places.set(threadId, place)
    return place
  }

  #forget(threadId: string, place: ThreadWithGuests): void {
    if (place.guests.size === 0 && place.entering === 0 && this.#places.get(threadId) === place)
      this.#places.delete(threadId)
  }
}
