import type { HeldRecord, Run } from '../kit/mapper.ts'

interface HeldFailure {
  readonly message: string
  readonly code: string | undefined
  readonly record: HeldRecord
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
    const record = this.#run.hold([{ type: 'error', message, ...(code === undefined ? {} : { code }) }])
    this.#held = { message, code, record }
  }

  /** A retry was announced, with the same words. */
  isRetried(): void {
    this.#take()?.record.drop('repeats-error')
  }

  /** The agent works on, though nobody announced it. */
  goOn(): void {
    this.#take()?.record.keep()
  }

  /** It was the end. */
  isFinal(message?: string): void {
    const held = this.#take()
    held?.record.drop('repeats-error')
    const reported = message ?? held?.message
    if (reported !== undefined) this.#run.fail(reported, held?.code)
  }

  #take(): HeldFailure | undefined {
    const held = this.#held
    this.#held = undefined
    return held
  }
}
