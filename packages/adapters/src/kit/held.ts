import type { ActivityDraft } from './activity.ts'
import type { Ledger } from './ledger.ts'
import type { HeldRecord } from './mapper.ts'

/** Keeps records until later ones decide their meaning. */
export class HeldRecords {
  readonly #ledger: Ledger
  readonly #emit: (drafts: readonly ActivityDraft[]) => void
  readonly #held = new Set<HeldRecord>()

  constructor(ledger: Ledger, emit: (drafts: readonly ActivityDraft[]) => void) {
    this.#ledger = ledger
    this.#emit = emit
  }

  hold(drafts: readonly ActivityDraft[]): HeldRecord {
    const slot = this.#ledger.wait()
    const settle = (consumed: string | undefined): boolean => {
      if (!this.#held.delete(held)) return false
      this.#ledger.settle(slot, consumed)
      return true
    }
    const held: HeldRecord = {
      keep: () => {
        if (settle(undefined) && drafts.length > 0) this.#emit(drafts)
      },
      drop: (reason) => {
        settle(reason)
      },
    }
    this.#held.add(held)
    return held
  }

  keepAll(): void {
    for (const held of this.#held) held.keep()
  }
}
