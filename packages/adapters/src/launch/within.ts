import { setImmediate as nextTask, setTimeout as pause } from 'node:timers/promises'

interface Exiting {
  readonly processExited: Promise<unknown>
}

/** Returns whether the promise is fulfilled in this time. Leaves no timer behind. */
export async function isFulfilledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const over = new AbortController()
  const late = pause(ms, false, { signal: over.signal }).catch(() => false)
  try {
    return await Promise.race([promise.then(() => true), late])
  } finally {
    over.abort()
  }
}

/** Returns whether the process itself exits in this time. */
export async function endsWithin({ processExited }: Exiting, ms: number): Promise<boolean> {
  // Timers run before I/O events: if this process was busy, the exit may have happened already and not be reported yet.
  return (await isFulfilledWithin(processExited, ms)) || Promise.race([processExited.then(() => true), nextTask(false)])
}
