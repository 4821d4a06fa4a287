import { alter, cut, emptyTrie, findIn, put, type IdTrie } from './id-trie.ts'

/** One entry, with the ids of its neighbours. */
interface KeyedLink<T> {
  readonly id: string
  readonly value: T
  readonly before: string | null
  readonly after: string | null
}

/**
 * A persistent collection of values by id, in insertion order. Adding, replacing or removing one returns a new
 * collection that shares nearly all with the old one, whatever its size. As JSON it is a plain object.
 *
 * ```ts
 * for (const wait of head.waits) … // the values; `keys()`, `entries()` and `backwards()` give their ids too
 * head.waits.get(waitId) // or `undefined`; `has`, `size` and `first` as one expects
 * ```
 */
export class Keyed<T> implements Iterable<T> {
  // Not `#private`, so that `assert.deepEqual` compares what two collections hold.
  private readonly links: IdTrie<KeyedLink<T>>
  private readonly firstId: string | null
  private readonly lastId: string | null
  readonly size: number

  private constructor(links: IdTrie<KeyedLink<T>>, firstId: string | null, lastId: string | null, size: number) {
    this.links = links
    this.firstId = firstId
    this.lastId = lastId
    this.size = size
  }

  private static readonly none: Keyed<never> = new Keyed<never>(emptyTrie(), null, null, 0)

  static empty<T>(): Keyed<T> {
    return Keyed.none
  }

  static from<T>(entries: Iterable<readonly [string, T]>): Keyed<T> {
    let made = Keyed.empty<T>()
    for (const [id, value] of entries) made = made.set(id, value)
    return made
  }

  get(id: string): T | undefined {
    return findIn(this.links, id)?.value
  }

  has(id: string): boolean {
    return findIn(this.links, id) !== undefined
  }

  /** The value of the first entry. */
  get first(): T | undefined {
    return this.firstId === null ? undefined : this.get(this.firstId)
  }

  /** Replaces the value in its place, or adds it as the last. */
  set(id: string, value: T): Keyed<T> {
    if (!this.has(id)) return this.add(id, value)
    const links = alter(this.links, id, ({ before, after }) => ({ id, value, before, after }))
    return new Keyed(links, this.firstId, this.lastId, this.size)
  }

  /** Adds a value before all others. An existing entry moves. */
  prepend(id: string, value: T): Keyed<T> {
    const { firstId, lastId, links, size } = this.delete(id)
    const added = put(links, { id, value, before: null, after: firstId })
    return new Keyed(withBefore(added, firstId, id), id, lastId ?? id, size + 1)
  }

  delete(id: string): Keyed<T> {
    const link = findIn(this.links, id)
    if (link === undefined) return this
    if (this.size === 1) return Keyed.empty()
    const { before, after } = link
    const links = withBefore(withAfter(cut(this.links, id), before, after), after, before)
    const firstId = this.firstId === id ? after : this.firstId
    return new Keyed(links, firstId, this.lastId === id ? before : this.lastId, this.size - 1)
  }

  /** Adds a value after all others. An existing entry moves. */
  append(id: string, value: T): Keyed<T> {
    return this.delete(id).add(id, value)
  }

  private add(id: string, value: T): Keyed<T> {
    const links = put(this.links, { id, value, before: this.lastId, after: null })
    return new Keyed(withAfter(links, this.lastId, id), this.firstId ?? id, id, this.size + 1)
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const [, value] of this.entries()) yield value
  }

  *entries(): IterableIterator<[string, T]> {
    for (let id = this.firstId; id !== null;) {
      const link = this.linkOf(id)
      yield [id, link.value]
      id = link.after
    }
  }

  *keys(): IterableIterator<string> {
    for (const [id] of this.entries()) yield id
  }

  /** Iterates from the last entry, for callers that look for recent ones. */
  *backwards(): IterableIterator<[string, T]> {
    for (let id = this.lastId; id !== null;) {
      const link = this.linkOf(id)
      yield [id, link.value]
      id = link.before
    }
  }

  toJSON(): { readonly [id: string]: T } {
    return this.size === 0 ? {} : Object.fromEntries(this.entries())
  }

  private linkOf(id: string): KeyedLink<T> {
    return findIn(this.links, id) as KeyedLink<T>
  }
}

function withBefore<T>(links: IdTrie<KeyedLink<T>>, id: string | null, before: string | null): IdTrie<KeyedLink<T>> {
  return id === null ? links : alter(links, id, ({ value, after }) => ({ id, value, before, after }))
}

function withAfter<T>(links: IdTrie<KeyedLink<T>>, id: string | null, after: string | null): IdTrie<KeyedLink<T>> {
  return id === null ? links : alter(links, id, ({ value, before }) => ({ id, value, before, after }))
}
