import type { HeldRecord, Run } from '../kit/mapper.ts'

interface HeldFailure {
  readonly message: string
  readonly code: string | undefined
  readonly note: HeldRecord
  /** Accounts for the line itself: an error that fails the run is not emitted as a note. */
  readonly line: HeldRecord
}

/**
 * Messages that ended badly. Later records tell whether that ended the run: a retry is announced, the agent goes on
 * after a compaction, or the agent settles. The exit code does not tell: it is 0.
 */
export class Failures {
  readonly #run: Run
  #held: HeldFailure | undefined

  constructor(run: Run) {
    this.#run = run
  }

  /** Notes that the current message ended in this way. */
  add(message: string, code?: string): void {
    this.goOn()
    const note = this.#run.hold([{ type: 'error', message, ...(code === undefined ? {} : { code }) }])
    this.#held = { message, code, note, line: this.#run.hold([]) }
  }

  /** Drops the failure: a retry was announced with the same words. */
  isRetried(): void {
    const held = this.#take()
    held?.note.drop('repeats-error')
    held?.line.drop('repeats-error')
  }

  /** Keeps the failure as a note: the agent continues without an announcement. */
  goOn(): void {
    const held = this.#take()
    held?.note.keep()
    held?.line.keep()
  }

  /** Fails the run. */
  isFinal(message?: string): void {
    const held = this.#take()
    held?.note.drop('repeats-error')
    if (this.#run.hasFailed) held?.line.drop('repeats-error')
    else held?.line.keep()
    const reported = message ?? held?.message
    if (reported !== undefined) this.#run.fail(reported, held?.code)
  }

  #take(): HeldFailure | undefined {
    const held = this.#held
    this.#held = undefined
    return held
  }
}
