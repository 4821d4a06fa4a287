import type { HarnessEvent, HarnessEventListener } from '@evener/protocol'
import { Emitter } from '../engine/emitter.ts'

/**
 * The events of one session, in one order for everybody. What is emitted from inside a listener waits until all have
 * heard what they are being told, so nobody sees the second event before the first.
 */
export class EventBus {
  readonly #emitter = new Emitter<HarnessEvent>(reportFailure)

  get hasListeners(): boolean {
    return this.#emitter.size > 0
  }

  get isShared(): boolean {
    return this.#emitter.size > 1
  }

  subscribe(listener: HarnessEventListener): () => void {
    return this.#emitter.subscribe(listener)
  }

  emit(event: HarnessEvent): void {
    this.#emitter.emit(event)
  }
}

function reportFailure(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error), 'EvenerListenerWarning')
}
