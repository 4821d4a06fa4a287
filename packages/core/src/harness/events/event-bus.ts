import type { HarnessEvent, HarnessEventListener } from '@inspan/protocol/harness'
import { Emitter } from '../../engine/log/emitter.ts'
import { warnedIfUnheard } from './unheard-error.ts'

/**
 * Emits the events of one session, in the same order for every listener. An event emitted from inside a listener waits
 * until the current one has reached all listeners, so nobody sees the second event before the first.
 */
export class EventBus {
  readonly #emitter = new Emitter<HarnessEvent>(reportFailure)
  /** Events held back until somebody listens. */
  #held: HarnessEvent[] | undefined

  get hasListeners(): boolean {
    return this.#emitter.size > 0 || this.#held !== undefined
  }

  get isShared(): boolean {
    return this.#emitter.size > 1 || this.#held !== undefined
  }

  subscribe(listener: HarnessEventListener): () => void {
    // In a microtask, so before anything the subscriber asks for next: that may be over before the event loop turns.
    if (this.#held !== undefined) queueMicrotask(() => this.#tellHeld())
    return this.#emitter.subscribe(listener)
  }

  emit(event: HarnessEvent): void {
    const told = event.type === 'error' ? warnedIfUnheard(event) : event
    if (this.#held === undefined) this.#emitter.emit(told)
    else this.#held.push(told)
  }

  /**
   * Holds events back until somebody subscribes or the returned function is called. Then all of them are emitted in
   * order.
   */
  hold(): () => void {
    this.#held = []
    return () => this.#tellHeld()
  }

  #tellHeld(): void {
    // Events that a listener emits meanwhile are added to the list and come last.
    for (const event of this.#held ?? []) this.#emitter.emit(event)
    this.#held = undefined
  }
}

function reportFailure(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error), 'InspanListenerWarning')
}
