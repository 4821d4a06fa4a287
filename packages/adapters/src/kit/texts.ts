/** A text that is being said. */
export interface OpenText {
  readonly key: string
  readonly parent: string | undefined
  readonly isReasoning: boolean
  /** What was said so far: compared with the whole text when that comes. */
  said: string
}

/** The texts that deltas are coming for. */
export class Texts {
  readonly #open = new Map<string, OpenText>()

  append(key: string, delta: string, parent: string | undefined, isReasoning: boolean): void {
    const open = this.#open.get(key)
    if (open !== undefined) open.said += delta
    else this.#open.set(key, { key, parent, isReasoning, said: delta })
  }

  /** Ends a text; gives what was said of it, or `undefined` when no delta came. */
  take(key: string): OpenText | undefined {
    const open = this.#open.get(key)
    if (open !== undefined) this.#open.delete(key)
    return open
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  /** Those that no subagent says. */
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

/** What of the whole text was not said yet. A whole that does not go on from what was said is another text. */
export function unsaid(whole: string, said: string): string | undefined {
  return whole.startsWith(said) ? whole.slice(said.length) : undefined
}
