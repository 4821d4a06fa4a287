import { randomFillSync } from 'node:crypto'

/** Random numbers for many ids, fetched at once: fetching takes far longer than using one, and every run needs four. */
const chances = new BigUint64Array(128)
let left = 0

/** Returns the time, so that ids sort by it, and a random number, so that no two are the same. */
export function newHarnessId(now: number): string {
  if (left === 0) {
    randomFillSync(chances)
    left = chances.length
  }
  const chance = chances[--left] as bigint
  return `${now}-${chance.toString(36).padStart(13, '0')}`
}
