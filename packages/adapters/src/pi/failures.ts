import type { HeldRecord, Run } from '../kit/mapper.ts'

interface HeldFailure {
  readonly message: string
  readonly code: string | undefined
  readonly note: HeldRecord
  /** The line's own place in the accounts: an error that fails the run is no note. */
  readonly line: HeldRecord
}

/**
 * Messages that ended badly. Whether that was the end is told by later records: a retry is announced, the agent goes on
 * after a compaction, or all is settled. The exit code tells nothing, it is 0.
 */
export class Failures {
  readonly #run: Run
  #held: HeldFailure | undefined

  constructor(run: Run) {
    this.#run = run
  }

  /** The message that is being read ended in this way. */
  add(message: string, code?: string): void {
    this.goOn()
    const note = this.#run.hold([{ type: 'error', message, ...(code === undefined ? {} : { code }) }])
    this.#held = { message, code, note, line: this.#run.hold([]) }
  }

  /** A retry was announced, with the same words. */
  isRetried(): void {
    const held = this.#take()
    held?.note.drop('repeats-error')
    held?.line.drop('repeats-error')
  }

  /** The agent works on, though nobody announced it. */
  goOn(): void {
    const held = this.#take()
    held?.note.keep()
    held?.line.keep()
  }

  /** It was the end. */
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
