import { toErrorData } from '@inspan/protocol'
import type { CheckpointMadeRecord, NoteRecord } from '@inspan/protocol/log'
import type { FilesPort, FilesTurn } from '../thread-options.ts'

/** Keeps what a turn changes, through the port of the thread. */
export class TurnFiles {
  readonly #port: FilesPort
  readonly #turn: FilesTurn
  readonly #record: (fact: NoteRecord | CheckpointMadeRecord) => void

  constructor(port: FilesPort, turn: FilesTurn, record: (fact: NoteRecord | CheckpointMadeRecord) => void) {
    this.#port = port
    this.#turn = turn
    this.#record = record
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
      const changed = await this.#port.end?.(this.#turn)
      if (changed === undefined || changed.files.length === 0) return
      this.#record({ type: 'checkpoint.made', checkpointId: this.#turn.turnId, ...changed })
    } catch (error) {
      const text = `The changes of files in this turn could not be recorded: ${toErrorData(error).message}`
      this.#record({ type: 'note', kind: 'warning', text })
    }
  }
}
