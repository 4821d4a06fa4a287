import { randomUUID } from 'node:crypto'

/** How far ids may run ahead of the clock before we take it for a clock that was set back. */
const AHEAD_MS = 1_000
const IDS_PER_MS = 4_096

let madeAt = -1
let madeThen = 0
let timePrefix = ''

/**
 * Returns a UUID of version 7, which begins with the time. Ids made together lie together in the indexes of a store;
 * random ids would touch another page each. Ids of the same millisecond are numbered, so that they sort in the order in
 * which this process made them.
 */
export function timeOrderedId(): string {
  const now = Date.now()
  if (now > madeAt || now < madeAt - AHEAD_MS) startAt(now)
  else if (madeThen === IDS_PER_MS) startAt(madeAt + 1)
  const number = (madeThen++).toString(16).padStart(3, '0')
  // Joined: a sum would keep both of its parts, and the whole UUID behind the slice, for as long as the id lives.
  return [timePrefix, number, randomUUID().slice(18)].join('')
}

function startAt(time: number): void {
  const hex = time.toString(16).padStart(12, '0')
  timePrefix = `${hex.slice(0, 8)}-${hex.slice(8)}-7`
  madeAt = time
  madeThen = 0
}
