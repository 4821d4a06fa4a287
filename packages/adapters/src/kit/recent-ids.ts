/** How many ids are remembered at least: memory stays flat however long a run is. */
const REMEMBERED = 256
/** A power of two with room to spare, so that an id is mostly found, or missed, at the first look. */
const PLACE_BITS = 10
const PLACES = 1 << PLACE_BITS
/** So many characters from its end tell most ids apart: many begin alike. */
const TELLING = 8

/**
 * A number for each of the last ids, at least 256 of them. Every call is looked up here once and put in once, with an id
 * that is new: a map would have to be filled and thrown away again and again for that.
 */
export class RecentIds {
  #now = new Shelf()
  #before = new Shelf()

  get(id: string): number | undefined {
    const start = firstPlace(id)
    return this.#now.get(id, start) ?? this.#before.get(id, start)
  }

  /** Only if it was put in among the latest. */
  getLatest(id: string): number | undefined {
    return this.#now.get(id, firstPlace(id))
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

/** Where an id is looked for first. Ids that are numbered must not come to stand in a row, so the bits are mixed well. */
function firstPlace(id: string): number {
  let sum = id.length
  for (let at = Math.max(0, id.length - TELLING); at < id.length; at += 1) {
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

  /** Where the id stands, or the free place where it would. There always is one: at most a quarter is taken. */
  #placeOf(id: string, start: number): number {
    for (let place = start; ; place = (place + 1) & (PLACES - 1)) {
      const other = this.#ids[place]
      if (other === undefined || other === id) return place
    }
  }
}
