import { randomBytes } from 'node:crypto'

/** The time, so that ids sort by it, and chance, so that no two are the same. */
export function newHarnessId(now: number): string {
  const chance = BigInt(`0x${randomBytes(8).toString('hex')}`).toString(36)
  return `${now}-${chance.padStart(13, '0')}`
}
