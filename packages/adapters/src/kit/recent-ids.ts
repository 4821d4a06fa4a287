/** The minimum number of ids to remember. The bound keeps memory constant in long runs. */
const REMEMBERED = 256
/** Many more places than ids, so that the first look mostly decides. A power of two. */
const PLACE_BITS = 10
const PLACES = 1 << PLACE_BITS
/** How many characters from the end are hashed. These distinguish most ids, while many begin alike. */
const DISTINCT_CHARS = 8

/**
 * Maps the last ids, at least 256, to a number. Every call is looked up and added once, with a new id. A `Map` would be
 * filled and thrown away again and again.
 */
export class RecentIds {
  #now = new Shelf()
  #before = new Shelf()

  get(id: string): number | undefined {
    const start = firstPlace(id)
    return this.#now.get(id, start) ?? this.#before.get(id, start)
  }

  set(id: string, value: number): void {
    if (this.#now.size >= REMEMBERED) {
      const oldest = this.#before
      this.#before = this.#now
      this.#now = oldest
      oldest.clear()
    }
    this.#now.set(id, firstPlace(id), value)
  }
}

/** Returns where to look for an id first. Mixes the bits well, because numbered ids must not end up side by side. */
function firstPlace(id: string): number {
  let sum = id.length
  for (let at = Math.max(0, id.length - DISTINCT_CHARS); at < id.length; at += 1) {
    sum = Math.imul(sum ^ id.charCodeAt(at), 0x01_00_01_93)
  }
  return Math.imul(sum ^ (sum >>> 15), 0x2c_1b_3c_6d) >>> (32 - PLACE_BITS)
}

class Shelf {
  size = 0
  readonly #ids: (string | undefined)[] = Array.from({ length: PLACES })
  readonly #values = new Float64Array(PLACES)

  get(id: string, start: number): number | undefined {
    const place = this.#placeOf(id, start)
    return this.#ids[place] === undefined ? undefined : this.#values[place]
  }

  set(id: string, start: number, value: number): void {
    const place = this.#placeOf(id, start)
    if (this.#ids[place] === undefined) {
      this.#ids[place] = id
      this.size += 1
    }
    this.#values[place] = value
  }

  clear(): void {
    this.#ids.fill(undefined)
    this.size = 0
  }

  /** Returns the place of the id, or the free place for it. There always is one: at most a quarter are taken. */
  #placeOf(id: string, start: number): number {
    for (let place = start; ; place = (place + 1) & (PLACES - 1)) {
      const other = this.#ids[place]
      if (other === undefined || other === id) return place
    }
  }
}
