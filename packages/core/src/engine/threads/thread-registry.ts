import type { Store, ThreadInfo } from '@inspan/protocol/store'
import type { DeltaFrame, ThreadState } from '@inspan/protocol/log'
import type { LogEntry } from '../log/thread-log.ts'
import { Sweep, type Found, type SweptThread } from '../commands/sweep.ts'
import { deleteThread, type DeleteOptions, type DeleteReport } from '../erase/delete-thread.ts'
import type { Door } from '../thread-options.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { abandonRun, drainThread } from './drain.ts'
import { Mailbox } from '../../common/mailbox.ts'
import { forkPoint } from './boundaries.ts'
import { ProcessOwner } from './ownership.ts'
import { noSuchThread, readThread } from './read-thread.ts'
import { forkThread, type Fork } from './threads.ts'

interface RegisteredThread {
  /** Serialises opening and closing the thread. */
  readonly turns: Mailbox
  readonly doors: Set<Door>
  /** With the function that stops each, while the thread is open. */
  readonly watchers: Map<ThreadWatcher, (() => void) | undefined>
  /** The number of doors that are entering. */
  entering: number
  runtime: ThreadRuntime | undefined
}

type OnOpen = (runtime: ThreadRuntime) => void | Promise<void>

/** Listens to a thread without opening it. */
export interface ThreadWatcher {
  readonly onEntry?: (entry: LogEntry) => unknown
  readonly onFrame?: (frame: DeltaFrame) => unknown
}

/** Somebody that opens threads for work that nobody is at, e.g. a harness. */
export interface ThreadServer {
  /** The name of its door: it continues the runs of that. */
  readonly door: string
  readonly open: (threadId: string) => Promise<SweptThread>
}

/** How long a wait that is due is left to the door whose run it belongs to, which may be in another process. */
const GRACE_MS = 5000

const registries = new WeakMap<Store, ThreadRegistry>()

/**
 * The open threads of a store in this process: one runtime for each, however many doors it has, and one owner for all.
 * Two store objects on one file count as two processes.
 */
export class ThreadRegistry {
  /** Deletes threads one at a time: of two deletions of the same thread, the second finds none. */
  readonly #deletions = new Mailbox()
  readonly #store: Store
  readonly #places = new Map<string, RegisteredThread>()
  /** Those who use the store through this registry: the owner lives as long as one of them. */
  readonly #members = new Set<object>()
  readonly #servers = new Map<object, ThreadServer>()
  #owner: Promise<ProcessOwner> | undefined
  #sweep: Sweep | undefined
  #isDraining = false

  private constructor(store: Store) {
    this.#store = store
  }

  static of(store: Store): ThreadRegistry {
    const known = registries.get(store) ?? new ThreadRegistry(store)
    registries.set(store, known)
    return known
  }

  /** Returns this process as an owner of threads. `member` keeps it alive until it quits. */
  owner(member: object): Promise<ProcessOwner> {
    this.#members.add(member)
    const onWake = (thread: string): void => this.#sweep?.wake(thread)
    this.#owner ??= ProcessOwner.register(this.#store, { onWake }).catch((error: unknown) => {
      this.#owner = undefined
      throw error
    })
    return this.#owner
  }

  /**
   * Carries out accepted commands and settles due waits in threads that nobody has open, until the member quits. Every
   * process that has a store open for work does so: whichever finds them first.
   */
  serve(member: object, server: ThreadServer): void {
    this.#servers.set(member, server)
    this.#sweep ??= new Sweep(this.#store, { open: (thread, found) => this.#openFound(thread, found) })
    this.#sweep.start()
    // A process without a thread of its own takes over those of others as well. What fails now is tried at every entry.
    if (this.#store.join !== undefined) this.owner(member).catch(() => undefined)
  }

  /** Starts nothing more, and leaves runs at work to other processes at their next barrier. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true
    const sweep = this.#sweep
    this.#sweep = undefined
    await sweep?.halt()
    const runtimes = [...this.#places.values()].flatMap(({ runtime }) => runtime ?? [])
    await Promise.all(runtimes.map((runtime) => drainThread(runtime, timeoutMs)))
    await sweep?.stop()
  }

  /** Closes the owner when its last member quits. */
  async quit(member: object): Promise<void> {
    if (this.#servers.delete(member) && this.#servers.size === 0) {
      const sweep = this.#sweep
      this.#sweep = undefined
      await sweep?.stop()
    }
    this.#members.delete(member)
    if (this.#members.size > 0) return
    const owner = this.#owner
    this.#owner = undefined
    this.#isDraining = false
    await (await owner)?.close()
  }

  /** Opens a thread for a door. `onOpen` is called before anything goes on in it, so that listeners miss nothing. */
  enter(threadId: string, door: Door, onOpen?: OnOpen): Promise<ThreadRuntime> {
    return this.#enter(threadId, door, door, onOpen)
  }

  /** `by`: the door whose runs may go on; `undefined` for a visitor that carries out no run. */
  #enter(threadId: string, door: Door, by: Door | undefined, onOpen: OnOpen | undefined): Promise<ThreadRuntime> {
    const place = this.#place(threadId)
    place.entering++
    return place.turns.post(async () => {
      place.entering--
      place.doors.add(door)
      try {
        const owner = await this.owner(door)
        if (place.runtime !== undefined) {
          if (by !== undefined) await place.runtime.attach(by, onOpen)
        } else {
          const onTaken = async (runtime: ThreadRuntime): Promise<void> => {
            for (const watcher of place.watchers.keys()) place.watchers.set(watcher, listen(runtime, watcher))
            await onOpen?.(runtime)
          }
          const options = { ...door, store: this.#store, owner, thread: threadId }
          place.runtime = await ThreadRuntime.open(options, onTaken, by ?? null)
        }
        return place.runtime
      } catch (error) {
        await this.#forget(threadId, place, door)
        throw error
      }
    })
  }

  /** The door leaves the thread. A run of its own is interrupted; the last door closes the thread. */
  async leave(threadId: string, door: Door): Promise<void> {
    const place = this.#places.get(threadId)
    await place?.turns.post(async () => {
      if (!place.doors.has(door)) return
      const { runtime } = place
      try {
        // A run that began in the last moment goes on elsewhere, too.
        if (this.#isDraining && runtime !== undefined) await abandonRun(runtime)
        if (place.doors.size > 1) return await runtime?.detach(door)
        place.runtime = undefined
        await runtime?.close()
      } finally {
        await this.#forget(threadId, place, door)
      }
    })
  }

  /** Returns the runtime of the thread if it is open in this process. */
  find(threadId: string): ThreadRuntime | undefined {
    return this.#places.get(threadId)?.runtime
  }

  /** Returns the state of a thread, whether or not it is open here. Opens nothing, takes nothing and resumes nothing. */
  async read(threadId: string): Promise<ThreadState> {
    const open = this.find(threadId)
    if (open?.isHeld === true) return open.state
    // Somebody else may have written to a thread that is at rest here.
    const stored = await readThread(this.#store, threadId)
    return open !== undefined && open.state.head.seq >= stored.head.seq ? open.state : stored
  }

  /** Forks a thread, whether or not it is open here. `messageId`: the last message it shares; default: all. */
  async fork(
    threadId: string,
    { messageId, ...fork }: Omit<Fork, 'at'> & { readonly messageId?: string },
  ): Promise<ThreadInfo> {
    // Commands that were given before count.
    await this.find(threadId)?.stateInTurn()
    const source = await this.read(threadId)
    const at = await forkPoint(this.#store, source, messageId)
    return this.#asMember((owner) => forkThread(this.#store, owner, source, { ...fork, at }))
  }

  /** Makes all doors leave a thread, then deletes it. A run at work is interrupted. */
  delete(threadId: string, options: DeleteOptions = {}): Promise<DeleteReport> {
    return this.#deletions.post(async () => {
      // Somebody else may have deleted it meanwhile.
      if ((await this.#store.getThread(threadId)) === null) throw noSuchThread(threadId)
      await this.evict(threadId)
      return this.#asMember((owner) => deleteThread(this.#store, owner, threadId, options))
    })
  }

  /**
   * Listens to what this process does in a thread, whenever it is open here. Opens nothing, takes nothing and resumes
   * nothing. Returns the unsubscribe function.
   */
  watch(threadId: string, watcher: ThreadWatcher): () => void {
    const place = this.#place(threadId)
    place.watchers.set(watcher, place.runtime === undefined ? undefined : listen(place.runtime, watcher))
    return () => {
      place.watchers.get(watcher)?.()
      place.watchers.delete(watcher)
      this.#tidy(threadId, place)
    }
  }

  /** Stops what would follow from runs of the thread that have ended, whoever would do it. */
  async stopFollowing(threadId: string): Promise<void> {
    const doors = [...(this.#places.get(threadId)?.doors ?? [])]
    await Promise.all(doors.map(async (door) => door.stopFollowing?.()))
  }

  /** Makes all doors leave a thread that is going to be deleted. */
  async evict(threadId: string): Promise<void> {
    const place = this.#places.get(threadId)
    for (const door of place?.doors ?? []) await door.evict?.()
    // A door may be leaving just now.
    await place?.turns.post(async () => undefined)
  }

  /** Opens a thread by the door whose run is open in it; without that door, only to settle what is due. */
  async #openFound(threadId: string, found: Found): Promise<SweptThread | undefined> {
    const { run } = (await readThread(this.#store, threadId)).head
    const servers = [...this.#servers.values()]
    const own = servers.find(({ door }) => door === run?.door) ?? (run === null ? servers[0] : undefined)
    if (own !== undefined) return own.open(threadId)
    // The command may be for an agent of the absent door, and so may be the run.
    if (found.kind !== 'wait' || Date.now() - found.due < GRACE_MS) return undefined
    const visitor: Door = { agents: {} }
    const runtime = await this.#enter(threadId, visitor, undefined, undefined)
    return { runtime, leave: () => this.leave(threadId, visitor) }
  }

  async #asMember<T>(task: (owner: ProcessOwner) => Promise<T>): Promise<T> {
    const member = {}
    try {
      return await task(await this.owner(member))
    } finally {
      await this.quit(member)
    }
  }

  async #forget(threadId: string, place: RegisteredThread, door: Door): Promise<void> {
    place.doors.delete(door)
    this.#tidy(threadId, place)
    await this.quit(door)
  }

  #tidy(threadId: string, place: RegisteredThread): void {
    const isUsed = place.doors.size > 0 || place.entering > 0 || place.watchers.size > 0
    if (!isUsed && this.#places.get(threadId) === place) this.#places.delete(threadId)
  }

  #place(threadId: string): RegisteredThread {
    const known = this.#places.get(threadId)
    if (known !== undefined) return known
    const place: RegisteredThread = {
      turns: new Mailbox(),
      doors: new Set(),
      watchers: new Map(),
      entering: 0,
      runtime: undefined,
    }
    this.#places.set(threadId, place)
    return place
  }
}

function listen(runtime: ThreadRuntime, { onEntry, onFrame }: ThreadWatcher): () => void {
  const stops = [onEntry && runtime.onEntry(onEntry), onFrame && runtime.onFrame(onFrame)]
  return () => stops.forEach((stop) => stop?.())
}
