import { setImmediate as nextTask, setTimeout as pause } from 'node:timers/promises'

interface Exiting {
  readonly processExited: Promise<unknown>
}

/** Whether the process itself ends in this time. */
export async function endsWithin({ processExited }: Exiting, ms: number): Promise<boolean> {
  const over = new AbortController()
  const late = pause(ms, false, { signal: over.signal }).catch(() => false)
  const ended = processExited.then(() => true)
  const hasEnded = await Promise.race([ended, late])
  over.abort()
  // Timers come before what has happened outside: to a host that was busy, its end may be news that is still to be heard.
  return hasEnded || Promise.race([ended, nextTask(false)])
}
