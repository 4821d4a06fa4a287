import { toErrorData } from '@inspan/protocol'
import type { FilesPort, FilesTurn } from '../thread-options.ts'

/** Keeps what a turn changes, through the port of the thread. */
export class TurnFiles {
  readonly #port: FilesPort
  readonly #turn: FilesTurn
  readonly #warn: (text: string) => void

  constructor(port: FilesPort, turn: FilesTurn, warn: (text: string) => void) {
    this.#port = port
    this.#turn = turn
    this.#warn = warn
  }

  /** Resolves when the state before the turn is kept. Whatever may change files waits for it. */
  async baseline(): Promise<void> {
    await this.#port.baseline?.(this.#turn)
  }

  async keep(path: string): Promise<void> {
    await this.#port.keep?.(this.#turn, path)
  }

  /** The turn is over in any case; what cannot be kept is worth a warning. */
  async end(): Promise<void> {
    try {
      await this.#port.end?.(this.#turn)
    } catch (error) {
      this.#warn(`The changes of files in this turn could not be recorded: ${toErrorData(error).message}`)
    }
  }
}
