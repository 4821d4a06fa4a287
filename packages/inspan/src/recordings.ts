import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordOptions } from '@inspan/adapters/reading'
import { spoolFileName } from '@inspan/shell/run'

/** The folders in which the turns of a command are recorded, and whether that worked. */
export class Recordings {
  readonly #dirs: string[] = []
  readonly #errors = new Map<string, string>()

  add(dir: string): Pick<RecordOptions, 'dir' | 'onError'> {
    // A spool that is already there belongs to another run, so this turn is refused.
    if (!existsSync(join(dir, spoolFileName))) this.#dirs.push(dir)
    return { dir, onError: (error) => void this.#errors.set(dir, error.message) }
  }

  /** The folders with complete recordings. A turn that could not be started has none. */
  get whole(): readonly string[] {
    return this.#dirs.filter((dir) => !this.#errors.has(dir) && existsSync(join(dir, spoolFileName)))
  }

  get problems(): readonly string[] {
    return [...this.#errors].map(([dir, message]) => `The recording in ${dir} is not complete: ${message}`)
  }
}
