import type { HarnessEventListener, PlacedEvent } from '@inspan/protocol/harness'
import { Emitter } from '../../common/emitter.ts'
import { warnIfUnhandled } from './unhandled-error.ts'

const echoes = new WeakSet<PlacedEvent>()

export function isEcho(event: PlacedEvent): boolean {
  return echoes.has(event)
}

/**
 * Emits the events of one session, in the same order for every listener. An event emitted from inside a listener waits
 * until the current one has reached all listeners, so nobody sees the second event before the first.
 */
export class EventBus {
  readonly #emitter = new Emitter<PlacedEvent>(reportFailure)
  /** Events held back until somebody listens. */
  #held: PlacedEvent[] | undefined

  get hasListeners(): boolean {
    return this.#emitter.size > 0 || this.#held !== undefined
  }

  get isShared(): boolean {
    return this.#emitter.size > 1 || this.#held !== undefined
  }

  subscribe(listener: HarnessEventListener): () => void {
    // In a microtask, so before anything the subscriber asks for next: that may be over before the event loop turns.
    if (this.#held !== undefined) queueMicrotask(() => this.#emitHeld())
    return this.#emitter.subscribe(listener)
  }

  emit(event: PlacedEvent): void {
    const sent = event.type === 'error' ? warnIfUnhandled(event) : event
    if (this.#held === undefined) this.#emitter.emit(sent)
    else this.#held.push(sent)
  }

  /** Emits an event that another session emits as well, where a listener to all sessions hears it. */
  emitEcho(event: PlacedEvent): void {
    echoes.add(event)
    if (this.#held === undefined) this.#emitter.emit(event)
    else this.#held.push(event)
  }

  /**
   * Holds events back until somebody subscribes or the returned function is called. Then all of them are emitted in
   * order.
   */
  hold(): () => void {
    this.#held = []
    return () => this.#emitHeld()
  }

  #emitHeld(): void {
    // Events that a listener emits meanwhile are added to the list and come last.
    for (const event of this.#held ?? []) this.#emitter.emit(event)
    this.#held = undefined
  }
}

function reportFailure(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error), 'InspanListenerWarning')
}
