import { emptyTrie, findIn, mapTrie, put, type IdTrie, type WithId } from './id-trie.ts'
import { List } from './list.ts'

interface IdPlace {
  readonly id: string
  readonly index: number
}

/** A persistent list that finds an item's index by its id. If several items share an id, it finds the last. */
export class IdList<T extends WithId> implements Iterable<T> {
  private readonly items: List<T>
  private readonly places: IdTrie<IdPlace>
  readonly length: number

  private constructor(items: List<T>, places: IdTrie<IdPlace>) {
    this.items = items
    this.places = places
    this.length = items.length
  }

  private static readonly none: IdList<never> = new IdList<never>(List.empty(), emptyTrie())

  static empty<T extends WithId>(): IdList<T> {
    return IdList.none
  }

  static from<T extends WithId>(items: Iterable<T>): IdList<T> {
    const list = List.from(items)
    let places = emptyTrie<IdPlace>()
    let index = 0
    for (const { id } of list) places = put(places, { id, index: index++ })
    return new IdList(list, places)
  }

  at(index: number): T | undefined {
    return this.items.at(index)
  }

  /** Returns -1 when there is none. The last item is checked first, because a stream nearly always touches it. */
  indexOf(id: string): number {
    const { length } = this
    if (this.items.at(-1)?.id === id) return length - 1
    return length < 2 ? -1 : (findIn(this.places, id)?.index ?? -1)
  }

  get(id: string): T | undefined {
    const index = this.indexOf(id)
    return index < 0 ? undefined : this.items.at(index)
  }

  push(item: T): IdList<T> {
    return new IdList(this.items.push(item), put(this.places, { id: item.id, index: this.length }))
  }

  /** Inserts an item at any position. Rare: all items behind it move. */
  insert(at: number, item: T): IdList<T> {
    if (at === this.length) return this.push(item)
    const moved = mapTrie(this.places, (place) => (place.index < at ? place : { ...place, index: place.index + 1 }))
    const items = List.from(this.items.toArray().toSpliced(at, 0, item))
    return new IdList(
      items,
      (findIn(moved, item.id)?.index ?? -1) > at ? moved : put(moved, { id: item.id, index: at }),
    )
  }

  /** Replaces the item at this index by one with the same id. */
  set(index: number, item: T): IdList<T> {
    return new IdList(this.items.set(index, item), this.places)
  }

  findLastIndex(matches: (item: T) => boolean): number {
    return this.items.findLastIndex(matches)
  }

  filter(keep: (item: T) => boolean): IdList<T> {
    return IdList.from([...this.items].filter(keep))
  }

  [Symbol.iterator](): Iterator<T> {
    return this.items[Symbol.iterator]()
  }

  toArray(): T[] {
    return this.items.toArray()
  }

  toJSON(): T[] {
    return this.items.toArray()
  }
}
