/** A store that also writes what happened into an audit log, one line of JSON per record. */
import { appendFile } from 'node:fs/promises'
import { MemoryStore } from '@inspan/core'
import type { Append } from '@inspan/protocol/store'

/** Extends a store that is there. A store on another database implements all of `Store` of `@inspan/protocol/store`. */
export class AuditedStore extends MemoryStore {
  readonly #file: string

  constructor(file: string, options: ConstructorParameters<typeof MemoryStore>[0] = {}) {
    super(options)
    this.#file = file
  }

  /** The log is written after the append: what was refused never happened. */
  override async append(append: Append): Promise<number> {
    const head = await super.append(append)
    const lines = append.records.map(
      ({ seq, body }) => `${JSON.stringify({ stream: append.stream, seq, type: body.type })}\n`,
    )
    await appendFile(this.#file, lines.join(''))
    return head
  }
}
