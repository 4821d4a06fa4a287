/** A text that is not complete. */
export interface OpenText {
  readonly key: string
  readonly parent: string | undefined
  readonly isReasoning: boolean
  /** What was said so far, to compare with the complete text. */
  said: string
}

/** The texts that deltas arrive for. */
export class Texts {
  readonly #open = new Map<string, OpenText>()

  append(key: string, delta: string, parent: string | undefined, isReasoning: boolean): void {
    const open = this.#open.get(key)
    if (open !== undefined) open.said += delta
    else this.#open.set(key, { key, parent, isReasoning, said: delta })
  }

  /** Ends a text. Returns the part that arrived, or `undefined` if no delta came. */
  take(key: string): OpenText | undefined {
    const open = this.#open.get(key)
    if (open !== undefined) this.#open.delete(key)
    return open
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  /** Ends the texts of the agent itself, not those of subagents. */
  takeOwn(): OpenText[] {
    const own = [...this.#open.values()].filter((open) => open.parent === undefined)
    for (const open of own) this.#open.delete(open.key)
    return own
  }

  takeAll(): OpenText[] {
    const all = [...this.#open.values()]
    this.#open.clear()
    return all
  }
}

/** Returns the end of the complete text that is in no delta, or `undefined` if the complete text begins differently. */
export function remainderOf(whole: string, said: string): string | undefined {
  return whole.startsWith(said) ? whole.slice(said.length) : undefined
}
