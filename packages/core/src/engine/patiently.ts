import { setTimeout as delay } from 'node:timers/promises'

/** How long an agent that is to end may take for it. */
export const ABANDON_AFTER_MS = 5000

/** What it comes to, or `undefined`: work that fails or does not end in time must not keep anybody waiting. */
export async function patiently<T>(work: Promise<T> | undefined): Promise<T | undefined> {
  const tooLate = new AbortController()
  const waited = delay(ABANDON_AFTER_MS, undefined, { signal: tooLate.signal, ref: false }).catch(() => undefined)
  try {
    return await Promise.race([work?.catch(() => undefined), waited])
  } finally {
    tooLate.abort()
  }
}
