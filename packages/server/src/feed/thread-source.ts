import { ThreadFollower, type ThreadRuntime } from '@inspan/core/serving'
import { InspanError } from '@inspan/protocol'
import type { DeltaFrame, ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import type { FrameSource } from './frame-source.ts'

/**
 * The frames of a thread, whoever writes it: the runtime in this process, or the records of another process that holds
 * the thread. When this process takes the thread over, the frames go on without a gap.
 */
export class ThreadSource implements FrameSource {
  readonly #listeners = new Set<(frame: DeltaFrame) => void>()
  #runtime: ThreadRuntime | undefined
  #follower: ThreadFollower | undefined
  /** Frames of the runtime that came before the records up to it were read. */
  #early: DeltaFrame[] | undefined
  #stops: (() => void)[] = []

  /** Follows a thread that another process holds. */
  async follow(store: Store, thread: string): Promise<void> {
    const follower = await ThreadFollower.open(store, thread)
    this.#follower = follower
    this.#stops.push(follower.onFrame((frame) => this.#emit(frame)))
  }

  /** Called when the runtime has the thread, before anything goes on in it. */
  begin(runtime: ThreadRuntime): void {
    this.#runtime = runtime
    this.#early = this.#follower === undefined ? undefined : []
    this.#stops.push(
      runtime.onFrame((frame) => {
        if (this.#early === undefined) this.#emit(frame)
        else this.#early.push(frame)
      }),
    )
  }

  /** Called when the runtime is open: what others wrote comes first. */
  async attached(): Promise<void> {
    await this.#follower?.catchUp()
    this.#follower = undefined
    const early = this.#early ?? []
    this.#early = undefined
    // Those that the records held already are skipped by whoever applies them.
    for (const frame of early) this.#emit(frame)
  }

  /** The runtime, once this process has the thread open. */
  get runtime(): ThreadRuntime | undefined {
    return this.#runtime
  }

  get state(): ThreadState {
    const state = this.#follower?.state ?? this.#runtime?.committed
    if (state === undefined) throw new InspanError('io', 'The thread was opened without being announced.')
    return state
  }

  get isBusy(): boolean {
    return this.#runtime?.run !== undefined
  }

  /** Emits what other processes wrote, while they hold the thread. `to`: a seq that it is known to have reached. */
  async catchUp(to?: number): Promise<void> {
    await (this.#follower?.catchUp(to) ?? this.#runtime?.follow(to))
  }

  onFrame(listener: (frame: DeltaFrame) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop()
    this.#stops = []
    this.#listeners.clear()
  }

  #emit(frame: DeltaFrame): void {
    for (const listener of this.#listeners) listener(frame)
  }
}
