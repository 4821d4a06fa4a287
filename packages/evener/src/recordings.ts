import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordOptions } from '@evener/adapters/reading'
import { spoolFileName } from '@evener/shell/run'

/** Where the turns of a command are recorded, and what became of that. */
export class Recordings {
  readonly #dirs: string[] = []
  readonly #errors = new Map<string, string>()

  add(dir: string): Pick<RecordOptions, 'dir' | 'onError'> {
    // What another run has recorded there is not this turn's, which is refused.
    if (!existsSync(join(dir, spoolFileName))) this.#dirs.push(dir)
    return { dir, onError: (error) => void this.#errors.set(dir, error.message) }
  }

  /** Those that hold all of their turn. A turn that could not be begun there has none. */
  get whole(): readonly string[] {
    return this.#dirs.filter((dir) => !this.#errors.has(dir) && existsSync(join(dir, spoolFileName)))
  }

  get problems(): readonly string[] {
    return [...this.#errors].map(([dir, message]) => `The recording in ${dir} is not complete: ${message}`)
  }
}
