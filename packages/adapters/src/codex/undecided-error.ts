import type { HeldRecord, Run } from '../kit/mapper.ts'

export interface Failure {
  readonly message: string
  readonly code?: string
}

/** An error that may end the turn, which only what comes after it shows. */
export class UndecidedError {
  readonly #run: Run
  #held: { readonly failure: Failure; readonly record: HeldRecord } | undefined

  constructor(run: Run) {
    this.#run = run
  }

  hold(failure: Failure): void {
    this.settle(false)
    this.#held = { failure, record: this.#run.hold([{ type: 'error', ...failure }]) }
  }

  /** Keeps the error as one of its own, or drops it because the end of the turn repeats it. */
  settle(isRepeated: boolean): void {
    if (isRepeated) this.#held?.record.drop('repeats-error')
    else this.#held?.record.keep()
    this.#held = undefined
  }

  /** Nothing came after the error, so it ended the run. */
  endRun(): void {
    const held = this.#held
    if (held === undefined) return
    this.settle(true)
    this.#run.fail(held.failure.message, held.failure.code)
  }
}
