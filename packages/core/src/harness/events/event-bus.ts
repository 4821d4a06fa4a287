import type { HarnessEvent, HarnessEventListener } from '@evener/protocol'
import { Emitter } from '../../engine/log/emitter.ts'

/**
 * The events of one session, in one order for everybody. What is emitted from inside a listener waits until all have
 * heard what they are being told, so nobody sees the second event before the first.
 */
export class EventBus {
  readonly #emitter = new Emitter<HarnessEvent>(reportFailure)
  /** What waits for those who will listen. */
  #held: HarnessEvent[] | undefined

  get hasListeners(): boolean {
    return this.#emitter.size > 0 || this.#held !== undefined
  }

  get isShared(): boolean {
    return this.#emitter.size > 1 || this.#held !== undefined
  }

  subscribe(listener: HarnessEventListener): () => void {
    // Before anything is done of what they ask next: that may be over before the event loop turns.
    if (this.#held !== undefined) queueMicrotask(() => this.#tellHeld())
    return this.#emitter.subscribe(listener)
  }

  emit(event: HarnessEvent): void {
    if (this.#held === undefined) this.#emitter.emit(event)
    else this.#held.push(event)
  }

  /**
   * Nobody is told anything until somebody has subscribed, or until the function it gives is called; then all that was
   * kept back, in its order.
   */
  hold(): () => void {
    this.#held = []
    return () => this.#tellHeld()
  }

  #tellHeld(): void {
    // What a listener adds meanwhile comes after them.
    for (const event of this.#held ?? []) this.#emitter.emit(event)
    this.#held = undefined
  }
}

function reportFailure(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error), 'EvenerListenerWarning')
}
