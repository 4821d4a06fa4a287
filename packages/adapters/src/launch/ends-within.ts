import { setImmediate as nextTask, setTimeout as pause } from 'node:timers/promises'

interface Exiting {
  readonly processExited: Promise<unknown>
}

/** Returns whether the process itself exits in this time. */
export async function endsWithin({ processExited }: Exiting, ms: number): Promise<boolean> {
  const over = new AbortController()
  const late = pause(ms, false, { signal: over.signal }).catch(() => false)
  const ended = processExited.then(() => true)
  const hasEnded = await Promise.race([ended, late])
  over.abort()
  // Timers run before I/O events: if this process was busy, the exit may have happened already and not be reported yet.
  return hasEnded || Promise.race([ended, nextTask(false)])
}
