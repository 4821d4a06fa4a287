import { randomFillSync } from 'node:crypto'

/** Fetched for many ids at once: asking for it takes far longer than using it, and every run needs four. */
const chances = new BigUint64Array(128)
let left = 0

/** The time, so that ids sort by it, and chance, so that no two are the same. */
export function newHarnessId(now: number): string {
  if (left === 0) {
    randomFillSync(chances)
    left = chances.length
  }
  const chance = chances[--left] as bigint
  return `${now}-${chance.toString(36).padStart(13, '0')}`
}
