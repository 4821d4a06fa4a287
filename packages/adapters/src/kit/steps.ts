import type { NativeRef, StepFinishEvent, StepStartEvent } from '@inspan/protocol'
import type { Mutable } from './event-parts.ts'
import type { StepEnd } from './mapper.ts'

/** The steps of one turn. */
export class Steps {
  #index = -1
  #isOpen = false
  #calls = 0

  start(native: NativeRef | undefined): StepStartEvent {
    this.#index += 1
    this.#isOpen = true
    this.#calls = 0
    if (native === undefined) return { type: 'step-start', stepIndex: this.#index }
    return { type: 'step-start', stepIndex: this.#index, native }
  }

  /** Counts a call of the step. */
  countCall(): void {
    this.#calls += 1
  }

  /** Returns the event that ends the step, if one is open. */
  end(end: StepEnd): StepFinishEvent | undefined {
    if (!this.#isOpen) return undefined
    this.#isOpen = false
    const event: Mutable<StepFinishEvent> = {
      type: 'step-finish',
      stepIndex: this.#index,
      finishReason: end.finishReason ?? (this.#calls > 0 ? 'tool-calls' : 'stop'),
    }
    if (end.usage !== undefined) event.usage = end.usage
    if (end.native !== undefined) event.native = end.native
    return event
  }
}
