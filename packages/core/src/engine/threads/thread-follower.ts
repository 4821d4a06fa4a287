import type { DeltaFrame, ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { Emitter } from '../../common/emitter.ts'
import { readStreamState } from '../log/load-state.ts'
import { RestedThread } from './rested-thread.ts'

/** Follows a thread that another process holds, by its records. Takes nothing and writes nothing. */
export class ThreadFollower {
  readonly #rested: RestedThread
  readonly #frames: Emitter<DeltaFrame>
  #reading: Promise<void> = Promise.resolve()

  private constructor(store: Store, thread: string, state: ThreadState) {
    this.#frames = new Emitter(ignore)
    this.#rested = new RestedThread({ store, thread }, state, {
      entries: new Emitter(ignore),
      frames: this.#frames,
      onRunEnded: () => undefined,
    })
  }

  static async open(store: Store, thread: string): Promise<ThreadFollower> {
    return new ThreadFollower(store, thread, await readStreamState(store, thread))
  }

  get state(): ThreadState {
    return this.#rested.state
  }

  onFrame(listener: (frame: DeltaFrame) => unknown): () => void {
    return this.#frames.subscribe(listener)
  }

  /** Emits what was written since. One call after the other: each begins where the last one ended. */
  catchUp(to?: number): Promise<void> {
    this.#reading = this.#reading.catch(() => undefined).then(() => this.#rested.follow(false, to))
    return this.#reading
  }
}

/** A listener that fails must not keep the others from hearing what was written. */
function ignore(): void {}
